// SPDX-License-Identifier: Apache-2.0
//
// Counting. Points are indexed without a check: the decoder made sure of them when it took their
// probes' definitions. Called by the two that pair spans.
#include "decode/span_ledger.h"

#include "decode/decoder.h"

namespace tracer {

void SpanLedger::add(const model::Point& point, bool came_late) {
    Entry& entry = entries_.emplace_back();
    entry.came_late = came_late;
    entry.is_span = point.kind == model::PointKind::span;
    entry.tally.name = point.name;
}

// Sites of one probe have the same text.
void SpanLedger::add(const ProbeDefinition& probe, model::PointIndex point) {
    Entry& entry = entries_[static_cast<size_t>(point)];
    switch (probe.role) {
        case HitRole::instant:
        case HitRole::span_end:
        case HitRole::fiber_span_end:
        case HitRole::thread_name:
        case HitRole::process_name:
            return;
        case HitRole::state:
            entry.is_state = true;
            return;
        case HitRole::span_begin:
        case HitRole::fiber_span_begin:
        case HitRole::pair_begin:
            entry.begin_spec = probe.spec;
            if (probe.name.size() == 1 && probe.name.front().slot == NamePiece::kText) {
                entry.tally.title = probe.name.front().text;
            }
            return;
        case HitRole::pair_end:
            entry.end_spec = probe.spec;
            // Of several on one point any one may be whose end it is.
            entry.may_lack_begin |= probe.may_lack_begin;
            return;
        case HitRole::pair_until:
            if (entry.until_specs.find(probe.spec) != std::string::npos) return;
            entry.until_specs += entry.until_specs.empty() ? " until " : ", ";
            entry.until_specs += probe.spec;
            return;
    }
}

void SpanLedger::ended(model::PointIndex point,
                       model::SpanEndCause cause,
                       uint64_t begin_ns,
                       uint64_t end_ns) {
    SpanTally& sum = tally(point);
    ++sum.ends[static_cast<size_t>(cause)];
    switch (cause) {
        case model::SpanEndCause::until:
            ++counters_.spans_ended_by_until;
            [[fallthrough]];
        case model::SpanEndCause::returned:
            sum.durations.add(end_ns > begin_ns ? end_ns - begin_ns : 0);
            return;
        case model::SpanEndCause::unwound:
            ++counters_.spans_unwound;
            return;
        case model::SpanEndCause::lost_events:
            ++counters_.spans_cut_by_loss;
            return;
        case model::SpanEndCause::thread_exit:
        case model::SpanEndCause::process_exit:
            ++counters_.spans_closed_at_exit;
            return;
        case model::SpanEndCause::recording_end:
            ++counters_.spans_closed_at_end;
            return;
        case model::SpanEndCause::paused:
            ++counters_.spans_closed_at_pause;
            return;
        case model::SpanEndCause::key_reused:
            ++counters_.spans_key_reused;
            return;
        case model::SpanEndCause::crossed:  // a mark on the thread's track: the span goes on
            return;
    }
}

void SpanLedger::seen(model::PointIndex point, uint64_t time_ns) {
    uint64_t& first_ns = entries_[static_cast<size_t>(point)].first_ns;
    if (first_ns == 0) first_ns = time_ns;
}

void SpanLedger::end_alone(model::PointIndex point, bool may_be_older) {
    if (may_be_older && !has_loss_) {
        ++counters_.spans_begun_before;
        ++tally(point).begun_before;
        return;
    }
    if (entries_[static_cast<size_t>(point)].may_lack_begin && !has_loss_) {
        ++counters_.spans_begin_kept_out;
        ++tally(point).begin_kept_out;
        return;
    }
    ++counters_.spans_orphan_end;
    ++tally(point).orphan_ends;
}

bool SpanLedger::may_be_older(model::PointIndex point, uint64_t end_ns) const {
    const Entry& entry = entries_[static_cast<size_t>(point)];
    const DurationHistogram& durations = entry.tally.durations;
    return durations.count() == 0 || end_ns <= entry.first_ns + durations.max_ns();
}

void SpanLedger::crossed(model::PointIndex point) {
    ++counters_.spans_crossed;
    ++tally(point).crossed;
}

void SpanLedger::key_missing(model::PointIndex point) {
    ++counters_.spans_key_missing;
    ++tally(point).key_missing;
}

void SpanLedger::key_beyond_limit(model::PointIndex point) {
    ++counters_.spans_keys_beyond_limit;
    ++tally(point).beyond_limit;
}

void SpanLedger::too_deep(model::PointIndex point) {
    ++counters_.spans_too_deep;
    ++tally(point).beyond_limit;
}

std::vector<SpanTally> SpanLedger::tallies() const {
    std::vector<SpanTally> list;
    for (const Entry& entry : entries_) {
        if (!entry.is_span || (entry.is_state && entry.begin_spec.empty())) continue;
        SpanTally& added = list.emplace_back(entry.tally);
        added.spec = entry.begin_spec;
        if (!entry.end_spec.empty()) added.spec += " ~~ " + entry.end_spec;
        added.spec += entry.until_specs;
    }
    return list;
}

}  // namespace tracer
