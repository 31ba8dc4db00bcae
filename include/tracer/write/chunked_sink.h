// SPDX-License-Identifier: Apache-2.0
//
// Sinks whose output falls into chunks, each of which reads alone. Where a chunk may end is known
// to nobody but the owner of writer and sink: between two records, and only if the writer says its
// header and definitions again at once (TraceWriter::begin_chunk). So the sink says when, the owner
// does it, and the functions of chunk_switch.h do both halves in the right order.
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"

#include <cstdint>

namespace tracer {

// When a chunk is due to end. Both are looked at between records, so a chunk is longer than asked
// by at most what was committed since the owner asked last (a record, or a chunk's opening), and an
// old chunk of a quiet source ends with the next question.
struct ChunkLimits {
    uint64_t chunk_bytes = 0;   // 0: any size
    uint64_t chunk_age_ns = 0;  // 0: any age
};

class ChunkedSink : public ByteSink {
public:
    // Whether the owner is to begin a chunk before it writes the next record. Asked at every record
    // boundary, by the producing thread, also while a reservation is open: a few compares, and one
    // reading of a coarse clock if age counts (CLOCK_MONOTONIC_COARSE: steps of some milliseconds,
    // stands still in suspend). Never true for a chunk in which nothing is written yet, nor while
    // the sink has no room for the opening of another.
    [[nodiscard]] virtual bool chunk_is_due() = 0;

    // The same by the caller's clock, for events that carry their own time: a chunk's age counts
    // from the first `now_ns` asked with in it. Use one of the two throughout.
    [[nodiscard]] virtual bool chunk_is_due_at(uint64_t now_ns) = 0;

    // Ends the chunk: what is committed from now on belongs to the next one. The caller's next act
    // is TraceWriter::begin_chunk(). Not while a reservation is open: chunk_switch.h has both in
    // the right order, for a fxt::Stream too. Never waits. Nothing written in the chunk yet: it
    // stays the current one. The sink's error, if it has failed.
    [[nodiscard]] virtual Status next_chunk() = 0;
};

}  // namespace tracer
