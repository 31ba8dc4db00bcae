// SPDX-License-Identifier: Apache-2.0
//
// Follows events as far as a trace that begins later must know them. Used by the history while
// events come in, and by a view that goes through a segment up to where its trace begins.
#include "write/history/history_state.h"

#include "write/history/event_codec.h"

#include <algorithm>
#include <variant>

namespace tracer::history {
namespace {

uint32_t number_of(model::ThreadIndex index) {
    return static_cast<uint32_t>(index);
}

}  // namespace

State::State(const Checkpoint& checkpoint) {
    for (const ThreadPointer& thread : checkpoint.threads) define(thread);
    EventBytes rest(checkpoint.events);
    while (!rest.empty()) {
        DecodedEvent decoded(rest);
        apply(decoded.event(), rest.first(decoded.size()));
        rest = rest.subspan(decoded.size());
    }
}

void State::define(ThreadPointer thread) {
    Known& known = threads_[number_of(thread->index)];
    known = {.thread = std::move(thread)};
}

void State::end_life(model::ThreadIndex index) {
    const auto found = threads_.find(number_of(index));
    if (found == threads_.end()) return;
    found->second.has_ended = true;
    const model::Thread& thread = *found->second.thread;
    // Lines beside its threads have no end of their own.
    if (thread.tid == thread.pid) ended_processes_.emplace(thread.pid, thread.process_life);
}

void State::apply(const model::Event& event, EventBytes bytes) {
    if (const auto* begin = std::get_if<model::SpanBegin>(&event.body)) {
        spans_[number_of(begin->thread)].push_back(bytes);
    } else if (const auto* end = std::get_if<model::SpanEnd>(&event.body)) {
        const auto found = spans_.find(number_of(end->thread));
        if (found == spans_.end()) return;
        found->second.pop_back();
        if (found->second.empty()) spans_.erase(found);
    } else if (const auto* async = std::get_if<model::AsyncBegin>(&event.body)) {
        async_spans_[async->id] = bytes;
    } else if (const auto* async_end = std::get_if<model::AsyncEnd>(&event.body)) {
        async_spans_.erase(async_end->id);
    } else if (const auto* life = std::get_if<model::Life>(&event.body)) {
        if (life->kind == model::LifeKind::exit) end_life(life->thread);
    } else if (std::holds_alternative<model::ClockReading>(event.body)) {
        clocks_ = bytes;
    }
}

void State::rest(Checkpoint& out) {
    for (auto it = threads_.begin(); it != threads_.end();) {
        Known& known = it->second;
        const std::pair process(known.thread->pid, known.thread->process_life);
        if (known.thread->is_track && ended_processes_.contains(process)) known.has_ended = true;
        // A span of it may still be open: its end is to come.
        const bool is_over =
            known.has_ended && known.checkpoints_since_end != 0 && !spans_.contains(it->first);
        if (is_over) {
            it = threads_.erase(it);
            continue;
        }
        if (known.has_ended) known.checkpoints_since_end = 1;
        out.threads.push_back(known.thread);
        ++it;
    }
    ended_processes_.clear();

    std::vector<EventBytes*> kept;
    for (auto& [thread, stack] : spans_) {
        for (EventBytes& begin : stack) kept.push_back(&begin);
    }
    for (auto& [id, begin] : async_spans_) kept.push_back(&begin);
    if (clocks_) kept.push_back(&*clocks_);
    size_t size = 0;
    for (const EventBytes* bytes : kept) size += bytes->size();
    out.events.reserve(size);
    for (EventBytes* bytes : kept) {
        const size_t at = out.events.size();
        out.events.insert(out.events.end(), bytes->begin(), bytes->end());
        *bytes = EventBytes(out.events).subspan(at, bytes->size());
    }
}

const ThreadPointer* State::find_thread(model::ThreadIndex index) const {
    const auto found = threads_.find(number_of(index));
    return found != threads_.end() ? &found->second.thread : nullptr;
}

std::optional<EventBytes> State::begin_of(const model::Event& end) const {
    if (const auto* span = std::get_if<model::SpanEnd>(&end.body)) {
        const auto found = spans_.find(number_of(span->thread));
        if (found != spans_.end()) return found->second.back();
    }
    if (const auto* span = std::get_if<model::AsyncEnd>(&end.body)) {
        const auto found = async_spans_.find(span->id);
        if (found != async_spans_.end()) return found->second;
    }
    return std::nullopt;
}

std::vector<EventBytes> State::open_spans() const {
    struct Begin {
        uint64_t time_ns;
        EventBytes bytes;
    };
    std::vector<Begin> begins;
    const auto add = [&](EventBytes bytes) {
        begins.push_back({DecodedEvent(bytes).event().time_ns, bytes});
    };
    for (const auto& [thread, stack] : spans_) std::ranges::for_each(stack, add);
    for (const auto& [id, bytes] : async_spans_) add(bytes);
    std::ranges::stable_sort(begins, {}, &Begin::time_ns);
    std::vector<EventBytes> result;
    result.reserve(begins.size());
    for (const Begin& begin : begins) result.push_back(begin.bytes);
    return result;
}

}  // namespace tracer::history
