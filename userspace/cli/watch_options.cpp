// SPDX-License-Identifier: Apache-2.0
//
// The options of `tracer tail` and `tracer top`, which are those of a recording but for where it
// goes. Called by command_line.cpp.
#include "cli/options.h"
#include "cli/units.h"

#include <chrono>
#include <cstdint>
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

// Of top, at most; nobody reads a thousand lines.
constexpr uint64_t kRows = 20;
constexpr std::chrono::milliseconds kIntervalMin{100};

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

void add_top_options(CLI::App& app, WatchTexts& texts) {
    app.add_flag("--sched", texts.sched,
                 "how long threads run on CPUs, too (default: not), as rows \"on CPU\"")
        ->group("What to record");
    app.add_option("-i,--interval", texts.interval,
                   "how often: 500ms, 10s; at least 100ms (default: 1s)")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--by", texts.by,
                   "a row for each probe, or for each thread, process or label of a probe; labels "
                   "are the names that as \"...\" makes (default: probe)")
        ->type_name("WHAT")
        ->group(kGroup);
    app.add_option("--sort", texts.sort, "rate, count, p99, max or name (default: rate)")
        ->type_name("COLUMN")
        ->group(kGroup);
    app.add_option("--rows", texts.rows,
                   "at most so many rows (default: 20; with --json all, of which 1000 are kept)")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1000}).description(""))
        ->type_name("N")
        ->group(kGroup);
    app.add_flag("--histogram", texts.histogram,
                 "how the durations of the first span are spread (with --json: of all)")
        ->group(kGroup);
    app.add_flag("--json", texts.json, "one object an interval (NDJSON)")->group(kGroup);
}

Result<TopRequest> take_top_options(const WatchTexts& texts) {
    TopRequest top;
    top.is_json = texts.json;
    top.view.has_histogram = texts.histogram;
    top.view.rows_max = texts.rows.value_or(texts.json ? SIZE_MAX : kRows);
    if (texts.interval) {
        auto interval = parse_duration(*texts.interval);
        if (!interval) return tl::unexpected(std::move(interval).error().within("--interval"));
        top.interval = *interval;
        if (top.interval < kIntervalMin) {
            return fail(ErrorCode::usage, "--interval: less than 100ms", "-i 100ms");
        }
    }
    if (texts.by) {
        const auto grouping = find_top_grouping(*texts.by);
        if (!grouping) {
            return fail(ErrorCode::usage, fmt::format("--by {}: no such grouping", *texts.by),
                        "probe, thread, process or label");
        }
        top.view.grouping = *grouping;
    }
    if (texts.sort) {
        const auto sort = find_top_sort(*texts.sort);
        if (!sort) {
            return fail(ErrorCode::usage, fmt::format("--sort {}: no such column", *texts.sort),
                        "rate, count, p99, max or name");
        }
        top.view.sort = *sort;
    }
    return top;
}

}  // namespace tracer
