// SPDX-License-Identifier: Apache-2.0
//
// Pairs function entries with returns, per thread, by the stack pointer. Stacks grow down: a frame
// entered deeper has a smaller stack pointer, so a new entry at or above an open frame's says that
// the frame was left without a return (longjmp, an exception), and a return at S ends the frame
// that was entered with S - 8, since the return address has been popped.
//
// Times of one thread's begins and ends never go back: a record that was delivered late (the merger
// counts those) takes the time of the one before it, or formats that sort would pair them wrongly.
//
// Limits. The kernel's uretprobes follow 64 nested frames of a thread; deeper ones never report a
// return and are ended as unwound when an outer frame returns. A function that another one reached
// by a tail call enters with the same stack pointer as its caller did: the caller's span ends
// there, unwound, and its return is an orphan. Threads that switch between stacks more than 8 MiB
// apart keep the spans of both.
#pragma once

#include "decode/decoder.h"
#include "decode/event_output.h"
#include "decode/task_table.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tracer {

class SpanStacks {
public:
    struct When {
        uint64_t time_ns;
        uint16_t cpu;  // kNoCpu: a repair's
    };

    // Borrows all three.
    SpanStacks(TaskTable& tasks, EventOutput& output, DecoderCounters& counters)
        : tasks_(tasks), output_(output), counters_(counters) {}

    void begin(Task& task,
               model::PointIndex point,
               uint64_t stack_pointer,
               const When& when,
               std::span<const model::Value> values,
               std::string_view name = {});
    void end(Task& task,
             model::PointIndex point,
             uint64_t stack_pointer,
             const When& when,
             std::span<const model::Value> values);

    // Ends all open spans of one task, or of all, innermost first.
    void close(Task& task, uint64_t time_ns, model::SpanEndCause cause);
    void close_all(uint64_t time_ns, model::SpanEndCause cause);

    // Hands all open spans to the output as debts of a hole.
    void owe_all(uint64_t hole_begin_ns);

private:
    void pop(Task& task,
             const When& when,
             model::SpanEndCause cause,
             std::span<const model::Value> values);
    void count(model::SpanEndCause cause);
    void mark_open(Task& task);
    void mark_closed(Task& task);

    TaskTable& tasks_;
    EventOutput& output_;
    DecoderCounters& counters_;
    std::vector<Task*> open_;  // tasks with at least one open span
};

}  // namespace tracer
