// SPDX-License-Identifier: Apache-2.0
//
// A piece of history: a state, and encoded events that come after it.
#pragma once

#include "tracer/write/event_history.h"
#include "write/history/event_codec.h"
#include "write/history/history_state.h"
#include "write/history/segment_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace tracer::history {

// The encoded events of a segment. Written by one thread while the segment is the newest; of a
// closed one, any thread.
class SegmentStorage {
public:
    void begin(size_t capacity) { memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity); }
    // Of the newest alone, or while nobody but the caller moves it.
    [[nodiscard]] std::byte* memory() { return memory_.get(); }
    [[nodiscard]] std::span<const std::byte> in_memory(size_t size) const {
        return {memory_.get(), size};
    }

    // To a file: the memory goes once nobody reads it any more.
    void move_to(std::unique_ptr<const SegmentFile::Place> place) const {
        std::shared_ptr<std::byte[]> memory;
        const std::lock_guard lock(mutex_);
        place_ = std::move(place);
        memory = std::exchange(memory_, nullptr);
    }

    // What of it is in memory, or a copy of what is not; null: the file cannot be read.
    [[nodiscard]] std::shared_ptr<const std::byte[]> load(size_t size) const {
        const std::lock_guard lock(mutex_);
        if (place_ == nullptr) return memory_;
        std::shared_ptr<std::byte[]> copy = std::make_unique_for_overwrite<std::byte[]>(size);
        if (!place_->read({copy.get(), size})) return nullptr;
        return copy;
    }

private:
    mutable std::mutex mutex_;
    mutable std::shared_ptr<std::byte[]> memory_;
    mutable std::unique_ptr<const SegmentFile::Place> place_;
};

struct Segment {
    // Events and definitions of threads alternate: so many bytes of events come before each.
    struct Definition {
        size_t at = 0;
        ThreadPointer thread;
    };

    Checkpoint base;
    SegmentStorage storage;
    size_t size = 0;
    size_t capacity = 0;
    std::vector<Definition> definitions;
    size_t definition_bytes = 0;
    uint64_t begin_ns = 0;  // of the first event, and of the last
    uint64_t end_ns = 0;
    uint64_t events = 0;

    // Memory in use: events and definitions, and the state it begins with.
    [[nodiscard]] size_t filled() const { return size + definition_bytes; }
    [[nodiscard]] size_t base_bytes() const {
        return base.events.size() + base.threads.size() * sizeof(ThreadPointer);
    }
    [[nodiscard]] size_t used() const { return filled() + base_bytes(); }

    // Calls on_definition(ThreadPointer) and on_event(Event&, bytes) in their order;
    // `events_begin`: what storage.load() gave.
    template <typename OnDefinition, typename OnEvent>
    void for_each(const std::byte* events_begin,
                  const OnDefinition& on_definition,
                  const OnEvent& on_event) const {
        const std::span bytes(events_begin, size);
        auto definition = definitions.begin();
        const auto define_up_to = [&](size_t at) {
            for (; definition != definitions.end() && definition->at <= at; ++definition) {
                on_definition(definition->thread);
            }
        };
        for (size_t at = 0; at < size;) {
            define_up_to(at);
            DecodedEvent decoded(bytes.subspan(at));
            on_event(decoded.event(), bytes.subspan(at, decoded.size()));
            at += decoded.size();
        }
        define_up_to(size);
    }
};

// Of segments in their order; bytes are those of their events.
template <typename Segments>
[[nodiscard]] HistoryExtent extent_of(const Segments& segments) {
    HistoryExtent extent;
    for (const auto& segment : segments) {
        if (segment->events == 0) continue;
        if (extent.events == 0) extent.first_ns = segment->begin_ns;
        extent.last_ns = std::max(extent.last_ns, segment->end_ns);
        extent.events += segment->events;
        extent.bytes += segment->size;
    }
    return extent;
}

}  // namespace tracer::history
