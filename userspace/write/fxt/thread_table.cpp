// SPDX-License-Identifier: Apache-2.0
//
// The thread table of one Fuchsia trace (document section "Thread record"). Writes its own records,
// before the record that needs them. Used by Stream.
#include "tracer/write/fxt/record.h"
#include "tracer/write/fxt/tables.h"

namespace tracer::fxt {
namespace {

uint64_t hash_of(const ThreadIds& ids) {
    // Multiplying by the golden ratio spreads ids that follow one another; the high half is mixed
    // best and buckets are chosen by the low bits.
    const uint64_t product = (ids.process * 31 + ids.thread) * 0x9e3779b97f4a7c15U;
    return product ^ product >> 32;
}

bool write_thread(SinkWindow& window, unsigned slot, const ThreadIds& ids) {
    Record record(window, kThreadRecordWords);
    if (!record.has_room()) return false;
    record.word(thread_record_header(static_cast<uint8_t>(slot)));
    record.word(ids.process);
    record.word(ids.thread);
    record.commit();
    return true;
}

}  // namespace

ThreadTable::ThreadTable(uint8_t slots)
    : first_cached_(static_cast<uint16_t>(slots + 1U)), cache_(kThreadSlotMax - uint32_t{slots}) {
    generations_.fill(kUndefined);
}

Outcome ThreadTable::define_slot(SinkWindow& window, uint8_t slot, const ThreadIds& ids) {
    if (slot == 0 || slot >= first_cached_) return Fault::index_out_of_range;
    if (!write_thread(window, slot, ids)) return Fault::no_room;
    define(slot, ids, 0);
    return {};
}

// After its record has been written.
void ThreadTable::define(unsigned slot, const ThreadIds& ids, uint32_t generation) {
    Slot& defined = slots_[slot];
    if (generations_[slot] != kUndefined && !defined.is_written) unwritten_ -= 1;
    defined = {.ids = ids, .times_given = generation, .is_written = true};
    generations_[slot] = generation;
}

void ThreadTable::touch_slot(uint8_t slot) {
    last_used_ = slot;
    if (slot >= first_cached_) cache_.touch(slot - uint32_t{first_cached_});
}

ThreadRef ThreadTable::find(SinkWindow& window, const ThreadIds& ids) {
    return find_or_assign(window, ids).value_or(ThreadRef(ids));
}

tl::expected<ThreadRef, Fault> ThreadTable::pin(SinkWindow& window, const ThreadIds& ids) {
    auto ref = find_or_assign(window, ids);
    if (ref) cache_.pin(uint32_t{ref->slot()} - first_cached_);
    return ref;
}

tl::expected<uint8_t, Fault> ThreadTable::use_again(SinkWindow& window, const ThreadRef& ref) {
    if (ref.slot() == 0) return uint8_t{0};
    if (ref.generation() == 0) return tl::unexpected(Fault::not_defined);
    const auto found = find_or_assign(window, ref.ids());
    if (found) return found->slot();
    if (found.error() == Fault::table_full) return uint8_t{0};
    return tl::unexpected(found.error());
}

tl::expected<ThreadRef, Fault> ThreadTable::find_or_assign(SinkWindow& window,
                                                           const ThreadIds& ids) {
    const uint64_t hash = hash_of(ids);
    uint32_t place =
        cache_.find(hash, [&](uint32_t it) { return slots_[first_cached_ + it].ids == ids; });
    if (place != LruSlots::kNone) {
        touch_slot(static_cast<uint8_t>(first_cached_ + place));
    } else {
        place = cache_.oldest();
        if (place == LruSlots::kNone) return tl::unexpected(Fault::table_full);
        if (!write_thread(window, first_cached_ + place, ids)) {
            return tl::unexpected(Fault::no_room);
        }
        cache_.take(place, hash);
        const unsigned taken = first_cached_ + place;
        define(taken, ids, slots_[taken].times_given + 1);
        last_used_ = static_cast<uint8_t>(taken);
    }
    const auto slot = static_cast<uint8_t>(first_cached_ + place);
    return ThreadRef::at(slot, ids, generations_[slot]);
}

bool ThreadTable::write_pending(SinkWindow& window) {
    for (unsigned i = 1; i <= kThreadSlotMax && unwritten_ != 0; ++i) {
        Slot& slot = slots_[i];
        if (generations_[i] == kUndefined || slot.is_written) continue;
        if (!write_thread(window, i, slot.ids)) return false;
        slot.is_written = true;
        unwritten_ -= 1;
    }
    return true;
}

void ThreadTable::restart() {
    unwritten_ = 0;
    last_used_ = 0;
    cache_.forget();
    for (unsigned i = 1; i <= kThreadSlotMax; ++i) {
        const bool stays = i < first_cached_ || cache_.is_pinned(i - first_cached_);
        if (!stays) generations_[i] = kUndefined;
        slots_[i].is_written = false;
        unwritten_ += generations_[i] != kUndefined ? 1 : 0;
    }
}

}  // namespace tracer::fxt
