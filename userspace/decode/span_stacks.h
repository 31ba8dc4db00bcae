// SPDX-License-Identifier: Apache-2.0
//
// Pairs what begins and ends on one thread: function entries with returns, by the stack pointer,
// and the begins and ends of pairs of probes, by their order.
//
// Functions. Stacks grow down: a frame entered deeper has a smaller stack pointer, so a new entry
// at or above an open frame's says that the frame was left without a return (longjmp, an
// exception), and a return at S ends the frame that was entered with S - 8, since the return
// address has been popped.
//
// Pairs. An end closes the innermost open span of its point, so recursion is right. Spans that nest
// with what else is open on the thread are slices of its track. Where one ends around another that
// goes on, they cross, and a track cannot show both: the inner one is closed there with a mark, and
// is followed off the track to its own end, which its duration is measured by. That end proves the
// crossing, and from then on the spans of its point get tracks of their own (of a function that
// goes on, those of the pair that ended around it: functions stay on their thread's track). Without
// the proof, nothing is learned: the end may just be missing.
//
// Pairs with a frame key. An end closes the innermost open span of its point with its key; those of
// any frame key that were begun inside of it were left without an end, and are unwound.
//
// Lines beside a thread are Tasks of their own here, and so is one for each LINE of states, of
// which one is open at most.
//
// Times of one thread's begins and ends never go back: a record that was delivered late (the merger
// counts those) takes the time of the one before it, or formats that sort would pair them wrongly.
//
// Limits. The kernel's uretprobes follow 64 nested frames of a thread; deeper ones never report a
// return and are ended as unwound when an outer frame returns. A function that another one reached
// by a tail call enters with the same stack pointer as its caller did: the caller's span ends
// there, unwound, and its return is an orphan. Threads that switch between stacks more than 8 MiB
// apart keep the spans of both. Of spans off the track the newest 16 of a thread are followed.
#pragma once

#include "decode/decoder.h"
#include "decode/event_output.h"
#include "decode/span_ledger.h"
#include "decode/task_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tracer {

// When and where something was hit.
struct When {
    uint64_t time_ns;
    uint16_t cpu;  // kNoCpu: a repair's
};

class SpanStacks {
public:
    // Borrows all three.
    SpanStacks(TaskTable& tasks, EventOutput& output, SpanLedger& ledger)
        : tasks_(tasks), output_(output), ledger_(ledger) {}

    void begin(Task& task,
               model::PointIndex point,
               uint64_t stack_pointer,
               const When& when,
               std::span<const model::Value> values,
               std::string_view name = {},
               const BeginPlace& place = {});
    void end(Task& task,
             model::PointIndex point,
             uint64_t stack_pointer,
             const When& when,
             std::span<const model::Value> values);

    void begin_pair(Task& task,
                    model::PointIndex point,
                    const When& when,
                    std::span<const model::Value> values,
                    std::string_view name = {});
    void end_pair(Task& task,
                  model::PointIndex point,
                  const When& when,
                  std::span<const model::Value> values);
    // The same of what the program wrote to a ring of its own.
    void begin_ring(Task& task, model::PointIndex point, const When& when);
    // Pairs whose ends are found by the frame that both are in. The end of one says that the
    // frames inside of it were left.
    void begin_frame(Task& task,
                     model::PointIndex point,
                     uint64_t frame_key,
                     const When& when,
                     std::span<const model::Value> values,
                     std::string_view name = {});
    void end_frame(Task& task,
                   model::PointIndex point,
                   uint64_t frame_key,
                   const When& when,
                   std::span<const model::Value> values);
    // The same for what ends it too; there need be none.
    void until_frame(Task& task, model::PointIndex point, uint64_t frame_key, const When& when);

    // Ends the state that a line shows, and begins another that `name` is of; empty: none.
    void change_state(Task& line,
                      model::PointIndex point,
                      const When& when,
                      std::span<const model::Value> values,
                      std::string_view name,
                      bool is_none);

    // When the span began that the end would close; nullopt: there is none on this track.
    [[nodiscard]] static std::optional<uint64_t> begin_of(const Task& task,
                                                          model::PointIndex point,
                                                          uint64_t stack_pointer);
    [[nodiscard]] static std::optional<uint64_t> begin_of_pair(const Task& task,
                                                               model::PointIndex point);
    [[nodiscard]] static std::optional<uint64_t> begin_of_frame(const Task& task,
                                                                model::PointIndex point,
                                                                uint64_t frame_key);

    // Ends all of the point that are open on the thread; there need be none.
    void until_pair(Task& task, model::PointIndex point, const When& when);

    // Ends all open spans of one task, or of all, innermost first.
    void close(Task& task, uint64_t time_ns, model::SpanEndCause cause);
    void close_all(uint64_t time_ns, model::SpanEndCause cause);
    // Those of the ring that the thread writes, which say nothing of what the kernel tells of it;
    // and all but those, for what the kernel lost is none of theirs.
    void close_ring(Task& task, uint64_t time_ns, model::SpanEndCause cause);
    void close_all_but_rings(uint64_t time_ns, model::SpanEndCause cause);

    // Hands all open spans to the output as debts of a hole.
    void owe_all(uint64_t hole_begin_ns);

private:
    void close_either(Task& task, bool is_ring, uint64_t time_ns, model::SpanEndCause cause);
    void begin_pair_span(Task& task,
                         OpenSpan span,
                         const When& when,
                         std::span<const model::Value> values,
                         std::string_view name);
    // Counts an end that no open span of the thread has; `is_outermost`: it lies around all that
    // were seen to begin.
    void miss_end(Task& task, model::PointIndex point, bool is_outermost);
    void end_alone(const Task& task, model::PointIndex point, bool is_outermost);
    [[nodiscard]] bool is_too_deep(Task& task, model::PointIndex point);
    void push(Task& task,
              OpenSpan span,
              const When& when,
              std::span<const model::Value> values,
              std::string_view name);
    // Ends the span at `position`, wherever it is shown.
    void leave(Task& task,
               size_t position,
               const When& when,
               model::SpanEndCause cause,
               std::span<const model::Value> values);
    // Closes on the thread's track what lies inside the span at `position`. False: a hole began,
    // and every stack is empty.
    [[nodiscard]] bool close_inside(Task& task,
                                    size_t position,
                                    const When& when,
                                    model::SpanEndCause mark);
    // Ends the frames inside the span at `position`, whose return never came: those of functions,
    // or of pairs. False as above.
    [[nodiscard]] bool unwind_inside(Task& task, size_t position, const When& when);
    [[nodiscard]] bool unwind_pairs_inside(Task& task, size_t position, const When& when);
    // Not while a position is held.
    void limit_followed(Task& task);
    void learn_crossing(const OpenSpan& span);
    [[nodiscard]] bool has_own_tracks(model::PointIndex point) const {
        const auto index = static_cast<size_t>(point);
        return index < crossing_.size() && crossing_[index];
    }
    void mark_open(Task& task);
    void mark_closed(Task& task);

    TaskTable& tasks_;
    EventOutput& output_;
    SpanLedger& ledger_;
    std::vector<Task*> open_;     // tasks with at least one open span
    std::vector<bool> crossing_;  // by point: its spans get tracks of their own
    uint64_t holes_ = 0;          // how often owe_all() emptied every stack
};

}  // namespace tracer
