// SPDX-License-Identifier: Apache-2.0
//
// The writing functions of tracer_ring.h that take no registered event. The time is taken when the
// ring is the thread's, so that times never go back within a ring. What ring_record.h says about
// order holds for all of it.
#include "ring/producer/ring_record.h"

#include <errno.h>

void tr_record_make_room(struct tr_ring* ring, uint64_t needed) {
    uint64_t head = ring->head;
    while (ring->tail + needed - head >= ring->words) {
        const uint64_t first =
            __atomic_load_n(&ring->data[head & (ring->words - 1)], __ATOMIC_RELAXED);
        const uint64_t length = first >> TR_RING_LENGTH_SHIFT;
        // Somebody else wrote into the ring, or it is not the file's any more (fork within a
        // write): nothing in it can be kept, but no length may keep this loop going.
        if (length == 0 || length > ring->tail - head) {
            head = ring->tail;
            break;
        }
        head += length;
    }
    ring->head = head;
    tr_word_store(&ring->header->head, head);
#ifndef __SANITIZE_THREAD__  // which does not know fences
    __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

int tracer_ring_put(uint64_t bits) {
    struct tr_thread* self = &tr_self;
    const int entered = tr_thread_enter(self);
    if (__builtin_expect(entered != 1, 0)) return entered;
    tr_record_put(self->ring, bits);
    tr_thread_leave(self);
    return 0;
}

int tracer_ring_put_value(uint64_t bits, int64_t value) {
    struct tr_thread* self = &tr_self;
    const int entered = tr_thread_enter(self);
    if (__builtin_expect(entered != 1, 0)) return entered;
    tr_record_put_value(self->ring, bits, (uint64_t)value);
    tr_thread_leave(self);
    return 0;
}

int tracer_ring_put_words(uint64_t bits, const uint64_t* words, uint32_t count) {
    struct tr_thread* self = &tr_self;
    const int entered = tr_thread_enter(self);
    if (__builtin_expect(entered != 1, 0)) return entered;
    struct tr_ring* ring = self->ring;
    int result = -EMSGSIZE;
    if (tr_record_fits(ring, 2 + (uint64_t)count)) {
        const uint64_t time_ns = tr_clock_now_ns(&ring->clock);
        uint64_t* record = tr_record_room(ring, 2 + count);
        for (uint32_t i = 0; i < count; ++i) tr_word_store(&record[2 + i], words[i]);
        tr_record_publish(ring, record, bits, 2 + count, time_ns);
        result = 0;
    }
    tr_thread_leave(self);
    return result;
}
