// SPDX-License-Identifier: Apache-2.0
//
// The last events, kept in memory and in no format: a flight recorder. What is held at any moment
// can be written, from another thread and in any format, as a trace that reads alone, while events
// go on coming in.
#pragma once

#include "tracer/write/trace_writer.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

namespace history {
struct Segment;
class Spill;
class State;
}  // namespace history

struct HistoryLimits {
    // Memory for events and what is known at their begin; at least kHistoryBytesMin are taken.
    // Beyond it the oldest are forgotten. What views hold comes on top.
    uint64_t bytes_max = uint64_t{256} << 20;
    // Events that are older than this may be forgotten, and are soon; 0: as many as fit.
    uint64_t age_ns_max = 0;
};

inline constexpr uint64_t kHistoryBytesMin = uint64_t{1} << 20;

// What is held; times are those of the oldest and the newest event, 0 of none.
struct HistoryExtent {
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;
    uint64_t events = 0;
    uint64_t bytes = 0;
};

// Of a history on a disk.
struct HistoryDisk {
    uint64_t segments_waiting = 0;   // in memory still, to be written
    uint64_t segments_given_up = 0;  // each of bytes_max / 32, at most 8 MiB
    std::string error;               // the disk's first; empty: it was too slow
};

// The history of one moment. Never changes, may outlive the history it is of; any thread.
class HistoryView {
public:
    HistoryView() = default;

    [[nodiscard]] HistoryExtent extent() const;

    // Writes all that happened from `from_ns` on (0: all) to an opened writer: threads that have
    // events, spans that were open by then (at the times they really began, with their arguments),
    // the last reading of the clocks before, the events, and an end (SpanEndCause::recording_end)
    // for each span that is open at the end. Does not close the writer. How many events came from
    // the history; what the writer made of each is in its own counters. A part that is on a disk
    // and cannot be read ends the trace before it.
    [[nodiscard]] uint64_t write_to(TraceWriter& writer, uint64_t from_ns = 0) const;

private:
    friend class EventHistory;
    std::vector<std::shared_ptr<const history::Segment>> segments_;
    std::vector<std::shared_ptr<const model::Point>> points_;  // by index; null: not defined
};

// Takes events as every TraceWriter does, and never has no room. One owner; views may be used
// anywhere.
class EventHistory final : public TraceWriter {
public:
    explicit EventHistory(const HistoryLimits& limits);
    ~EventHistory() override;
    EventHistory(const EventHistory&) = delete;
    EventHistory& operator=(const EventHistory&) = delete;

    [[nodiscard]] Status open() override { return {}; }
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    [[nodiscard]] Status begin_chunk() override { return {}; }
    [[nodiscard]] Status close() override { return {}; }
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

    // From here on what is full goes to a file without a name in the folder, and its memory is
    // free: `bytes_max` is then of the disk, beside some 130 MiB of memory. Call it before the
    // first event. Where the disk is slower than events come, or takes nothing more, the oldest are
    // forgotten earlier, and counted.
    [[nodiscard]] Status keep_in(const std::string& folder);
    [[nodiscard]] HistoryDisk disk() const;

    // Shares what is held, and costs no copy of it.
    [[nodiscard]] HistoryView view();
    [[nodiscard]] HistoryExtent extent() const;

    // To a writer that has had every definition: the newest reading of the clocks, and the begins
    // of the spans that are open, at their own times.
    void write_state(TraceWriter& writer) const;

    // Of a SpanEnd or an AsyncEnd that is about to be written: what it ends. The name is its own,
    // empty if it has none, and borrowed until the next call.
    struct OpenSpan {
        uint64_t begin_ns = 0;
        model::PointIndex point{};
        std::string_view name;
    };
    [[nodiscard]] std::optional<OpenSpan> ended_by(const model::Event& end) const;

private:
    void begin_segment(size_t bytes_needed, uint64_t time_ns);
    void forget_old(uint64_t now_ns);
    void spill(const std::shared_ptr<history::Segment>& segment);

    const uint64_t bytes_max_;
    const uint64_t age_ns_max_;
    const size_t segment_bytes_;
    std::deque<std::shared_ptr<history::Segment>> segments_;  // the last is being written
    uint64_t closed_bytes_ = 0;                               // of all but the last
    std::unique_ptr<history::State> state_;                   // after the newest event
    std::vector<std::shared_ptr<const model::Point>> points_;
    WriterCounters counters_;
    std::unique_ptr<history::Spill> spill_;  // null: all is in memory
};

}  // namespace tracer
