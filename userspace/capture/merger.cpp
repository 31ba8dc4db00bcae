// SPDX-License-Identifier: Apache-2.0
//
// The k-way merge. Rings with something to deliver sit in a binary heap keyed by the time of their
// head; the top ring's records are taken as one run until they pass the second smallest head, so
// that a ring that is alone or far behind costs no heap work per record. With the usual two to
// eight rings the heap is one to three levels deep, as cheap as a scan. What is taken goes to the
// handler some hundred records at a time: a call for each would cost as much as the merge.
//
// Sequence numbers. A ring's next number is known, so the common case is one comparison. When a
// record is not the expected one, the few records after it are searched for the missing numbers
// first (an interrupt's program may overtake the one it interrupted); what is still missing is a
// gap as far as the ring's lost counter has advanced beyond what earlier gaps explained.
//
// Called by the session's drain thread; the source is a set of kernel rings or a test's fake.
#include "capture/merger.h"

#include "tracer/abi/event.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tracer {

namespace {

// Small enough that the records of a batch are still in the nearest cache when they are decoded.
constexpr size_t kBatchRecords = 256;

// How far behind its place a record may come: the depth that interrupts' programs can nest on one
// CPU (task, soft interrupt, hard interrupt, NMI), several times over.
constexpr size_t kReorderWindow = 16;

// How far behind its place a late record's number may be. More would take records that come after
// a huge gap, whose numbers have wrapped, for late ones.
constexpr uint32_t kReorderDistance = 1U << 16;

constexpr uint32_t kHalfOfSeq = 1U << 31;

bool is_earlier(uint64_t time_a, uint32_t ring_a, uint64_t time_b, uint32_t ring_b) {
    return time_a != time_b ? time_a < time_b : ring_a < ring_b;
}

}  // namespace

Merger::Merger(RecordSource& source)
    : source_(source), ledgers_(source.ring_count()), rings_(source.ring_count()) {
    heap_.reserve(rings_.size());
    for (Ring& ring : rings_) ring.batch.reserve(kBatchRecords + kReorderWindow);
}

size_t Merger::drain(uint64_t watermark_ns, RecordHandler& handler) {
    const uint64_t before = counters_.records + counters_.malformed;
    if (watermark_ns == 0) return 0;
    const uint64_t last_ns = watermark_ns == UINT64_MAX ? UINT64_MAX : watermark_ns - 1;

    heap_.clear();
    for (size_t i = 0; i < rings_.size(); ++i) {
        if (!has_head(i, handler)) continue;
        const uint64_t head_ns = rings_[i].batch[rings_[i].next].time_ns;
        if (head_ns <= last_ns) heap_.push_back({head_ns, static_cast<uint32_t>(i)});
    }
    for (size_t i = heap_.size() / 2; i-- > 0;) sift_down(i);

    // Invariant: every ring in the heap has a head at or before last_ns, and every ring outside it
    // has none. A ring found empty stays out until the next drain: what is written to it from now
    // on is newer than the watermark.
    while (!heap_.empty()) {
        if (heap_.size() == 2) take_from_two(last_ns, handler);
        if (!heap_.empty()) take_from_top(last_ns, handler);
    }

    hand_over(handler);
    for (size_t i = 0; i < rings_.size(); ++i) {
        Ring& ring = rings_[i];
        if (ring.next == 0) continue;
        source_.release(i, ring.next);
        ring.batch.erase(ring.batch.begin(), ring.batch.begin() + static_cast<long>(ring.next));
        ring.next = 0;
    }
    return counters_.records + counters_.malformed - before;
}

void Merger::finish(uint64_t now_ns, RecordHandler& handler) {
    for (size_t i = 0; i < rings_.size(); ++i) {
        const uint64_t pending = unexplained(i);
        if (!rings_[i].gap_is_open && pending == 0) continue;
        if (!rings_[i].gap_is_open) begin_gap(i, now_ns, handler);
        end_gap(i, now_ns, pending, handler);
    }
}

