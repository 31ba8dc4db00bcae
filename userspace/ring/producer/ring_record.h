// SPDX-License-Identifier: Apache-2.0
//
// Writing one record into a ring that the caller owns. All stores to the ring are relaxed and whole
// words: a reader that sees any of them also sees the head that was moved past the record they
// overwrite, because a release fence stands between (the reader loads the words, an acquire fence,
// the head). The tail is stored last, with release order, once a record.
#pragma once

#include "ring/producer/ring_thread.h"

static inline void tr_word_store(uint64_t* word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

// Steps the head over the oldest records until `needed` words and one more are free.
void tr_record_make_room(struct tr_ring* ring, uint64_t needed);

// Where a record of `words` begins; at most half a ring.
static inline uint64_t* tr_record_room(struct tr_ring* ring, uint32_t words) {
    const uint64_t at = ring->tail & (ring->words - 1);
    const uint64_t rest = ring->words - at;
    const uint64_t filler = words > rest ? rest : 0;
    const uint64_t needed = filler + words;
    if (ring->tail + needed - ring->head >= ring->words) tr_record_make_room(ring, needed);
    if (__builtin_expect(filler != 0, 0)) {
        tr_word_store(&ring->data[at], filler << TR_RING_LENGTH_SHIFT);
        ring->tail += filler;
        return ring->data;
    }
    return &ring->data[at];
}

// The payload is stored already.
static inline void tr_record_publish(
    struct tr_ring* ring, uint64_t* record, uint64_t bits, uint32_t words, uint64_t time_ns) {
    const uint64_t sequence = ring->sequence + 1;
    tr_word_store(&record[0], (uint64_t)words << TR_RING_LENGTH_SHIFT | bits |
                                  (sequence & TR_RING_SEQUENCE_MASK));
    tr_word_store(&record[1], time_ns);
    ring->sequence = sequence;
    ring->tail += words;
    tr_word_store(&ring->header->events, sequence);
    __atomic_store_n(&ring->header->tail, ring->tail, __ATOMIC_RELEASE);
}

static inline bool tr_record_fits(const struct tr_ring* ring, uint64_t words) {
    return words <= ring->words / 2;
}

static inline void tr_record_put(struct tr_ring* ring, uint64_t bits) {
    const uint64_t time_ns = tr_clock_now_ns(&ring->clock);
    tr_record_publish(ring, tr_record_room(ring, 2), bits, 2, time_ns);
}

static inline void tr_record_put_value(struct tr_ring* ring, uint64_t bits, uint64_t value) {
    const uint64_t time_ns = tr_clock_now_ns(&ring->clock);
    uint64_t* record = tr_record_room(ring, 3);
    tr_word_store(&record[2], value);
    tr_record_publish(ring, record, bits, 3, time_ns);
}
