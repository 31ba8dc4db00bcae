// SPDX-License-Identifier: Apache-2.0
//
// What happened within one interval, by what it is grouped by: passive, made by TopTable, drawn by
// top_drawing.h and top_json.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracer {

enum class TopGrouping : uint8_t { probe, thread, process, label };
inline constexpr size_t kTopGroupings = 4;

enum class TopKind : uint8_t {
    event,
    span,
    counter,
    on_cpu,  // stretches of threads on CPUs, as if they were spans
};

struct TopDurations {
    uint64_t count = 0;  // of those that ended by an event of theirs; the others' are not known
    uint64_t sum_ns = 0;
    uint64_t p50_ns = 0;  // within 2 %, as the others
    uint64_t p90_ns = 0;
    uint64_t p99_ns = 0;
    uint64_t max_ns = 0;
    std::array<uint64_t, 65> by_power_of_two{};  // as DurationHistogram has it
};

struct TopRow {
    TopKind kind = TopKind::event;
    std::string category;
    std::string name;    // of the probe
    std::string group;   // whose it is, or what it is called; empty: by probe
    uint64_t count = 0;  // of the interval; spans that have ended
    uint64_t total = 0;  // since the start
    uint64_t cut = 0;  // of `count`: ended by no event of theirs, so how long they took is unknown
    uint64_t cut_total = 0;
    TopDurations interval;
    TopDurations all;
    std::string last;  // of a counter: "free=3 used=5"
};

struct TopRows {
    std::vector<TopRow> rows;
    // Events of rows that are not kept, since there are too many or they have been still for long.
    uint64_t others = 0;
    uint64_t others_total = 0;
};

struct TopFrame {
    uint64_t time_ns = 0;  // its end, CLOCK_BOOTTIME
    std::optional<uint64_t> realtime_ns;
    double seconds = 0;  // that it covers
    uint64_t events = 0;
    uint64_t events_total = 0;
    uint64_t lost = 0;  // as the trace tells it: up to here, so that it is not behind
    uint64_t lost_total = 0;
    // By TopGrouping; empty where that was not asked for.
    std::array<TopRows, kTopGroupings> by;

    [[nodiscard]] const TopRows& rows(TopGrouping grouping) const {
        return by[static_cast<size_t>(grouping)];
    }
};

}  // namespace tracer
