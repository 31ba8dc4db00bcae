// SPDX-License-Identifier: Apache-2.0
//
// A piece of history: a state, and encoded events that come after it.
#pragma once

#include "tracer/write/event_history.h"
#include "write/history/event_codec.h"
#include "write/history/history_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tracer::history {

struct Segment {
    // Events and definitions of threads alternate: so many bytes of events come before each.
    struct Definition {
        size_t at = 0;
        ThreadPointer thread;
    };

    Checkpoint base;
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
    size_t capacity = 0;
    std::vector<Definition> definitions;
    size_t definition_bytes = 0;
    uint64_t begin_ns = 0;  // of the first event, and of the last
    uint64_t end_ns = 0;
    uint64_t events = 0;

    [[nodiscard]] std::span<const std::byte> bytes() const { return {memory.get(), size}; }

    // Memory in use: events and definitions, and the state it begins with.
    [[nodiscard]] size_t filled() const { return size + definition_bytes; }
    [[nodiscard]] size_t base_bytes() const {
        return base.events.size() + base.threads.size() * sizeof(ThreadPointer);
    }
    [[nodiscard]] size_t used() const { return filled() + base_bytes(); }

    // Calls on_definition(ThreadPointer) and on_event(Event&, bytes) in their order.
    template <typename OnDefinition, typename OnEvent>
    void for_each(const OnDefinition& on_definition, const OnEvent& on_event) const {
        auto definition = definitions.begin();
        const auto define_up_to = [&](size_t at) {
            for (; definition != definitions.end() && definition->at <= at; ++definition) {
                on_definition(definition->thread);
            }
        };
        for (size_t at = 0; at < size;) {
            define_up_to(at);
            DecodedEvent decoded(bytes().subspan(at));
            on_event(decoded.event(), bytes().subspan(at, decoded.size()));
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
