// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/fxt/stream.h"
#include "tracer/write/trace_writer.h"
#include "write/fxt/fxt_arguments.h"
#include "write/fxt/fxt_names.h"
#include "write/fxt/fxt_tasks.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer::fxt {

// Spells the model as a Fuchsia trace that Perfetto loads without complaint. Borrows the sink.
//
// Definitions that find no room are kept and written before the next event, so a sink that was
// full for a while never leaves a name undefined. The same for the ends of spans
// and for the threads that CPUs run: an event that could not be written must not change the
// meaning of those after it.
class FxtWriter final : public TraceWriter {
public:
    explicit FxtWriter(ByteSink& sink);

    [[nodiscard]] Status open() override;
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    size_t write_plain(std::span<const PlainInstant> instants) override;
    void begin_batch() override { stream_.window().resize(ByteSink::kReserveBytesMax); }
    void end_batch() override { stream_.window().resize(0); }
    [[nodiscard]] Status begin_chunk() override;
    [[nodiscard]] Status switch_sink(ByteSink& sink, SinkStart start) override;
    [[nodiscard]] Status close() override;
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

private:
    // A point with everything about its records that does not change.
    struct Point {
        bool is_defined = false;
        Name category;
        Name name;
        PointArguments arguments;
        PointArguments end_arguments;
    };

    // What one CPU runs as far as the file says.
    struct Cpu {
        uint64_t running = 0;  // thread id in the file; 0: idle or not known
        int16_t running_priority = 0;
        uint64_t last_switch_ns = 0;                  // of the last switch written
        std::optional<uint64_t> unwritten_switch_ns;  // one that found no room
    };

    // An event's header, before its arguments.
    struct Head {
        EventType type{};
        uint64_t time_ns = 0;
        const Name& category;
        const Name& name;
        uint64_t trailing = 0;  // of the types that have one word more
        // Instead of `name`, where an event has one of its own.
        std::string_view own_name{};
    };

    // The headers of the arguments that switches and wakeups have, all with names of the table's
    // beginning. These records are most of a system's trace.
    struct SchedulingArguments {
        explicit SchedulingArguments(const OwnNames& names);
        uint64_t incoming_weight, outgoing_weight, weight, waker;
    };

    // Points (fxt_writer.cpp).
    WriteStatus say(uint64_t time_ns, const model::Instant& event);
    WriteStatus say(uint64_t time_ns, const model::SpanBegin& event);
    WriteStatus say(uint64_t time_ns, const model::SpanEnd& event);
    WriteStatus say(uint64_t time_ns, const model::AsyncBegin& event);
    WriteStatus say(uint64_t time_ns, const model::AsyncEnd& event);
    WriteStatus say(uint64_t time_ns, const model::Counter& event);
    // The arguments of an end: values, if they are the point's, and why it ended, if it is a
    // repair. False: they do not fit.
    [[nodiscard]] bool end_arguments(ArgumentList& out,
                                     model::PointIndex point,
                                     model::SpanEndCause cause,
                                     std::span<const model::Value> values);
    // Instants and begins of spans.
    WriteStatus write_point(EventType type,
                            uint64_t time_ns,
                            Task& task,
                            model::PointIndex index,
                            std::span<const model::Value> values,
                            std::string_view name);
    // The first of some plain instants, of which the file has everything but the events.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): entries cost nothing until filled.
    struct ReadyInstants {
        static constexpr size_t kMax = 64;
        struct Ready {
            const PointArguments* arguments;
            uint64_t header;
        };
        std::array<Ready, kMax> list;
        size_t count = 0;
        size_t words = 0;  // of their records
    };
    void find_ready(std::span<const PlainInstant> instants, ReadyInstants& ready);
    [[nodiscard]] bool write_ready(std::span<const PlainInstant> instants,
                                   const ReadyInstants& ready);
    // The system (fxt_system_events.cpp).
    WriteStatus say(uint64_t time_ns, const model::Switch& event);
    WriteStatus say(uint64_t time_ns, const model::Wakeup& event);
    WriteStatus say(uint64_t time_ns, const model::Life& event);
    WriteStatus say(uint64_t time_ns, const model::Loss& event);
    WriteStatus say(uint64_t time_ns, const model::ClockReading& event);
    WriteStatus say_clocks(uint64_t time_ns, const model::ClockReading& event);
    // The id of one side of a switch, 0 for the idle loop.
    [[nodiscard]] WriteStatus switch_side(model::ThreadIndex index, uint64_t& id);
    // True: nothing stands between the file's last word on this CPU and the next switch.
    [[nodiscard]] bool mend_switches(uint16_t cpu) {
        return !cpu_state(cpu).unwritten_switch_ns || write_unwritten_switch(cpu);
    }
    [[nodiscard]] bool write_unwritten_switch(uint16_t cpu);
    [[nodiscard]] bool write_switch_to_idle(uint16_t cpu, uint64_t time_ns);
    [[nodiscard]] WriteStatus write_switch(uint64_t time_ns,
                                           const model::Switch& event,
                                           uint64_t out,
                                           uint64_t in);
    // nullptr: no waker that is known.
    [[nodiscard]] WriteStatus write_wakeup(uint64_t time_ns,
                                           const model::Wakeup& event,
                                           const Task& woken,
                                           const Task* waker);
    [[nodiscard]] Cpu& cpu_state(uint16_t cpu) {
        if (cpu >= cpus_.size()) [[unlikely]]
            cpus_.resize(size_t{cpu} + 1);
        return cpus_[cpu];
    }

