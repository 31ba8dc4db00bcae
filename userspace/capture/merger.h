// SPDX-License-Identifier: Apache-2.0
//
// Brings the rings' streams into one, in time order, and finds what is missing.
//
// Each ring is ordered, so the merge takes from the ring with the smallest head until that head
// passes the second smallest. Records at or after the watermark stay in their rings, because
// another CPU may still be writing an earlier one. A record older than one already delivered
// (its program was interrupted for longer than the watermark's slack) is delivered late and
// counted.
//
// Gaps. A jump of a ring's seq that the ring's lost counter confirms is delivered as a
// TR_KIND_gap_begin record at the time of the last record before it and a TR_KIND_gap_end record
// (with the exact count) at the time of the first one after it. A jump that the counter does not
// confirm is an interrupted program's record that follows in a moment.
#pragma once

#include "capture/record_handler.h"
#include "capture/record_source.h"

#include <cstdint>
#include <vector>

namespace tracer {

struct RingLedger {
    uint64_t records = 0;       // delivered (kind none included)
    uint64_t lost_in_gaps = 0;  // sum of the gap_end counts
    uint64_t out_of_order = 0;  // came after one with a higher seq
};

struct MergerCounters {
    uint64_t records = 0;
    uint64_t late = 0;       // delivered with a time before one already delivered
    uint64_t malformed = 0;  // header.size does not fit the record; not delivered
    uint64_t gaps = 0;
};

class Merger {
public:
    // Borrows the source.
    explicit Merger(RecordSource& source);

    // Delivers every record older than `watermark_ns` (CLOCK_BOOTTIME), at most `count_max` of
    // each ring at a time; returns how many were delivered. UINT64_MAX: everything.
    size_t drain(uint64_t watermark_ns, RecordHandler& handler);

    // Once, after the last drain: closes gaps still open with the ring's final lost counter, so
    // that lost_in_gaps equals lost() for each ring.
    void finish(uint64_t now_ns, RecordHandler& handler);

    [[nodiscard]] const MergerCounters& counters() const { return counters_; }
    [[nodiscard]] const std::vector<RingLedger>& rings() const { return ledgers_; }

private:
    // (to be completed by the implementation)
    RecordSource& source_;
    MergerCounters counters_;
    std::vector<RingLedger> ledgers_;
};

}  // namespace tracer
