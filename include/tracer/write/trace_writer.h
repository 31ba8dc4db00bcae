// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/model/definition.h"
#include "tracer/model/event.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/plain_instant.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// What became of one event. The hot path counts, it does not build errors.
enum class WriteStatus : uint8_t {
    ok,
    no_room,  // the sink is full: not written
    refused,  // the format cannot say it (too many arguments, an end before its start): not written
};

// Numbers of one writer's life, for the summary.
struct WriterCounters {
    uint64_t events = 0;       // written
    uint64_t no_room = 0;      // not written, sink full
    uint64_t refused = 0;      // not written, format
    uint64_t strings_cut = 0;  // written with a shortened string
};

// Spells the model in one format over one sink. Not thread safe: one owner. Order of calls:
// describe, if there is something to say; open; then define and write in any order (a definition
// before the events that name it); close.
class TraceWriter {
public:
    virtual ~TraceWriter() = default;

    // What the trace is about. Formats without a place for it say nothing of it.
    virtual void describe(const model::Recording& /*recording*/) {}

    // Writes the format's header.
    [[nodiscard]] virtual Status open() = 0;

    // Declares or, with a known index, re-declares (a thread renamed, a program exec'ed).
    virtual void define(const model::Thread& thread) = 0;
    virtual void define(const model::Point& point) = 0;

    virtual WriteStatus write(const model::Event& event) = 0;

    // Means write() of each in turn, up to the first for which there is no room, and is that
    // unless a format has a shorter way. How many were dealt with (written, or refused): all of
    // them, or the position of that one.
    virtual size_t write_plain(std::span<const PlainInstant> instants) {
        for (size_t i = 0; i < instants.size(); ++i) {
            if (write(ExpandedInstant(instants[i]).event()) == WriteStatus::no_room) return i;
        }
        return instants.size();
    }

    // Between these the writer may keep one reservation of its sink open for many records, which
    // the sink does not see before the end: nobody else uses the sink in between, and the other
    // functions below are not called. Batches are not nested.
    virtual void begin_batch() {}
    virtual void end_batch() {}

    // Hands the sink what the writer still holds back, if its format makes it hold anything back.
    virtual void flush() {}

    // Writes what still belongs into the chunk that ends: events held back, the format's end. For a
    // sink that is changed between the two (chunk_switch.h); else begin_chunk() does it.
    virtual void end_chunk() { flush(); }

    // Writes the header and every live definition again, so that what follows reads alone.
    [[nodiscard]] virtual Status begin_chunk() = 0;

    // From here on into another sink, which the writer borrows as it did the first. Called between
    // events; everything written so far is committed to the sink before, which stays its owner's to
    // flush and close. On an error of reads_alone the new sink is in use, and what is missing is
    // written before the next event. missing_feature: the format cannot change its destination,
    // and writes on to the sink before.
    [[nodiscard]] virtual Status switch_sink(ByteSink& /*sink*/, SinkStart /*start*/) {
        return fail(ErrorCode::missing_feature, "this format cannot go on in another destination");
    }

    // Writes the format's end, if it has one. Does not close the sink.
    [[nodiscard]] virtual Status close() = 0;

    [[nodiscard]] virtual const WriterCounters& counters() const = 0;
};

}  // namespace tracer