// The batch is used up. Finding the ring empty is the moment to ask whether records were lost after
// its last one.
bool Merger::refill(size_t index, RecordHandler& handler) {
    Ring& ring = rings_[index];
    hand_over(handler);
    if (ring.next != 0) source_.release(index, ring.next);
    ring.batch.clear();
    ring.next = 0;
    source_.peek(index, kBatchRecords, ring.batch);
    if (ring.batch.empty()) {
        if (unexplained(index) == 0) return false;
        // A record that was written before the loss may have become visible since the first look;
        // only a second empty look says that the loss comes next.
        source_.peek(index, kBatchRecords, ring.batch);
        if (ring.batch.empty()) {
            begin_gap_at_end(index, handler);
            return false;
        }
    }
    if (ring.batch.front().seq != ring.expected_seq) before_jump(index, handler);
    return true;
}

// Takes the records of the earliest ring that come before those of the others, as long as nothing
// about them is special: the next number, whole, for the handler. Nearly every record is taken by
// this loop; with several busy CPUs it runs once or twice a call, so what stands around it counts.
void Merger::take_from_top(uint64_t last_ns, RecordHandler& handler) {
    const size_t index = heap_.front().ring;
    uint64_t limit_ns = last_ns;
    if (heap_.size() > 1) limit_ns = std::min(limit_ns, heap_[1].time_ns);
    if (heap_.size() > 2) limit_ns = std::min(limit_ns, heap_[2].time_ns);

    Ring& ring = rings_[index];
    Cursor cursor = cursor_of(ring);
    const RecordView* const begin = cursor.view;
    size_t taken = taken_count_;
    for (; cursor.view != cursor.end && taken != kTakenMax; cursor.advance()) {
        if (cursor.view->time_ns > limit_ns || !cursor.is_plain()) break;
        note_order(cursor.view->time_ns);
        taken_[taken++] = *cursor.view;
    }
    taken_count_ = taken;
    settle(index, cursor);
    if (cursor.view == cursor.end || cursor.view->time_ns <= limit_ns || cursor.is_jump())
        [[unlikely]] {
        take_special(index, cursor.view != begin, limit_ns, handler);
    }

    if (has_head(index, handler) && ring.batch[ring.next].time_ns <= last_ns) {
        heap_.front().time_ns = ring.batch[ring.next].time_ns;
    } else {
        heap_.front() = heap_.back();
        heap_.pop_back();
    }
    if (heap_.size() > 1) sift_down(0);
}

// The same for two rings, in the same order but without the heap between them: two busy CPUs take
// turns at nearly every record. Ends where a ring needs a closer look, or the next batch.
void Merger::take_from_two(uint64_t last_ns, RecordHandler& handler) {
    struct Side {
        uint32_t index;
        Cursor cursor;
    };
    Side sides[] = {{heap_[0].ring, cursor_of(rings_[heap_[0].ring])},
                    {heap_[1].ring, cursor_of(rings_[heap_[1].ring])}};
    Side* top = &sides[0];
    Side* other = &sides[1];
    bool has_jumped = false;
    size_t taken = taken_count_;
    while (taken != kTakenMax) {
        if (top->cursor.view->time_ns > other->cursor.view->time_ns) std::swap(top, other);
        Cursor& cursor = top->cursor;
        if (cursor.view->time_ns > last_ns || !cursor.is_plain()) break;
        note_order(cursor.view->time_ns);
        taken_[taken++] = *cursor.view;
        cursor.advance();
        has_jumped = cursor.view != cursor.end && cursor.is_jump();
        if (cursor.view == cursor.end || has_jumped) break;
    }
    taken_count_ = taken;
    heap_.clear();
    for (const Side& side : sides) settle(side.index, side.cursor);
    if (has_jumped) before_jump(top->index, handler);
    for (const Side& side : sides) {
        if (!has_head(side.index, handler)) continue;
        const uint64_t head_ns = rings_[side.index].batch[rings_[side.index].next].time_ns;
        if (head_ns <= last_ns) heap_.push_back({head_ns, side.index});
    }
    if (heap_.size() == 2) sift_down(0);
}

