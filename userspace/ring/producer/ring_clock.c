// SPDX-License-Identifier: Apache-2.0
//
// The processor's counter as CLOCK_MONOTONIC (ring_environment.c says when). A base is a moment by
// both clocks; for a tenth of a millisecond from it the counter tells the time, at a rate measured
// over ten milliseconds. The kernel changes its clock's rate by at most 500 ppm, which is 50 ns in
// that time; the rest of the error is that of the base, half of what reading both clocks takes.
// Where it makes no sense (the counter was changed under us) the rate is measured anew, and the
// clock read until it is known.
#include "ring/producer/ring_clock.h"

#include <stddef.h>

#ifdef __x86_64__
#include <cpuid.h>

#define WINDOW_NS 100000u
// Of the rate: long enough that an error of 50 ns in both moments is nothing.
#define RATE_NS 10000000u
#define FIRST_RATE_NS 1000000u
#define ATTEMPTS 4
// Between the counter's readings around the clock's, at most; else something came between.
#define BETWEEN_TICKS_MAX 1000u

bool tr_clock_can_count(void) {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    // "Invariant TSC": Intel's manual volume 3, 18.17.1; AMD's volume 3, E.4.6.
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

// One moment by both clocks, from the quickest of a few readings: half of what it took is the
// error. The first that is about as quick as ever is taken. False: only `ns` is good, something
// came between every time.
static bool read_both(struct tr_clock* clock, uint64_t* ticks, uint64_t* ns) {
    uint64_t least = BETWEEN_TICKS_MAX;
    bool is_good = false;
    for (int i = 0; i < ATTEMPTS; ++i) {
        const uint64_t before = __builtin_ia32_rdtsc();
        const uint64_t now_ns = tr_clock_read();
        const uint64_t between = __builtin_ia32_rdtsc() - before;
        if (!is_good || between < least) *ns = now_ns;
        if (between >= least) continue;
        least = between;
        *ticks = before + between / 2;
        is_good = true;
        if (between <= clock->between_ticks + clock->between_ticks / 4) break;
    }
    // It forgets slowly: another processor may be slower.
    if (is_good) clock->between_ticks = (3 * clock->between_ticks + least + 3) / 4;
    return is_good;
}

// The rate from where it was last measured to here, if it is time and makes sense.
static void measure_rate(struct tr_clock* clock, uint64_t ticks, uint64_t now_ns) {
    const uint64_t elapsed_ns = now_ns - clock->rate_ns;
    const bool is_first = clock->window_ticks == 0;
    if (clock->rate_ticks != 0 && elapsed_ns < (is_first ? FIRST_RATE_NS : RATE_NS)) return;
    const uint64_t elapsed_ticks = ticks - clock->rate_ticks;
    uint64_t rate = 0;
    // Counters run at 0.5 to 8 GHz; of a long pause only the latest moment is taken.
    if (clock->rate_ticks != 0 && elapsed_ns < 1000000000u && elapsed_ticks > elapsed_ns / 2 &&
        elapsed_ticks < elapsed_ns * 8) {
        rate = (elapsed_ns << 32) / elapsed_ticks;
    }
    const uint64_t known = clock->ns_per_tick;
    const bool is_likely = is_first || (rate > known - known / 500 && rate < known + known / 500);
    clock->rate_ticks = ticks;
    clock->rate_ns = now_ns;
    if (rate != 0 && is_likely) {
        clock->ns_per_tick = rate;
        clock->window_ticks = ((uint64_t)WINDOW_NS << 32) / rate;
    } else if (elapsed_ns < 1000000000u) {
        clock->window_ticks = 0;
    }
}

uint64_t tr_clock_read_again(struct tr_clock* clock) {
    uint64_t ticks = 0;
    uint64_t now_ns = 0;
    if (read_both(clock, &ticks, &now_ns)) {
        measure_rate(clock, ticks, now_ns);
        clock->base_ticks = ticks;
        clock->base_ns = now_ns;
    } else {
        // Until the next event's try the clock is read.
        clock->base_ticks = 0;
    }
    if (now_ns > clock->last_ns) clock->last_ns = now_ns;
    return clock->last_ns;
}

#else

bool tr_clock_can_count(void) {
    return false;
}

uint64_t tr_clock_read_again(struct tr_clock* clock) {
    (void)clock;
    return tr_clock_read();
}

#endif
