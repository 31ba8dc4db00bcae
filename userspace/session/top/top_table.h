// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/duration_histogram.h"
#include "session/top/top_frame.h"
#include "tracer/write/trace_writer.h"
#include "write/index_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer {

struct TopTableOptions {
    std::array<bool, kTopGroupings> groupings{true, false, false, false};  // by TopGrouping
    size_t rows_max = 1000;  // of each; what finds no room is counted with the others
};

// Counts events and measures spans, an interval at a time and since the start, by each of the
// groupings asked for. A writer that writes nothing. Memory is bounded by rows_max, the decoder's
// bounds of what is open, and the threads and points that are defined.
class TopTable final : public TraceWriter {
public:
    explicit TopTable(const TopTableOptions& options);

    Status open() override { return {}; }
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    Status begin_chunk() override { return {}; }
    Status close() override { return {}; }
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

    // What came since the last call, or since `begin_ns` for the first, and begins another
    // interval. Every event is in one interval.
    [[nodiscard]] TopFrame close_interval(uint64_t now_ns);
    void begin(uint64_t begin_ns) { interval_begin_ns_ = begin_ns; }

private:
    struct Row {
        TopRow shown;  // what does not change, and the counts
        DurationHistogram interval;
        DurationHistogram all;
        uint64_t interval_sum_ns = 0;
        uint64_t all_sum_ns = 0;
        uint64_t intervals_still = 0;
    };
    struct Rows {
        std::unordered_map<std::string, Row> by_key;
        uint64_t others = 0;
        uint64_t others_total = 0;
    };
    struct Open {
        model::PointIndex point{};
        uint64_t begin_ns = 0;
        std::string label;  // empty: the point's name
    };
    struct Thread {
        model::Thread definition;
        std::vector<Open> spans;
    };
    struct Running {
        model::ThreadIndex thread = model::kIdleThread;
        uint64_t since_ns = 0;
    };
    // One event, or one span at its end.
    struct Happening {
        TopKind kind;
        const model::Point& point;
        const Thread* thread;  // null: nobody's
        std::string_view label;
        const uint64_t* duration_ns = nullptr;  // null: none, or not known
        bool is_cut = false;
        const model::Counter* counter = nullptr;
    };

    [[nodiscard]] Row* find_row(TopGrouping grouping, const Happening& happening);
    void count(const Happening& happening);
    [[nodiscard]] WriteStatus begin_span(uint64_t time_ns,
                                         model::PointIndex point,
                                         std::string_view name,
                                         std::vector<Open>& spans);
    void end_span(uint64_t time_ns,
                  const Open& span,
                  model::SpanEndCause cause,
                  const Thread* thread);

    WriteStatus take(uint64_t time_ns, const model::Instant& instant);
    WriteStatus take(uint64_t time_ns, const model::SpanBegin& begin);
    WriteStatus take(uint64_t time_ns, const model::SpanEnd& end);
    WriteStatus take(uint64_t time_ns, const model::AsyncBegin& begin);
    WriteStatus take(uint64_t time_ns, const model::AsyncEnd& end);
    WriteStatus take(uint64_t time_ns, const model::Counter& counter);
    WriteStatus take(uint64_t time_ns, const model::Switch& change);
    WriteStatus take(uint64_t time_ns, const model::Wakeup& wakeup);
    WriteStatus take(uint64_t time_ns, const model::Life& life);
    WriteStatus take(uint64_t time_ns, const model::Loss& loss);
    WriteStatus take(uint64_t time_ns, const model::ClockReading& reading);

    [[nodiscard]] TopRows close_rows(Rows& rows) const;
    void forget_still_rows(Rows& rows) const;

    const TopTableOptions options_;
    const model::Point on_cpu_;  // what threads on CPUs are rows of
    IndexTable<model::ThreadIndex, Thread> threads_;
    IndexTable<model::PointIndex, model::Point> points_;
    std::unordered_map<uint64_t, Open> async_;  // by id
    std::map<uint16_t, Running> cpus_;
    std::array<Rows, kTopGroupings> rows_;
    std::string key_;  // of the row looked for, to use its memory again
    uint64_t interval_begin_ns_ = 0;
    uint64_t events_ = 0;
    uint64_t events_total_ = 0;
    uint64_t lost_ = 0;
    uint64_t lost_total_ = 0;
    // As LinesWriter has it: what CLOCK_REALTIME was ahead at the last reading.
    std::optional<uint64_t> realtime_ahead_ns_;
    WriterCounters counters_;
};

}  // namespace tracer
