// SPDX-License-Identifier: Apache-2.0
//
// Beginning a chunk, in the only order that is right: what the writer still holds goes into the old
// chunk, then the sink, then the writer, with no record in between. Call these at record boundaries
// (never between reserve and commit) from the thread that owns writer and sink; the writer, a
// TraceWriter or a fxt::Stream, must be open and write to that very sink.
#pragma once

#include "tracer/write/chunked_sink.h"
#include "tracer/write/fxt/stream.h"
#include "tracer/write/trace_writer.h"

namespace tracer {

// What the writer holds back belongs to the chunk that ends.
inline void hand_over(TraceWriter& writer) {
    writer.end_chunk();
}
inline void hand_over(fxt::Stream& stream) {
    stream.close_window();
}

// Begins a chunk now, due or not: to hand over a snapshot, or at a boundary of the owner's.
// An error of code `limit` with a sink in good health means that the chunk's opening found no room:
// some of it is missing until the writer could say it, which ours do before their next event. Any
// other error has ended the sink.
template <typename Writer>
[[nodiscard]] Status begin_chunk(ChunkedSink& sink, Writer& writer) {
    hand_over(writer);
    TR_TRY(sink.next_chunk());
    return writer.begin_chunk();
}

// Begins a chunk if one is due. To be called before every record; cheap while none is due. A sink
// counts what is committed, so a chunk is longer by what a Stream's window holds.
template <typename Writer>
[[nodiscard]] Status begin_chunk_if_due(ChunkedSink& sink, Writer& writer) {
    if (!sink.chunk_is_due()) [[likely]]
        return {};
    return begin_chunk(sink, writer);
}

// The same by the caller's clock (ChunkedSink::chunk_is_due_at).
template <typename Writer>
[[nodiscard]] Status begin_chunk_if_due_at(ChunkedSink& sink, Writer& writer, uint64_t now_ns) {
    if (!sink.chunk_is_due_at(now_ns)) [[likely]]
        return {};
    return begin_chunk(sink, writer);
}

}  // namespace tracer
