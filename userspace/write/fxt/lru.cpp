// SPDX-License-Identifier: Apache-2.0
//
// Slots in the order of their last use: a doubly linked list by index, and chains of slots whose
// hashes meet in one bucket. Used by both tables.
#include "tracer/write/fxt/lru.h"

#include "tracer/base/result.h"

#include <bit>
#include <cstddef>

namespace tracer::fxt {

LruSlots::LruSlots(uint32_t count)
    : slots_(count), buckets_(std::bit_ceil(size_t{count} * 2 + 1), kNone) {
    forget();
}

void LruSlots::take(uint32_t slot, uint64_t hash) {
    TR_CHECK(slot == oldest_);
    if (slots_[slot].is_held) leave_bucket(slot);
    unlink(slot);
    append(slot);
    enter_bucket(slot, hash);
}

void LruSlots::pin(uint32_t slot) {
    TR_CHECK(slots_[slot].is_held);
    if (slots_[slot].is_pinned) return;
    unlink(slot);
    slots_[slot].is_pinned = true;
}

void LruSlots::forget() {
    for (uint32_t& bucket : buckets_) bucket = kNone;
    oldest_ = newest_ = kNone;
    for (uint32_t slot = 0; slot < count(); ++slot) {
        if (slots_[slot].is_pinned) {
            enter_bucket(slot, slots_[slot].hash);
        } else {
            slots_[slot].is_held = false;
            append(slot);
        }
    }
}

void LruSlots::unlink(uint32_t slot) {
    const Slot& gone = slots_[slot];
    (gone.older == kNone ? oldest_ : slots_[gone.older].newer) = gone.newer;
    (gone.newer == kNone ? newest_ : slots_[gone.newer].older) = gone.older;
}

void LruSlots::append(uint32_t slot) {
    slots_[slot].older = newest_;
    slots_[slot].newer = kNone;
    (newest_ == kNone ? oldest_ : slots_[newest_].newer) = slot;
    newest_ = slot;
}

void LruSlots::enter_bucket(uint32_t slot, uint64_t hash) {
    uint32_t& bucket = buckets_[bucket_of(hash)];
    slots_[slot].hash = hash;
    slots_[slot].is_held = true;
    slots_[slot].next_in_bucket = bucket;
    bucket = slot;
}

void LruSlots::leave_bucket(uint32_t slot) {
    uint32_t* link = &buckets_[bucket_of(slots_[slot].hash)];
    while (*link != slot) link = &slots_[*link].next_in_bucket;
    *link = slots_[slot].next_in_bucket;
}

}  // namespace tracer::fxt
