// SPDX-License-Identifier: Apache-2.0
//
// The model as a GHC eventlog: CPUs are capabilities, threads are threads, and what programs do is
// messages in the words of the tools that read such logs. README.md has the whole mapping.
#pragma once

#include "tracer/write/trace_writer.h"
#include "write/eventlog/writer_blocks.h"
#include "write/eventlog/writer_runtime.h"
#include "write/eventlog/writer_timeline.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::eventlog {

class EventlogWriter final : public TraceWriter {
public:
    explicit EventlogWriter(ByteSink& sink)
        : blocks_(sink), timeline_(blocks_), runtime_(blocks_) {}

    void describe(const model::Recording& recording) override { recording_ = recording; }
    [[nodiscard]] Status open() override;
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    void flush() override { static_cast<void>(blocks_.write_out()); }
    // Ends the log and begins another, whose time 0 is the newest event's, in the same sink.
    void end_chunk() override;
    [[nodiscard]] Status begin_chunk() override;
    [[nodiscard]] Status switch_sink(ByteSink& sink, SinkStart start) override;
    [[nodiscard]] Status close() override;
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

private:
    struct Point {
        bool is_defined = false;
        bool is_named = false;  // its perf name is in the log
        std::string name;       // UTF-8, as messages have it
        std::string full_name;  // with the category
        std::vector<model::Argument> arguments;
        std::vector<model::Argument> end_arguments;
        model::PointRole role = model::PointRole::none;
    };

    // Where and when an event is written.
    struct Place {
        CapNo cap = kNoCapability;
        uint64_t ns = 0;
    };

    WriteStatus say(const model::Event& event, const model::Instant& instant);
    WriteStatus say(const model::Event& event, const model::SpanBegin& span);
    WriteStatus say(const model::Event& event, const model::SpanEnd& span);
    WriteStatus say(const model::Event& event, const model::AsyncBegin& span);
    WriteStatus say(const model::Event& event, const model::AsyncEnd& span);
    WriteStatus say(const model::Event& event, const model::Counter& counter);
    WriteStatus say(const model::Event& event, const model::Switch& change);
    WriteStatus say(const model::Event& event, const model::Wakeup& wakeup);
    WriteStatus say(const model::Event& event, const model::Life& life);
    WriteStatus say(const model::Event& event, const model::Loss& loss);
    WriteStatus say(const model::Event& event, const model::ClockReading& reading);

    // Of what the program's own runtime says (eventlog_runtime_events.cpp).
    [[nodiscard]] bool is_of_runtime(const Point& point, const Task& task) const {
        return is_runtime_ && point.role != model::PointRole::none && task.pid == recording_.pid;
    }
    WriteStatus say_of_runtime(const model::Event& event,
                               const Point& point,
                               const model::Instant& instant);
    WriteStatus begin_of_runtime(const model::Event& event,
                                 const Point& point,
                                 model::ThreadIndex thread,
                                 std::span<const model::Value> values);
    WriteStatus end_of_runtime(const model::Event& event,
                               const Point& point,
                               model::ThreadIndex thread,
                               model::SpanEndCause cause,
                               std::span<const model::Value> values);

    [[nodiscard]] uint64_t log_time(uint64_t time_ns) const {
        return time_ns > base_ns_ ? time_ns - base_ns_ : 0;
    }
    [[nodiscard]] bool make_room(uint64_t ns, size_t text_bytes);
    [[nodiscard]] Place place_of(const model::Event& event, Task* task);
    [[nodiscard]] const Point* find_point(model::PointIndex index) const;
    // nullptr: an unknown thread. The idle loop is a Task of its own, without a number.
    [[nodiscard]] Task* event_task(model::ThreadIndex index);
    // What a switch or a wakeup names, nullptr for the idle loop. False: an unknown thread.
    [[nodiscard]] bool switch_side(model::ThreadIndex index, Task*& task);

    void compose(std::string_view words,
                 const std::vector<model::Argument>& arguments,
                 std::span<const model::Value> values);
    void cut_text();
    void post_message(const Place& place);
    // `number` keeps apart what happens at once: a thread, or an asynchronous span's id.
    void post_span(const Place& place,
                   std::string_view prefix,
                   uint64_t number,
                   std::string_view name);
    void post_cause(const Place& place, std::string_view name, model::SpanEndCause cause);
    [[nodiscard]] std::string_view shown_name(const OpenSpan& span) const {
        return span.name.empty() ? points_[static_cast<size_t>(span.point)].name : span.name;
    }
    void end_span(const Place& place, Task& task, model::SpanEndCause cause);
    void name_point(const Place& place, model::PointIndex index);

    [[nodiscard]] Status begin_log();
    [[nodiscard]] Status begin_next_log();
    void write_wall_clock(uint64_t ns, uint64_t realtime_ns);
    [[nodiscard]] Status write_out(const char* what);

    WriterBlocks blocks_;
    Timeline timeline_;
    // The log is one of the program's runtime: capabilities and threads are its own, and what the
    // kernel runs is left out.
    bool is_runtime_ = false;
    RuntimeLog runtime_;
    model::Recording recording_;
    std::vector<Point> points_;
    std::map<uint64_t, OpenSpan> async_spans_;  // open, by id
    Task idle_;
    WriterCounters counters_;
    std::string text_;  // of the message being written

    bool has_base_ = false;  // else the first event's time will be the log's time 0
    uint64_t base_ns_ = 0;   // CLOCK_BOOTTIME
    uint64_t newest_ns_ = 0;
    bool is_chunk_ended_ = false;  // and the next not begun
    bool has_wall_clock_ = false;  // the log has one: it takes no other
    struct Clocks {
        uint64_t time_ns;
        uint64_t realtime_ns;
    };
    std::optional<Clocks> clocks_;  // the newest reading
};

}  // namespace tracer::eventlog
