// SPDX-License-Identifier: Apache-2.0
//
// The table of spans in the summary for a person. Relies on the decoder's histograms, whose
// percentiles are within 2 %: three digits say more than is known. Called by summary_text.cpp.
#include "session/summary_spans.h"

#include "session/human.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace tracer {
namespace {

using Lines = std::back_insert_iterator<std::string>;

// As in the table of probes.
constexpr size_t kRowsMax = 20;
constexpr size_t kBarWidth = 40;

void add_row(const SpanTally& span, Lines out) {
    const DurationHistogram& durations = span.durations;
    fmt::format_to(out, "{:>14} {:>9} {:>9} {:>9} {:>9}  {}\n", human_count(durations.count()),
                   human_duration(durations.percentile_ns(500)),
                   human_duration(durations.percentile_ns(900)),
                   human_duration(durations.percentile_ns(990)), human_duration(durations.max_ns()),
                   span.title.empty() ? span.name : span.title);
}

void add_repairs(const SpanTally& span, Lines out) {
    std::string text;
    const auto add = [&](std::string_view what, uint64_t count) {
        if (count == 0) return;
        fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", what,
                       human_count(count));
    };
    for (size_t i = 1; i < span.ends.size(); ++i) {
        std::string words = cause_key(static_cast<model::SpanEndCause>(i));
        std::ranges::replace(words, '_', ' ');
        add(words, span.ends[i]);
    }
    add("ends without a begin", span.orphan_ends);
    add("begun before the recording, the probes or a fork", span.begun_before);
    add("ends whose begins were kept out", span.begin_kept_out);
    add("crossed", span.crossed);
    add("key unreadable", span.key_missing);
    add("beyond the limit", span.beyond_limit);
    if (!text.empty()) fmt::format_to(out, "{:>14} {}\n", "", text);
}

}  // namespace

std::string span_table(const std::vector<SpanTally>& spans, bool verbose) {
    std::vector<const SpanTally*> rows;
    for (const SpanTally& span : spans) {
        if (span.durations.count() != 0) rows.push_back(&span);
    }
    if (rows.empty()) return {};
    if (!verbose && rows.size() > kRowsMax) {
        std::ranges::stable_sort(rows, std::greater{},
                                 [](const SpanTally* span) { return span->durations.count(); });
    }
    std::string text;
    const Lines out = std::back_inserter(text);
    fmt::format_to(out, "{:>14} {:>9} {:>9} {:>9} {:>9}  {}\n", "ended", "p50", "p90", "p99", "max",
                   "span");
    const size_t shown = verbose ? rows.size() : std::min(rows.size(), kRowsMax);
    for (size_t i = 0; i < shown; ++i) {
        add_row(*rows[i], out);
        if (!verbose) continue;
        text += duration_picture(rows[i]->durations.by_power_of_two());
        add_repairs(*rows[i], out);
    }
    if (shown < rows.size()) {
        fmt::format_to(out, "{:>56}  {} more spans (-v lists all)\n", "",
                       human_count(rows.size() - shown));
    }
    return text;
}

std::string duration_picture(const std::array<uint64_t, 65>& by_power_of_two) {
    std::string text;
    const auto is_any = [](uint64_t count) { return count != 0; };
    const auto first = std::ranges::find_if(by_power_of_two, is_any) - by_power_of_two.begin();
    const auto last =
        std::find_if(by_power_of_two.rbegin(), by_power_of_two.rend(), is_any).base() -
        by_power_of_two.begin();
    const uint64_t most = std::ranges::max(by_power_of_two);
    for (auto i = first; i < last; ++i) {
        const uint64_t from = i == 0 ? 0 : uint64_t{1} << (i - 1);
        const uint64_t count = by_power_of_two[static_cast<size_t>(i)];
        // What is there shows, however little it is.
        const double share = static_cast<double>(count) / static_cast<double>(most);
        const auto bar = static_cast<size_t>(share * kBarWidth);
        fmt::format_to(std::back_inserter(text), "{:>24} |{:<{}}| {}\n", human_duration(from),
                       std::string(std::max<size_t>(bar, count != 0 ? 1 : 0), '#'), kBarWidth,
                       human_count(count));
    }
    return text;
}

const char* cause_key(model::SpanEndCause cause) {
    switch (cause) {
        case model::SpanEndCause::returned:
            return "returned";
        case model::SpanEndCause::unwound:
            return "unwound";
        case model::SpanEndCause::lost_events:
            return "cut_by_loss";
        case model::SpanEndCause::thread_exit:
            return "thread_exit";
        case model::SpanEndCause::recording_end:
            return "recording_end";
        case model::SpanEndCause::until:
            return "until";
        case model::SpanEndCause::key_reused:
            return "key_reused";
        case model::SpanEndCause::process_exit:
            return "process_exit";
        case model::SpanEndCause::crossed:
            return "crossed";
        case model::SpanEndCause::paused:
            return "paused";
    }
    return "";
}

}  // namespace tracer
