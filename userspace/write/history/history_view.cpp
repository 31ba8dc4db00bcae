// SPDX-License-Identifier: Apache-2.0
//
// A view of the history made a trace: goes through its segments from the one in which the trace
// begins, at first only to know what is open and who is who, then writing. Threads are defined when
// an event first names them, with indices of this trace's own.
#include "tracer/write/event_history.h"
#include "write/history/segment.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

namespace tracer {
namespace {

using history::DecodedEvent;
using history::EventBytes;
using history::Segment;
using history::State;
using history::ThreadPointer;

class Replay {
public:
    explicit Replay(TraceWriter& writer) : writer_(writer) {}

    void define_points(const std::vector<std::shared_ptr<const model::Point>>& points) {
        for (const auto& point : points) {
            if (point != nullptr) writer_.define(*point);
        }
    }

    // Of those that the trace knows, what has changed.
    void redefine(const ThreadPointer& thread) {
        const auto known = indices_.find(static_cast<uint32_t>(thread->index));
        if (known != indices_.end()) define(*thread, known->second);
    }

    void write(model::Event& event, const State& state) {
        std::visit([&](auto& body) { rename_threads(body, state); }, event.body);
        static_cast<void>(writer_.write(event));  // counted by the writer
    }

private:
    void define(const model::Thread& thread, model::ThreadIndex index) {
        model::Thread own = thread;
        own.index = index;
        writer_.define(own);
    }

    void rename(model::ThreadIndex& index, const State& state) {
        if (index == model::kIdleThread) return;
        const auto next = model::ThreadIndex{static_cast<uint32_t>(indices_.size())};
        const auto [known, is_new] = indices_.try_emplace(static_cast<uint32_t>(index), next);
        if (is_new) {
            const ThreadPointer* thread = state.find_thread(index);
            // Forgotten a segment after its end: writers refuse what needs a thread, and count it.
            if (thread == nullptr) {
                indices_.erase(known);
                index = model::kIdleThread;
                return;
            }
            define(**thread, next);
        }
        index = known->second;
    }

    template <typename Body>
    void rename_threads(Body& body, const State& state) {
        if constexpr (std::is_same_v<Body, model::Switch>) {
            rename(body.out, state);
            rename(body.in, state);
        } else if constexpr (std::is_same_v<Body, model::Wakeup>) {
            rename(body.woken, state);
            rename(body.waker, state);
        } else if constexpr (std::is_same_v<Body, model::Life>) {
            rename(body.thread, state);
            if (body.kind == model::LifeKind::fork) rename(body.child, state);
        } else if constexpr (!std::is_same_v<Body, model::Loss> &&
                             !std::is_same_v<Body, model::ClockReading>) {
            rename(body.thread, state);
        }
    }

    TraceWriter& writer_;
    std::unordered_map<uint32_t, model::ThreadIndex> indices_;  // by the history's
};

void write_bytes(Replay& replay, EventBytes bytes, const State& state) {
    DecodedEvent decoded(bytes);
    replay.write(decoded.event(), state);
}

// Ends for what is open, from the inner to the outer.
void write_ends(Replay& replay, const State& state, uint64_t now_ns) {
    std::vector<EventBytes> open = state.open_spans();
    std::ranges::reverse(open);
    for (const EventBytes bytes : open) {
        DecodedEvent decoded(bytes);
        constexpr auto kCause = model::SpanEndCause::recording_end;
        model::Event end{std::max(now_ns, decoded.event().time_ns), {}, model::kNoCpu};
        if (const auto* span = std::get_if<model::SpanBegin>(&decoded.event().body)) {
            end.body = model::SpanEnd{span->point, span->thread, kCause, {}};
        } else {
            const auto& async = std::get<model::AsyncBegin>(decoded.event().body);
            end.body = model::AsyncEnd{async.point, async.thread, async.id, kCause, {}};
        }
        replay.write(end, state);
    }
}

}  // namespace

HistoryExtent HistoryView::extent() const {
    return history::extent_of(segments_);
}

uint64_t HistoryView::write_to(TraceWriter& writer, uint64_t from_ns) const {
    Replay replay(writer);
    replay.define_points(points_);
    // The first whose events are not all too old.
    const auto first = std::ranges::find_if(segments_, [&](const auto& segment) {
        return segment->events != 0 && segment->end_ns >= from_ns;
    });
    if (first == segments_.end()) return 0;
    State state((*first)->base);
    bool is_begun = false;
    uint64_t events = 0;
    uint64_t end_ns = 0;
    std::shared_ptr<const std::byte[]> held;
    for (auto segment = first; segment != segments_.end(); ++segment) {
        // The same as it is by now, but for whose memory it borrows: that of a segment which was
        // read from a disk goes with the next one.
        if (segment != first) state = State((*segment)->base);
        auto loaded = (*segment)->storage.load((*segment)->size);
        if (loaded == nullptr) break;
        held = std::move(loaded);
        const auto on_definition = [&](const ThreadPointer& thread) {
            state.define(thread);
            replay.redefine(thread);
        };
        const auto on_event = [&](model::Event& event, EventBytes bytes) {
            if (!is_begun && event.time_ns >= from_ns) {
                is_begun = true;
                if (const auto clocks = state.clocks()) write_bytes(replay, *clocks, state);
                for (const EventBytes begin : state.open_spans()) {
                    write_bytes(replay, begin, state);
                }
            }
            state.apply(event, bytes);
            if (!is_begun) return;
            replay.write(event, state);
            events += 1;
        };
        (*segment)->for_each(held.get(), on_definition, on_event);
        end_ns = std::max(end_ns, (*segment)->end_ns);
    }
    write_ends(replay, state, end_ns);
    return events;
}

}  // namespace tracer