// The ring is delivered up to the cursor.
void Merger::settle(size_t index, const Cursor& cursor) {
    Ring& ring = rings_[index];
    const auto count = static_cast<size_t>(cursor.view - (ring.batch.data() + ring.next));
    if (count == 0) return;
    ring.expected_seq = cursor.seq;
    ring.next += count;
    ring.last_ns = cursor.view[-1].time_ns;
    ledgers_[index].records += count;
    counters_.records += count;
}

// What stopped take_from_top(), if not another ring's turn. `has_taken`: it took records first.
void Merger::take_special(size_t index, bool has_taken, uint64_t limit_ns, RecordHandler& handler) {
    const Ring& ring = rings_[index];
    if (ring.next == ring.batch.size()) return;
    if (has_taken && ring.batch[ring.next].seq != ring.expected_seq) before_jump(index, handler);
    if (ring.batch[ring.next].time_ns <= limit_ns) take_any(index, handler);
}

// Takes the ring's head, whatever it is.
void Merger::take_any(size_t index, RecordHandler& handler) {
    Ring& ring = rings_[index];
    const RecordView view = ring.batch[ring.next];
    if (view.seq == ring.expected_seq) {
        ++ring.expected_seq;
    } else {
        arrive_out_of_sequence(index, handler);
    }
    ++ring.next;
    ++ledgers_[index].records;
    if (view.size == 0) {
        ++counters_.malformed;
    } else {
        ++counters_.records;
        ring.last_ns = view.time_ns;
        if (view.kind != TR_KIND_none) {
            note_order(view.time_ns);
            if (taken_count_ == kTakenMax) hand_over(handler);
            taken_[taken_count_++] = view;
        }
    }
    if (ring.next < ring.batch.size() && ring.batch[ring.next].seq != ring.expected_seq) {
        before_jump(index, handler);
    }
}

void Merger::hand_over(RecordHandler& handler) {
    if (taken_count_ == 0) return;
    handler.on_records({taken_.data(), taken_count_});
    taken_count_ = 0;
}

void Merger::sift_down(size_t position) {
    const Head moved = heap_[position];
    const size_t count = heap_.size();
    if (count == 2) {
        // Two busy CPUs are common, and a comparison is all they need.
        if (position == 0 &&
            is_earlier(heap_[1].time_ns, heap_[1].ring, moved.time_ns, moved.ring)) {
            std::swap(heap_[0], heap_[1]);
        }
        return;
    }
    for (;;) {
        size_t child = 2 * position + 1;
        if (child >= count) break;
        if (child + 1 < count && is_earlier(heap_[child + 1].time_ns, heap_[child + 1].ring,
                                            heap_[child].time_ns, heap_[child].ring)) {
            ++child;
        }
        if (!is_earlier(heap_[child].time_ns, heap_[child].ring, moved.time_ns, moved.ring)) break;
        heap_[position] = heap_[child];
        position = child;
    }
    heap_[position] = moved;
}

// Attempts known to be lost that no gap has told of yet.
uint64_t Merger::unexplained(size_t index) const {
    const uint64_t lost = source_.lost(index);
    return lost > rings_[index].explained ? lost - rings_[index].explained : 0;
}

// How many records are lost between the last one delivered and the ring's head. `jumped`: how far
// the head's number is beyond the expected one; 0 if it lies behind.
uint64_t Merger::lost_before(size_t index, uint64_t& jumped) {
    Ring& ring = rings_[index];
    const size_t position = ring.next;
    const uint32_t first = ring.expected_seq;
    const uint32_t distance = ring.batch[position].seq - first;
    const uint64_t pending = unexplained(index);
    jumped = 0;
    if (distance >= kHalfOfSeq && pending < distance) return 0;
    jumped = distance;

    if (ring.batch.size() - position <= kReorderWindow) {
        source_.peek(index, kReorderWindow, ring.batch);
    }
    uint64_t missing = distance;
    const size_t end = std::min(ring.batch.size(), position + 1 + kReorderWindow);
    for (size_t i = position + 1; i < end && missing != 0; ++i) {
        const uint32_t seq = ring.batch[i].seq;
        const bool lies_between = seq - first < distance;
        if (lies_between && ring.batch[position].seq - seq < kReorderDistance) --missing;
    }
    // More than 2^32 lost in one gap leave no trace in seq beyond the remainder.
    if (missing != 0 && pending > missing) missing += ((pending - missing) >> 32) << 32;
    return std::min(missing, pending);
}

