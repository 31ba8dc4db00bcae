// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/record_handler.h"
#include "decode/probe_definition.h"
#include "decode/span_ledger.h"
#include "tracer/write/trace_writer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tracer {

struct DecoderCounters {
    uint64_t records = 0;
    uint64_t unknown_kinds = 0;   // of a newer minor version: skipped
    uint64_t unknown_probes = 0;  // hits of a probe id without a definition
    uint64_t malformed = 0;       // too short for their kind, string slots outside the record, ...
    uint64_t arguments_missing = 0;
    uint64_t strings_cut = 0;
    uint64_t lost_events = 0;         // sum of the gaps' counts
    uint64_t lost_to_sink = 0;        // events the writer had no room for
    uint64_t spans_orphan_end = 0;    // ends without a begin
    uint64_t spans_begun_before = 0;  // ends of spans begun before the recording, or before a fork
    uint64_t spans_begin_kept_out =
        0;                        // ends of pairs whose begins are sampled, or have conditions
    uint64_t spans_too_deep = 0;  // begins beyond kSpanDepthMax: neither begin nor end written
    uint64_t spans_unwound = 0;   // left by longjmp, an exception or exec
    uint64_t spans_cut_by_loss = 0;
    uint64_t spans_closed_at_exit = 0;  // of their thread, or of their key's process
    uint64_t spans_closed_at_end = 0;
    uint64_t spans_closed_at_pause = 0;
    uint64_t spans_ended_by_until = 0;     // by the third event of a pair
    uint64_t spans_key_reused = 0;         // another began with their key
    uint64_t spans_crossed = 0;            // ended after what was around them
    uint64_t spans_key_missing = 0;        // hits of pairs whose key could not be read
    uint64_t spans_keys_beyond_limit = 0;  // begins that found kOpenKeysMax others
    // Events that found kLinesOfThreadMax lines beside their thread, or kFibersMax in all: shown on
    // their thread's own track, or, of states, not written.
    uint64_t lines_beyond_limit = 0;
    uint64_t wakeups_dropped = 0;    // of a thread already runnable, or in an unknown state
    uint64_t switches_repaired = 0;  // switch-outs made up because the true one is missing
};

// Open spans of one thread; Perfetto refuses deeper slices.
inline constexpr size_t kSpanDepthMax = 512;

// Open spans with a key, of the whole recording, and the bytes that keys which are text take.
inline constexpr size_t kOpenKeysMax = size_t{1} << 20;
inline constexpr size_t kOpenKeyBytesMax = size_t{64} << 20;

// Gives records their meaning, once: keeps the task table, pairs spans, and writes model events
// to one writer. The only place that knows both abi/event.h and the model.
class Decoder : public RecordHandler {
public:
    // Borrows the writer; takes the definitions.
    static std::unique_ptr<Decoder> make(RecordingDefinitions definitions, TraceWriter& writer);

    // Adds definitions while records flow (probes armed later). Ids must be new.
    virtual void add(const std::vector<model::Point>& points,
                     const std::vector<ProbeDefinition>& probes) = 0;

    // Ends the stream: closes open spans (SpanEndCause::recording_end) at the given time.
    virtual void finish(uint64_t now_ns) = 0;

    [[nodiscard]] virtual const DecoderCounters& counters() const = 0;

    // Records seen by probe id (built-in sources included).
    [[nodiscard]] virtual uint64_t hits(uint32_t probe_id) const = 0;

    // What became of the spans, for each point that has any.
    [[nodiscard]] virtual std::vector<SpanTally> span_tallies() const = 0;

    // Times of the first and last record, 0 if none.
    [[nodiscard]] virtual uint64_t first_ns() const = 0;
    [[nodiscard]] virtual uint64_t last_ns() const = 0;
};

}  // namespace tracer
