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

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer {

// For each ring, once finish() has run: records + lost_in_gaps == the kernel's attempts.
struct RingLedger {
    uint64_t records = 0;       // arrived (kind none and malformed ones included)
    uint64_t lost_in_gaps = 0;  // sum of the gap_end counts
    uint64_t out_of_order = 0;  // came after one with a higher seq
};

struct MergerCounters {
    uint64_t records = 0;    // arrived whole (kind none included; it is not delivered)
    uint64_t late = 0;       // delivered with a time before one already delivered
    uint64_t malformed = 0;  // header.size does not fit the record; not delivered
    uint64_t gaps = 0;
};

class Merger {
public:
    // Borrows the source.
    explicit Merger(RecordSource& source);

    // Delivers every record older than `watermark_ns` (CLOCK_BOOTTIME); returns how many arrived.
    // UINT64_MAX: everything. Rings are read in batches and released batch by batch.
    size_t drain(uint64_t watermark_ns, RecordHandler& handler);

    // Once, after the last drain: closes gaps still open with the ring's final lost counter, so
    // that lost_in_gaps equals lost() for each ring.
    void finish(uint64_t now_ns, RecordHandler& handler);

    [[nodiscard]] const MergerCounters& counters() const { return counters_; }
    [[nodiscard]] const std::vector<RingLedger>& rings() const { return ledgers_; }

private:
    struct Ring {
        std::vector<RecordView> batch;  // peeked; those before `next` are delivered
        size_t next = 0;
        uint32_t expected_seq = 0;
        bool gap_is_open = false;  // gap_begin delivered, gap_end not yet
        uint64_t last_ns = 0;      // time of the newest delivered record, 0: none
        uint64_t explained = 0;    // part of lost() that gap_end counts cover
        uint64_t awaited = 0;      // jumped over but not lost: expected to arrive late
    };

    static constexpr size_t kTakenMax = 256;

    // Rings whose head may be delivered now, as a binary heap with the earliest on top.
    struct Head {
        uint64_t time_ns;
        uint32_t ring;
    };

    // On its way through a ring's batch, over records about which nothing is special: the next
    // number, whole, for the handler.
    struct Cursor {
        const RecordView* view;
        const RecordView* end;
        uint32_t seq;  // the expected one

        [[nodiscard]] bool is_jump() const { return view->seq != seq; }
        [[nodiscard]] bool is_plain() const {
            return !is_jump() && view->size != 0 && view->kind != TR_KIND_none;
        }
        void advance() {
            ++view;
            ++seq;
        }
    };
    [[nodiscard]] static Cursor cursor_of(const Ring& ring) {
        const RecordView* const begin = ring.batch.data();
        return {begin + ring.next, begin + ring.batch.size(), ring.expected_seq};
    }
    void settle(size_t index, const Cursor& cursor);
    void note_order(uint64_t time_ns) {
        if (time_ns < newest_ns_) [[unlikely]] {
            ++counters_.late;
        } else {
            newest_ns_ = time_ns;
        }
    }

    // Makes sure that the ring has a head; false if it has nothing more.
    [[nodiscard]] bool has_head(size_t index, RecordHandler& handler) {
        const Ring& ring = rings_[index];
        return ring.next < ring.batch.size() || refill(index, handler);
    }
    [[nodiscard]] bool refill(size_t index, RecordHandler& handler);
    void take_from_top(uint64_t last_ns, RecordHandler& handler);
    void take_from_two(uint64_t last_ns, RecordHandler& handler);
    void take_special(size_t index, bool has_taken, uint64_t limit_ns, RecordHandler& handler);
    void take_any(size_t index, RecordHandler& handler);
    void hand_over(RecordHandler& handler);
    void sift_down(size_t position);

    [[nodiscard]] uint64_t unexplained(size_t index) const;
    [[nodiscard]] uint64_t lost_before(size_t index, uint64_t& jumped);
    void before_jump(size_t index, RecordHandler& handler);
    void arrive_out_of_sequence(size_t index, RecordHandler& handler);
    void begin_gap_at_end(size_t index, RecordHandler& handler);
    void begin_gap(size_t index, uint64_t earliest_ns, RecordHandler& handler);
    void end_gap(size_t index, uint64_t time_ns, uint64_t count, RecordHandler& handler);

    RecordSource& source_;
    MergerCounters counters_;
    std::vector<RingLedger> ledgers_;
    std::vector<Ring> rings_;
    std::vector<Head> heap_;
    // Taken from the rings, in order, and on their way to the handler: before anything that is not
    // one of them reaches it, and before a ring takes one back, they are handed over.
    std::array<RecordView, kTakenMax> taken_{};
    size_t taken_count_ = 0;
    uint64_t newest_ns_ = 0;  // of all that was taken
};

}  // namespace tracer
