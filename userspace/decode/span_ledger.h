// SPDX-License-Identifier: Apache-2.0
//
// What became of spans: how long they took and why they ended, by point, and the ids of those with
// tracks of their own. Kept in one place because spans are paired in two (SpanStacks by thread,
// KeyedSpans by key).
#pragma once

#include "capture/probe_definition.h"
#include "decode/duration_histogram.h"
#include "tracer/model/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

struct DecoderCounters;

// Of one point. Durations are those from a begin to an event that ends the span (`returned`,
// `until`); how long the others took is not known.
struct SpanTally {
    std::string name;
    std::string title;  // what all its spans are called; empty: each may have another name
    std::string spec;   // the texts of its probes, as -e takes them
    DurationHistogram durations;
    std::array<uint64_t, model::kSpanEndCauses> ends{};  // by SpanEndCause; `crossed` unused
    uint64_t orphan_ends = 0;
    uint64_t begun_before = 0;    // ends of spans begun before the recording, or before a fork
    uint64_t begin_kept_out = 0;  // ends whose begins the clauses of those kept out
    // Ended after what was around them on their thread's track: by then they were closed there.
    uint64_t crossed = 0;
    uint64_t key_missing = 0;   // hits whose key could not be read
    uint64_t beyond_limit = 0;  // begins without room: too deep, or too many open keys
};

class SpanLedger {
public:
    // Borrows the counters, whose sums over all points it keeps.
    explicit SpanLedger(DecoderCounters& counters) : counters_(counters) {}

    // In the order of their indices. `came_late`: its probes were armed during the recording, and
    // spans may have been under way in any process.
    void add(const model::Point& point, bool came_late);
    void add(const ProbeDefinition& probe, model::PointIndex point);

    // A span that was begun in the trace has ended. Of a repair `end_ns` says nothing.
    void ended(model::PointIndex point,
               model::SpanEndCause cause,
               uint64_t begin_ns,
               uint64_t end_ns);
    // Something of a span with a key was seen.
    void seen(model::PointIndex point, uint64_t time_ns);
    [[nodiscard]] bool came_late(model::PointIndex point) const {
        return entries_[static_cast<size_t>(point)].came_late;
    }
    // An end whose begin was not recorded; `may_be_older`: it may have been before the recording,
    // as long as nothing was lost that could be it.
    void end_alone(model::PointIndex point, bool may_be_older);
    void note_loss() { has_loss_ = true; }
    // Begins were not recorded for a while, which is no loss.
    void note_pause() { has_pause_ = true; }
    [[nodiscard]] bool has_pause() const { return has_pause_; }
    // Whether a span of the point that ends now may have been begun before anything of it was seen:
    // if it took no longer than others did.
    [[nodiscard]] bool may_be_older(model::PointIndex point, uint64_t end_ns) const;
    void crossed(model::PointIndex point);
    void key_missing(model::PointIndex point);
    void key_beyond_limit(model::PointIndex point);
    void too_deep(model::PointIndex point);

    [[nodiscard]] uint64_t new_id() { return ++last_id_; }

    // Of all points that are spans, but for states.
    [[nodiscard]] std::vector<SpanTally> tallies() const;

private:
    struct Entry {
        bool is_span = false;
        bool is_state = false;  // of threads
        bool came_late = false;
        bool may_lack_begin = false;  // ProbeDefinition
        SpanTally tally;
        uint64_t first_ns = 0;  // of a span with a key; 0: nothing was seen of it
        std::string begin_spec;
        std::string end_spec;
        std::string until_specs;
    };

    [[nodiscard]] SpanTally& tally(model::PointIndex point) {
        return entries_[static_cast<size_t>(point)].tally;
    }

    DecoderCounters& counters_;
    std::vector<Entry> entries_;  // by point
    bool has_loss_ = false;
    bool has_pause_ = false;
    // Beyond every thread id (Linux: 2^22), which formats use in the same place.
    uint64_t last_id_ = uint64_t{1} << 22;
};

}  // namespace tracer
