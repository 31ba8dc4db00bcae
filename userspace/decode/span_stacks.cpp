// SPDX-License-Identifier: Apache-2.0
//
// Pairing of spans. Only spans whose begin was written are on a stack, and a span leaves its stack
// with exactly one end (or a debt of the output's), so a trace's begins and ends always match.
//
// A write can begin a hole, which empties every stack (owe_all) under the caller's feet: nothing
// here keeps a reference into a stack across a write.
//
// Called by the decoder for hits with a span role, and where spans must not go on.
#include "decode/span_stacks.h"

#include <algorithm>

namespace tracer {

namespace {

// More than any thread's own stack usually is, less than the distance between two stacks.
constexpr uint64_t kOtherStackBytes = 8 << 20;

constexpr uint64_t kReturnAddressBytes = 8;

// `deeper` and `outer` are of one stack, and the first was left when the second runs.
bool is_left_by(uint64_t deeper, uint64_t outer) {
    return deeper <= outer && outer - deeper <= kOtherStackBytes;
}

}  // namespace

void SpanStacks::begin(Task& task,
                       model::PointIndex point,
                       uint64_t stack_pointer,
                       const When& when,
                       std::span<const model::Value> values,
                       std::string_view name) {
    while (!task.spans.empty() && is_left_by(task.spans.back().stack_pointer, stack_pointer)) {
        pop(task, when, model::SpanEndCause::unwound, {});
    }
    if (task.spans.size() >= kSpanDepthMax) {
        ++counters_.spans_too_deep;
        ++task.spans_too_deep;
        return;
    }
    task.spans_too_deep = 0;
    const model::ThreadIndex thread = tasks_.named(task);
    const uint64_t time_ns = std::max(when.time_ns, task.span_ns);
    const model::SpanBegin begun{point, thread, values, name};
    if (!output_.write({time_ns, begun, when.cpu})) return;
    task.span_ns = time_ns;
    task.spans.push_back({point, stack_pointer});
    if (task.open_position == SIZE_MAX) mark_open(task);
}

void SpanStacks::end(Task& task,
                     model::PointIndex point,
                     uint64_t stack_pointer,
                     const When& when,
                     std::span<const model::Value> values) {
    const uint64_t entry = stack_pointer - kReturnAddressBytes;
    const auto matches = [&](const OpenSpan& span) {
        return span.stack_pointer == entry && span.point == point;
    };
    // The usual return is the innermost span's. Else look outwards, as far as the frame's own stack
    // can still hold it: a frame above it on the same stack is outer.
    size_t depth = task.spans.size();
    while (depth != 0 && !matches(task.spans[depth - 1])) {
        const uint64_t other = task.spans[depth - 1].stack_pointer;
        if (other > entry && other - entry <= kOtherStackBytes) depth = 1;
        --depth;
    }
    if (depth == 0) {
        if (task.spans.size() >= kSpanDepthMax && task.spans_too_deep != 0) {
            --task.spans_too_deep;
            return;
        }
        ++counters_.spans_orphan_end;
        while (!task.spans.empty() && task.spans.back().stack_pointer < entry &&
               is_left_by(task.spans.back().stack_pointer, entry)) {
            pop(task, when, model::SpanEndCause::unwound, {});
        }
        return;
    }
    while (task.spans.size() > depth) pop(task, when, model::SpanEndCause::unwound, {});
    // A hole that began just now has taken the match with it.
    if (task.spans.size() == depth) pop(task, when, model::SpanEndCause::returned, values);
}

void SpanStacks::pop(Task& task,
                     const When& when,
                     model::SpanEndCause cause,
                     std::span<const model::Value> values) {
    const OpenSpan span = task.spans.back();
    task.spans.pop_back();
    if (task.spans.empty()) mark_closed(task);
    count(cause);
    task.span_ns = std::max(when.time_ns, task.span_ns);
    output_.write({task.span_ns, model::SpanEnd{span.point, task.index, cause, values}, when.cpu});
}

void SpanStacks::count(model::SpanEndCause cause) {
    switch (cause) {
        case model::SpanEndCause::returned:
            return;
        case model::SpanEndCause::unwound:
            ++counters_.spans_unwound;
            return;
        case model::SpanEndCause::lost_events:
            ++counters_.spans_cut_by_loss;
            return;
        case model::SpanEndCause::thread_exit:
            ++counters_.spans_closed_at_exit;
            return;
        case model::SpanEndCause::recording_end:
            ++counters_.spans_closed_at_end;
            return;
    }
}

void SpanStacks::close(Task& task, uint64_t time_ns, model::SpanEndCause cause) {
    while (!task.spans.empty()) pop(task, {time_ns, model::kNoCpu}, cause, {});
    task.spans_too_deep = 0;
}

void SpanStacks::close_all(uint64_t time_ns, model::SpanEndCause cause) {
    while (!open_.empty()) close(*open_.back(), time_ns, cause);
}

void SpanStacks::owe_all(uint64_t hole_begin_ns) {
    while (!open_.empty()) {
        Task& task = *open_.back();
        task.span_ns = std::max(hole_begin_ns, task.span_ns);
        for (size_t i = task.spans.size(); i-- > 0;) {
            count(model::SpanEndCause::lost_events);
            const model::SpanEnd end{
                task.spans[i].point, task.index, model::SpanEndCause::lost_events, {}};
            output_.owe(end, task.span_ns);
        }
        task.spans.clear();
        task.spans_too_deep = 0;
        mark_closed(task);
    }
}

void SpanStacks::mark_open(Task& task) {
    task.open_position = open_.size();
    open_.push_back(&task);
}

void SpanStacks::mark_closed(Task& task) {
    Task* const last = open_.back();
    last->open_position = task.open_position;
    open_[task.open_position] = last;
    open_.pop_back();
    task.open_position = SIZE_MAX;
}

}  // namespace tracer