    // Definitions.
    [[nodiscard]] const Point* find_point(model::PointIndex index) const {
        const auto position = static_cast<size_t>(index);
        if (position >= points_.size() || !points_[position].is_defined) return nullptr;
        return &points_[position];
    }
    // Where an event that needs a thread goes; nullptr: nowhere. The idle loop has a thread of
    // ours, as probes do fire there.
    [[nodiscard]] Task* event_task(model::ThreadIndex index);
    [[nodiscard]] std::vector<PreparedArgument> prepare(const std::vector<model::Argument>& list);
    [[nodiscard]] Name intern(std::string_view text);

    // Writes the header and the definitions that wait for room. False: still no room.
    [[nodiscard]] bool write_definitions();
    // Whether records may name the strings of the table.
    [[nodiscard]] bool is_caught_up() { return !is_behind_ || stream_.catch_up(); }
    // Makes sure that the file has all that an event naming `task` needs.
    [[nodiscard]] bool make_known(Task& task) {
        if (!is_behind_ && task.is_written) [[likely]]
            return true;
        tasks_.require(task);
        is_behind_ = true;
        return write_definitions();
    }
    // As make_known, and the task gets a slot and the ends it is owed.
    [[nodiscard]] bool make_current(Task& task);
    [[nodiscard]] bool write_owed_ends(Task& task);
    void resume_spans(Task& task);
    void resume_async_spans();

    WriteStatus write_event(Task& task, const Head& head, const ArgumentList& arguments);
    // The same once the task is current.
    WriteStatus write_record(const Task& task, const Head& head, const ArgumentList& arguments);
    // What the stream made of a record, in a writer's terms.
    [[nodiscard]] WriteStatus status_of(const Outcome& outcome);
    void count(WriteStatus status);

    Stream stream_;
    OwnNames names_;  // the first in the stream's table
    const SchedulingArguments scheduling_;
    TaskBook tasks_;
    std::vector<Point> points_;
    // Begun in the file and not ended, by id.
    struct AsyncSpan {
        uint64_t begin_ns = 0;
        model::PointIndex point{};
        model::ThreadIndex thread{};
        bool is_begun = false;  // in this chunk
        std::string name;       // empty: the point's
    };
    std::unordered_map<uint64_t, AsyncSpan> async_spans_;
    std::vector<Cpu> cpus_;
    std::vector<uint64_t> loss_lane_end_ns_;  // by CPU: slices of a lane must not overlap
    uint64_t lost_events_ = 0;
    struct LastClocks {
        uint64_t time_ns;
        model::ClockReading reading;
    };
    std::optional<LastClocks> last_clocks_;
    RepairedTexts repaired_;
    WriterCounters counters_;
    uint64_t counted_cuts_ = 0;  // of those that the stream made
    bool is_behind_ = true;      // write_definitions() has something to do
};

}  // namespace tracer::fxt
