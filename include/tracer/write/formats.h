// SPDX-License-Identifier: Apache-2.0
//
// The trace formats there are, by name and by file suffix. Adding one: a row in formats.cpp.
#pragma once

#include "tracer/write/trace_writer.h"

#include <memory>
#include <span>
#include <string_view>

namespace tracer {

struct Format {
    std::string_view name;    // as after --format
    std::string_view suffix;  // with the dot
    std::string_view description;
    std::string_view opening;  // what to do with a file of it, as a clause for the user
    std::unique_ptr<TraceWriter> (*make_writer)(ByteSink& sink);  // borrows the sink
    // A file may hold several chunks, one behind the other; else a chunk's end is the file's.
    bool is_appendable;
    // Lines that a terminal may show: control characters of the target are written out in them.
    bool is_text = false;
};

[[nodiscard]] std::span<const Format> formats();
[[nodiscard]] const Format* find_format_by_name(std::string_view name);
[[nodiscard]] const Format* find_format_by_path(std::string_view path);

}  // namespace tracer
