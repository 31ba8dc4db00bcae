// SPDX-License-Identifier: Apache-2.0
//
// A recording that was paused: what is open ends there, because its end may come while nobody
// looks; what ends after it may have begun before, and that is no fault. Births, names and ends of
// tasks are recorded all the time. Both marks break: a program that was under way when the pause
// began may have written a last record behind the first. Called by the dispatch in hit_decoder.cpp.
#include "decode/record_decoder.h"

namespace tracer {

void RecordDecoder::on_pause_hit(uint32_t probe_id, uint64_t time_ns) {
    if (probe_id != TR_PROBE_paused && probe_id != TR_PROBE_resumed) return;
    spans_.close_all(time_ns, model::SpanEndCause::paused);
    keyed_.close_all(time_ns, model::SpanEndCause::paused);
    // Once it is resumed, what each thread does is told anew, as at the start.
    schedule_.pause(time_ns);
    ledger_.note_pause();
    tasks_.forget_begins();
    for (const auto& [key, track] : ring_tracks_) {
        if (track.own) TaskTable::forget_begins(*track.own);
    }
}

}  // namespace tracer
