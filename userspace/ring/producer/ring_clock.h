// SPDX-License-Identifier: Apache-2.0
//
// The time of an event: CLOCK_MONOTONIC, read, or carried on by the processor's counter for a
// millisecond at a time, which costs less than half.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Of one ring, its owner's.
struct tr_clock {
    bool is_counted;      // by the processor's counter
    uint64_t last_ns;     // given out
    uint64_t base_ticks;  // a moment by both clocks
    uint64_t base_ns;
    uint64_t window_ticks;  // how long the base is good for; 0: the rate is not known yet
    uint64_t ns_per_tick;   // times 2^32
    uint64_t rate_ticks;    // the moment that the rate is measured from
    uint64_t rate_ns;
    uint64_t between_ticks;  // what reading both clocks takes of late
};

// Whether the counter runs at one rate on all processors and while they sleep.
bool tr_clock_can_count(void);
// Reads the clock, and makes this moment the base.
uint64_t tr_clock_read_again(struct tr_clock* clock);

static inline uint64_t tr_clock_read(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Never less than before.
static inline uint64_t tr_clock_now_ns(struct tr_clock* clock) {
#ifdef __x86_64__
    if (clock->is_counted) {
        const uint64_t since = __builtin_ia32_rdtsc() - clock->base_ticks;
        // On another processor it may be a little behind: then this is a very large number.
        if (__builtin_expect(since >= clock->window_ticks, 0)) return tr_clock_read_again(clock);
        const uint64_t now_ns = clock->base_ns + (since * clock->ns_per_tick >> 32);
        if (now_ns > clock->last_ns) clock->last_ns = now_ns;
        return clock->last_ns;
    }
#endif
    (void)clock;
    return tr_clock_read();
}
