// SPDX-License-Identifier: Apache-2.0
//
// Spans of threads. The spans of a task that are shown on its track lie on its stack in the order
// in which they are open in the trace; those shown elsewhere, or no more, lie among them. A span
// whose begin was written leaves its stack, or the track, with exactly one end (or a debt of the
// output's), so a trace's begins and ends always match.
//
// A write can begin a hole, which empties every stack (owe_all) under the caller's feet: nothing
// here keeps a reference into a stack across a write, and who goes on looks at holes_ first.
//
// Called by the decoder for hits with a span role, and where spans must not go on.
#include "decode/span_stacks.h"

#include <algorithm>

namespace tracer {

namespace {

// More than any thread's own stack usually is, less than the distance between two stacks.
constexpr uint64_t kOtherStackBytes = 8 << 20;

constexpr uint64_t kReturnAddressBytes = 8;

// Ends that never come must not fill the stack.
constexpr size_t kFollowedMax = 16;

// `deeper` and `outer` are of one stack, and the first was left when the second runs.
bool is_left_by(uint64_t deeper, uint64_t outer) {
    return deeper <= outer && outer - deeper <= kOtherStackBytes;
}

// Whether a begin is one more of a call whose span is open, by another probe at its place. One of
// the same probe is another call: the first was left.
bool is_of_open_call(const Task& task, const BeginPlace& place, uint64_t stack_pointer) {
    if (place.number == 0) return false;
    bool is_open = false;
    for (const OpenSpan& span : task.spans) {
        if (span.is_pair || span.stack_pointer != stack_pointer) continue;
        if (span.place.probe_id == place.probe_id) return false;
        is_open = is_open || span.place.number == place.number;
    }
    return is_open;
}

// Positions on a task's stack count from 1; 0 is none.
size_t innermost_frame(const Task& task) {
    size_t depth = task.spans.size();
    while (depth != 0 && task.spans[depth - 1].is_pair) --depth;
    return depth;
}

size_t innermost_pair(const Task& task, model::PointIndex point) {
    size_t depth = task.spans.size();
    while (depth != 0 && !(task.spans[depth - 1].is_pair && task.spans[depth - 1].point == point)) {
        --depth;
    }
    return depth;
}

size_t innermost_frame_pair(const Task& task, model::PointIndex point, uint64_t frame_key) {
    size_t depth = task.spans.size();
    const auto matches = [&](const OpenSpan& span) {
        return span.has_frame_key && span.frame_key == frame_key && span.point == point;
    };
    while (depth != 0 && !matches(task.spans[depth - 1])) --depth;
    return depth;
}

std::optional<uint64_t> begin_at(const Task& task, size_t depth) {
    if (depth == 0) return std::nullopt;
    return task.spans[depth - 1].begin_ns;
}

// Of a thread and the lines beside it.
template <typename Function>
bool any_track(const Task& task, Function function) {
    return function(task) ||
           std::ranges::any_of(task.lines, [&](const auto& line) { return function(*line); });
}

}  // namespace

void SpanStacks::begin(Task& task,
                       model::PointIndex point,
                       uint64_t stack_pointer,
                       const When& when,
                       std::span<const model::Value> values,
                       std::string_view name,
                       const BeginPlace& place) {
    task.outermost_entry = std::max(task.outermost_entry, stack_pointer);
    const bool is_of_one_call = is_of_open_call(task, place, stack_pointer);
    for (size_t depth = innermost_frame(task);
         depth != 0 && !is_of_one_call &&
         is_left_by(task.spans[depth - 1].stack_pointer, stack_pointer);
         depth = innermost_frame(task)) {
        leave(task, depth - 1, when, model::SpanEndCause::unwound, {});
    }
    if (is_too_deep(task, point)) return;
    push(task, {.point = point, .place = place, .stack_pointer = stack_pointer}, when, values,
         name);
}

void SpanStacks::end(Task& task,
                     model::PointIndex point,
                     uint64_t stack_pointer,
                     const When& when,
                     std::span<const model::Value> values) {
    const uint64_t entry = stack_pointer - kReturnAddressBytes;
    const auto matches = [&](const OpenSpan& span) {
        return !span.is_pair && span.stack_pointer == entry && span.point == point;
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
        // Of a frame around all that were entered since then.
        const bool is_outermost =
            !any_track(task, [&](const Task& track) { return entry <= track.outermost_entry; });
        end_alone(task, point, is_outermost);
        for (depth = innermost_frame(task);
             depth != 0 && task.spans[depth - 1].stack_pointer < entry &&
             is_left_by(task.spans[depth - 1].stack_pointer, entry);
             depth = innermost_frame(task)) {
            leave(task, depth - 1, when, model::SpanEndCause::unwound, {});
        }
        return;
    }
    // A hole that begins just now takes the match with it.
    if (!unwind_inside(task, depth - 1, when)) return;
    leave(task, depth - 1, when, model::SpanEndCause::returned, values);
}

void SpanStacks::begin_pair(Task& task,
                            model::PointIndex point,
                            const When& when,
                            std::span<const model::Value> values,
                            std::string_view name) {
    begin_pair_span(task, {.point = point, .is_pair = true}, when, values, name);
}

void SpanStacks::begin_ring(Task& task, model::PointIndex point, const When& when) {
    begin_pair_span(task, {.point = point, .is_pair = true, .is_ring = true}, when, {}, {});
}

void SpanStacks::begin_pair_span(Task& task,
                                 OpenSpan span,
                                 const When& when,
                                 std::span<const model::Value> values,
                                 std::string_view name) {
    const auto index = static_cast<size_t>(span.point);
    if (index >= task.pairs_begun.size()) task.pairs_begun.resize(index + 1);
    task.pairs_begun[index] = true;
    if (is_too_deep(task, span.point)) return;
    if (has_own_tracks(span.point)) {
        span.track = SpanTrack::own;
        span.id = ledger_.new_id();
    }
    push(task, span, when, values, name);
}

void SpanStacks::end_pair(Task& task,
                          model::PointIndex point,
                          const When& when,
                          std::span<const model::Value> values) {
    const size_t depth = innermost_pair(task, point);
    if (depth != 0) {
        leave(task, depth - 1, when, model::SpanEndCause::returned, values);
        return;
    }
    const auto index = static_cast<size_t>(point);
    const bool has_begun = any_track(task, [&](const Task& track) {
        return index < track.pairs_begun.size() && track.pairs_begun[index];
    });
    miss_end(task, point, !has_begun);
}

void SpanStacks::miss_end(Task& task, model::PointIndex point, bool is_outermost) {
    if (task.spans.size() >= kSpanDepthMax && task.spans_too_deep != 0) {
        --task.spans_too_deep;
        return;
    }
    end_alone(task, point, is_outermost);
}

void SpanStacks::end_alone(const Task& task, model::PointIndex point, bool is_outermost) {
    ledger_.end_alone(point, is_outermost && (task.may_hold_older || ledger_.came_late(point)));
}

void SpanStacks::begin_frame(Task& task,
                             model::PointIndex point,
                             uint64_t frame_key,
                             const When& when,
                             std::span<const model::Value> values,
                             std::string_view name) {
    const OpenSpan span{
        .point = point, .is_pair = true, .has_frame_key = true, .frame_key = frame_key};
    begin_pair_span(task, span, when, values, name);
}

void SpanStacks::end_frame(Task& task,
                           model::PointIndex point,
                           uint64_t frame_key,
                           const When& when,
                           std::span<const model::Value> values) {
    const size_t depth = innermost_frame_pair(task, point, frame_key);
    if (depth == 0) {
        // The frames around those that are open were entered before them.
        const bool is_inside =
            any_track(task, [&](const Task& track) { return innermost_pair(track, point) != 0; });
        miss_end(task, point, !is_inside);
        return;
    }
    if (!unwind_pairs_inside(task, depth - 1, when)) return;
    leave(task, depth - 1, when, model::SpanEndCause::returned, values);
}

void SpanStacks::until_frame(Task& task,
                             model::PointIndex point,
                             uint64_t frame_key,
                             const When& when) {
    const size_t depth = innermost_frame_pair(task, point, frame_key);
    if (depth == 0 || !unwind_pairs_inside(task, depth - 1, when)) return;
    leave(task, depth - 1, when, model::SpanEndCause::until, {});
}

void SpanStacks::change_state(Task& line,
                              model::PointIndex point,
                              const When& when,
                              std::span<const model::Value> values,
                              std::string_view name,
                              bool is_none) {
    // One at most; a hole takes it as well.
    while (!line.spans.empty()) {
        leave(line, line.spans.size() - 1, when, model::SpanEndCause::returned, {});
    }
    if (is_none) return;
    push(line, {.point = point, .is_pair = true, .is_state = true}, when, values, name);
}

std::optional<uint64_t> SpanStacks::begin_of(const Task& task,
                                             model::PointIndex point,
                                             uint64_t stack_pointer) {
    const uint64_t entry = stack_pointer - kReturnAddressBytes;
    const auto matches = [&](const OpenSpan& span) {
        return !span.is_pair && span.stack_pointer == entry && span.point == point;
    };
    size_t depth = task.spans.size();
    while (depth != 0 && !matches(task.spans[depth - 1])) --depth;
    return begin_at(task, depth);
}

std::optional<uint64_t> SpanStacks::begin_of_pair(const Task& task, model::PointIndex point) {
    return begin_at(task, innermost_pair(task, point));
}

std::optional<uint64_t> SpanStacks::begin_of_frame(const Task& task,
                                                   model::PointIndex point,
                                                   uint64_t frame_key) {
    return begin_at(task, innermost_frame_pair(task, point, frame_key));
}

void SpanStacks::until_pair(Task& task, model::PointIndex point, const When& when) {
    // Each turn takes one off the stack, or all.
    while (const size_t depth = innermost_pair(task, point)) {
        leave(task, depth - 1, when, model::SpanEndCause::until, {});
    }
}

bool SpanStacks::is_too_deep(Task& task, model::PointIndex point) {
    limit_followed(task);
    if (task.spans.size() < kSpanDepthMax) {
        task.spans_too_deep = 0;
        return false;
    }
    ledger_.too_deep(point);
    ++task.spans_too_deep;
    return true;
}

void SpanStacks::push(Task& task,
                      OpenSpan span,
                      const When& when,
                      std::span<const model::Value> values,
                      std::string_view name) {
    const model::ThreadIndex thread = tasks_.named(task);
    span.begin_ns = when.time_ns;
    if (span.track == SpanTrack::own) {
        const model::AsyncBegin begin{span.point, thread, span.id, values, name};
        if (!output_.write({when.time_ns, begin, when.cpu})) return;
    } else {
        const uint64_t time_ns = std::max(when.time_ns, task.span_ns);
        const model::SpanBegin begin{span.point, thread, values, name};
        if (!output_.write({time_ns, begin, when.cpu})) return;
        task.span_ns = time_ns;
    }
    task.spans.push_back(span);
    if (task.open_position == SIZE_MAX) mark_open(task);
}

void SpanStacks::leave(Task& task,
                       size_t position,
                       const When& when,
                       model::SpanEndCause cause,
                       std::span<const model::Value> values) {
    if (task.spans[position].track == SpanTrack::thread) {
        const bool is_end = cause == model::SpanEndCause::returned;
        if (!close_inside(task, position, when, is_end ? model::SpanEndCause::crossed : cause)) {
            return;
        }
    }
    const OpenSpan span = task.spans[position];
    task.spans.erase(task.spans.begin() + static_cast<long>(position));
    if (span.track == SpanTrack::none) --task.spans_followed;
    if (task.spans.empty()) mark_closed(task);
    if (!span.is_state) ledger_.ended(span.point, cause, span.begin_ns, when.time_ns);
    switch (span.track) {
        case SpanTrack::thread:
            task.span_ns = std::max(when.time_ns, task.span_ns);
            output_.write(
                {task.span_ns, model::SpanEnd{span.point, task.index, cause, values}, when.cpu});
            return;
        case SpanTrack::own:
            output_.write({std::max(when.time_ns, span.begin_ns),
                           model::AsyncEnd{span.point, task.index, span.id, cause, values},
                           when.cpu});
            return;
        case SpanTrack::none:
            if (cause == model::SpanEndCause::returned) learn_crossing(span);
            return;
    }
}

bool SpanStacks::close_inside(Task& task,
                              size_t position,
                              const When& when,
                              model::SpanEndCause mark) {
    const uint64_t holes = holes_;
    const model::PointIndex around = task.spans[position].point;
    for (size_t i = task.spans.size(); i-- > position + 1;) {
        OpenSpan& span = task.spans[i];
        if (span.track != SpanTrack::thread) continue;
        span.track = SpanTrack::none;
        span.crossed_by = around;
        ++task.spans_followed;
        task.span_ns = std::max(when.time_ns, task.span_ns);
        output_.write({task.span_ns, model::SpanEnd{span.point, task.index, mark, {}}, when.cpu});
        if (holes_ != holes) return false;
    }
    return true;
}

bool SpanStacks::unwind_inside(Task& task, size_t position, const When& when) {
    const uint64_t holes = holes_;
    for (size_t i = task.spans.size(); i-- > position + 1;) {
        if (task.spans[i].is_pair) continue;
        leave(task, i, when, model::SpanEndCause::unwound, {});
        if (holes_ != holes) return false;
    }
    return true;
}

bool SpanStacks::unwind_pairs_inside(Task& task, size_t position, const When& when) {
    const uint64_t holes = holes_;
    for (size_t i = task.spans.size(); i-- > position + 1;) {
        if (!task.spans[i].has_frame_key) continue;
        leave(task, i, when, model::SpanEndCause::unwound, {});
        if (holes_ != holes) return false;
    }
    return true;
}

// The oldest are given up: they were left without their end.
void SpanStacks::limit_followed(Task& task) {
    while (task.spans_followed > kFollowedMax) {
        const auto oldest = std::ranges::find(task.spans, SpanTrack::none, &OpenSpan::track);
        if (oldest == task.spans.end()) return;
        ledger_.ended(oldest->point, model::SpanEndCause::unwound, oldest->begin_ns,
                      oldest->begin_ns);
        task.spans.erase(oldest);
        --task.spans_followed;
    }
    if (task.spans.empty() && task.open_position != SIZE_MAX) mark_closed(task);
}

void SpanStacks::learn_crossing(const OpenSpan& span) {
    const auto index = static_cast<size_t>(span.is_pair ? span.point : span.crossed_by);
    if (index >= crossing_.size()) crossing_.resize(index + 1);
    crossing_[index] = true;
    ledger_.crossed(span.point);
}

void SpanStacks::close(Task& task, uint64_t time_ns, model::SpanEndCause cause) {
    while (!task.spans.empty()) {
        leave(task, task.spans.size() - 1, {time_ns, model::kNoCpu}, cause, {});
    }
    task.spans_too_deep = 0;
}

void SpanStacks::close_ring(Task& task, uint64_t time_ns, model::SpanEndCause cause) {
    close_either(task, true, time_ns, cause);
}

void SpanStacks::close_either(Task& task,
                              bool is_ring,
                              uint64_t time_ns,
                              model::SpanEndCause cause) {
    const uint64_t holes = holes_;
    for (size_t i = task.spans.size(); i-- > 0;) {
        if (task.spans[i].is_ring != is_ring) continue;
        leave(task, i, {time_ns, model::kNoCpu}, cause, {});
        if (holes_ != holes) return;
    }
    if (task.spans.empty()) task.spans_too_deep = 0;
}

void SpanStacks::close_all(uint64_t time_ns, model::SpanEndCause cause) {
    while (!open_.empty()) close(*open_.back(), time_ns, cause);
}

void SpanStacks::close_all_but_rings(uint64_t time_ns, model::SpanEndCause cause) {
    const std::vector<Task*> tasks(open_.rbegin(), open_.rend());
    for (Task* task : tasks) close_either(*task, false, time_ns, cause);
}

void SpanStacks::owe_all(uint64_t hole_begin_ns) {
    constexpr auto kCause = model::SpanEndCause::lost_events;
    ++holes_;
    while (!open_.empty()) {
        Task& task = *open_.back();
        task.span_ns = std::max(hole_begin_ns, task.span_ns);
        for (size_t i = task.spans.size(); i-- > 0;) {
            const OpenSpan& span = task.spans[i];
            if (!span.is_state) {
                ledger_.ended(span.point, kCause, span.begin_ns, hole_begin_ns);
            }
            if (span.track == SpanTrack::thread) {
                output_.owe(model::SpanEnd{span.point, task.index, kCause, {}}, task.span_ns);
            } else if (span.track == SpanTrack::own) {
                output_.owe(model::AsyncEnd{span.point, task.index, span.id, kCause, {}},
                            span.begin_ns);
            }
        }
        task.spans.clear();
        task.spans_followed = 0;
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
