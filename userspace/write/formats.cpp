// SPDX-License-Identifier: Apache-2.0
//
// The table of trace formats. Adding one: its writer in a folder of its own, and a row here.
// Read by the command line (names, suffixes) and by whoever opens an output.
#include "tracer/write/formats.h"

#include "write/eventlog/make_eventlog_writer.h"
#include "write/fxt/make_fxt_writer.h"
#include "write/json/make_json_writer.h"
#include "write/lines/make_lines_writer.h"

#include <array>

namespace tracer {
namespace {

constexpr std::array kFormats{
    Format{"fxt", ".fxt", "Fuchsia trace format, for Perfetto",
           "open it in https://ui.perfetto.dev", fxt::make_fxt_writer, true},
    Format{"eventlog", ".eventlog", "GHC eventlog, for ThreadScope and the ghc-events tools",
           "open it in ThreadScope", eventlog::make_eventlog_writer, false},
    Format{"json", ".json", "Chrome's trace events, for scripts and any viewer; five times as long",
           "open it in https://ui.perfetto.dev", json::make_json_writer, false},
    Format{"txt", ".txt", "a line an event, as `tracer tail` shows them", "read it with less",
           lines::make_text_writer, true, true},
    Format{"ndjson", ".ndjson", "an object a line, for scripts", "read it with jq",
           lines::make_ndjson_writer, true, true},
};

}  // namespace

std::span<const Format> formats() {
    return kFormats;
}

const Format* find_format_by_name(std::string_view name) {
    for (const Format& format : kFormats) {
        if (format.name == name) return &format;
    }
    return nullptr;
}

const Format* find_format_by_path(std::string_view path) {
    for (const Format& format : kFormats) {
        if (path.ends_with(format.suffix)) return &format;
    }
    return nullptr;
}

}  // namespace tracer
