// SPDX-License-Identifier: Apache-2.0
//
// The options of `tracer tail`, which are those of a recording but for where it goes. Called by
// command_line.cpp.
#include "cli/options.h"

#include <cstdlib>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tracer {
namespace {

constexpr const char* kGroup = "Output";

// https://no-color.org: set and not empty.
bool is_colour_wanted() {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
}

Result<bool> take_colour(const std::optional<std::string>& text) {
    if (!text || *text == "auto") return is_colour_wanted();
    if (*text == "always") return true;
    if (*text == "never") return false;
    return fail(ErrorCode::usage, fmt::format("--color {}: no such choice", *text),
                "auto, always or never");
}

}  // namespace

void add_tail_options(CLI::App& app, WatchTexts& texts) {
    app.add_flag("--sched", texts.sched,
                 "what CPUs run, and wakeups, too (default: not); births and deaths always are")
        ->group("What to record");
    app.add_option("--color", texts.colour,
                   "auto, always or never (default: auto, on a terminal unless NO_COLOR is set)")
        ->type_name("WHEN")
        ->group(kGroup);
    app.add_flag("--json", texts.json, "one object a line (NDJSON)")->group(kGroup);
    app.add_option("--time", texts.time,
                   "wall (local time), since (the beginning) or delta (to the line before), in "
                   "seconds (default: wall)")
        ->type_name("WHICH")
        ->group(kGroup);
    app.add_flag("--begins", texts.begins,
                 "a line where a span begins too (default: where it ends, with all it said)")
        ->group(kGroup);
}

Result<TailRequest> take_tail_options(const WatchTexts& texts) {
    TailRequest tail;
    tail.lines.is_json = texts.json;
    tail.lines.begins = texts.begins;
    TR_ASSIGN(const bool colour, take_colour(texts.colour));
    tail.lines.colour = colour && !texts.json;
    const std::string time = texts.time.value_or("wall");
    if (time == "since") {
        tail.lines.time = lines::LineTime::since;
    } else if (time == "delta") {
        tail.lines.time = lines::LineTime::delta;
    } else if (time != "wall") {
        return fail(ErrorCode::usage, fmt::format("--time {}: no such time", time),
                    "wall, since or delta");
    }
    return tail;
}

}  // namespace tracer
