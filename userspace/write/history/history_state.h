// SPDX-License-Identifier: Apache-2.0
//
// What one has to know to begin a trace in the middle: who the threads are, which spans are open,
// what the clocks said.
#pragma once

#include "tracer/model/definition.h"
#include "tracer/model/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracer::history {

using EventBytes = std::span<const std::byte>;
using ThreadPointer = std::shared_ptr<const model::Thread>;

// A state at rest, for a segment to begin with.
struct Checkpoint {
    std::vector<ThreadPointer> threads;
    // Encoded events, one behind the other: the begins of open spans, of a thread's from the outer
    // to the inner, then the newest reading of the clocks.
    std::vector<std::byte> events;
};

class State {
public:
    State() = default;
    // As at the checkpoint. Bytes are borrowed from there, here and below, until the next
    // checkpoint's are taken instead.
    explicit State(const Checkpoint& checkpoint);

    void define(ThreadPointer thread);
    // `bytes`: the same event encoded.
    void apply(const model::Event& event, EventBytes bytes);

    // Threads that have ended are in one more checkpoint: what still names them comes soon. From
    // now on bytes are borrowed from `out`, which must not move.
    void rest(Checkpoint& out);

    [[nodiscard]] const ThreadPointer* find_thread(model::ThreadIndex index) const;
    // The encoded begin of the span that the event, a SpanEnd or an AsyncEnd, ends.
    [[nodiscard]] std::optional<EventBytes> begin_of(const model::Event& end) const;
    // Of all open spans, by time; those of one thread from the outer to the inner.
    [[nodiscard]] std::vector<EventBytes> open_spans() const;
    [[nodiscard]] std::optional<EventBytes> clocks() const { return clocks_; }

private:
    struct Known {
        ThreadPointer thread;
        uint8_t checkpoints_since_end = 0;
        bool has_ended = false;
    };

    void end_life(model::ThreadIndex index);

    std::unordered_map<uint32_t, Known> threads_;
    std::unordered_map<uint32_t, std::vector<EventBytes>> spans_;  // by thread
    std::map<uint64_t, EventBytes> async_spans_;                   // by id
    std::optional<EventBytes> clocks_;
    std::set<std::pair<uint32_t, uint32_t>> ended_processes_;  // pid and life, since the last rest
};

}  // namespace tracer::history