// The ring's head is not the record that should follow: if records are lost between, say so now,
// before anything later of another ring is delivered. (Before the very first delivery there is no
// time to give it: then it is told when the head itself is delivered.)
void Merger::before_jump(size_t index, RecordHandler& handler) {
    if (rings_[index].gap_is_open || newest_ns_ == 0) return;
    uint64_t jumped = 0;
    if (lost_before(index, jumped) != 0) begin_gap(index, newest_ns_, handler);
}

void Merger::arrive_out_of_sequence(size_t index, RecordHandler& handler) {
    Ring& ring = rings_[index];
    const RecordView view = ring.batch[ring.next];
    uint64_t jumped = 0;
    const uint64_t lost = lost_before(index, jumped);
    if (jumped == 0) {
        ++ledgers_[index].out_of_order;
        if (ring.awaited != 0) --ring.awaited;
        return;
    }
    if (lost != 0) {
        if (!ring.gap_is_open) begin_gap(index, view.time_ns, handler);
        end_gap(index, view.time_ns, lost, handler);
    }
    ring.awaited += jumped > lost ? jumped - lost : 0;
    ring.expected_seq = view.seq + 1;
}

// Records were lost and nothing has come since. If an earlier jump is still waiting for records,
// it is those that were lost (the counter is advanced after the number is taken, and an interrupt
// may come between); else the loss begins here.
void Merger::begin_gap_at_end(size_t index, RecordHandler& handler) {
    Ring& ring = rings_[index];
    if (ring.gap_is_open || newest_ns_ == 0) return;
    const uint64_t earlier = std::min(ring.awaited, unexplained(index));
    if (earlier != 0) {
        ring.awaited -= earlier;
        begin_gap(index, newest_ns_, handler);
        end_gap(index, newest_ns_, earlier, handler);
    }
    if (unexplained(index) != 0) begin_gap(index, newest_ns_, handler);
}

// `earliest_ns` is the time to give when nothing was delivered yet. The time is never before what
// was delivered already: a gap that is seen only when its
// ring is found empty began after everything delivered so far, because all of that is older than
// the watermark and the counter had not moved when it was read last.
void Merger::begin_gap(size_t index, uint64_t earliest_ns, RecordHandler& handler) {
    Ring& ring = rings_[index];
    hand_over(handler);
    ring.gap_is_open = true;
    ++counters_.gaps;
    const uint64_t newest_ns = std::max(ring.last_ns, newest_ns_);
    newest_ns_ = newest_ns != 0 ? newest_ns : earliest_ns;
    const tr_gap gap{.header = {.size = sizeof(tr_gap),
                                .kind = TR_KIND_gap_begin,
                                .time_ns = newest_ns_,
                                .seq = ring.expected_seq,
                                .cpu = static_cast<uint16_t>(std::min<size_t>(index, UINT16_MAX))},
                     .begin_ns = ring.last_ns};
    handler.on_record(std::as_bytes(std::span(&gap, 1)));
}

void Merger::end_gap(size_t index, uint64_t time_ns, uint64_t count, RecordHandler& handler) {
    Ring& ring = rings_[index];
    hand_over(handler);
    ring.gap_is_open = false;
    ring.explained += count;
    ledgers_[index].lost_in_gaps += count;
    newest_ns_ = std::max(newest_ns_, time_ns);
    const tr_gap gap{.header = {.size = sizeof(tr_gap),
                                .kind = TR_KIND_gap_end,
                                .time_ns = newest_ns_,
                                .seq = ring.expected_seq,
                                .cpu = static_cast<uint16_t>(std::min<size_t>(index, UINT16_MAX))},
                     .count = count,
                     .begin_ns = ring.last_ns};
    handler.on_record(std::as_bytes(std::span(&gap, 1)));
}

}  // namespace tracer
