// SPDX-License-Identifier: Apache-2.0
//
// Slots found by the hash of what they hold, and which of them was used longest ago. Everything is
// allocated when it is made; looking up, taking and touching allocate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer::fxt {

class LruSlots {
public:
    static constexpr uint32_t kNone = UINT32_MAX;

    explicit LruSlots(uint32_t count);

    [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(slots_.size()); }
    [[nodiscard]] bool is_held(uint32_t slot) const { return slots_[slot].is_held; }

    // The slot under `hash` for which is_it(slot) holds, else kNone.
    template <typename Predicate>
    [[nodiscard]] uint32_t find(uint64_t hash, const Predicate& is_it) const {
        if (slots_.empty()) return kNone;
        for (uint32_t slot = buckets_[bucket_of(hash)]; slot != kNone;
             slot = slots_[slot].next_in_bucket) {
            if (slots_[slot].hash == hash && is_it(slot)) return slot;
        }
        return kNone;
    }

    // The slot to be taken next: a free one, the lowest first, else the one used longest ago that
    // is not pinned. kNone: all are pinned.
    [[nodiscard]] uint32_t oldest() const { return oldest_; }
    // Gives `slot`, which oldest() returned, to what has this hash, and makes it the newest.
    void take(uint32_t slot, uint64_t hash);

    void touch(uint32_t slot) {
        if (slot == newest_ || slots_[slot].is_pinned) return;
        unlink(slot);
        append(slot);
    }

    // A pinned slot is never oldest().
    void pin(uint32_t slot);
    [[nodiscard]] bool is_pinned(uint32_t slot) const { return slots_[slot].is_pinned; }

    // Frees all slots but the pinned ones.
    void forget();

private:
    struct Slot {
        uint64_t hash = 0;
        uint32_t older = kNone;
        uint32_t newer = kNone;
        uint32_t next_in_bucket = kNone;
        bool is_held = false;
        bool is_pinned = false;
    };

    [[nodiscard]] size_t bucket_of(uint64_t hash) const { return hash & (buckets_.size() - 1); }
    void unlink(uint32_t slot);
    void append(uint32_t slot);
    void enter_bucket(uint32_t slot, uint64_t hash);
    void leave_bucket(uint32_t slot);

    std::vector<Slot> slots_;
    std::vector<uint32_t> buckets_;  // a power of two
    uint32_t oldest_ = kNone;
    uint32_t newest_ = kNone;
};

}  // namespace tracer::fxt
