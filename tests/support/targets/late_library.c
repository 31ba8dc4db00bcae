/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that a program loads long after its start: late_hits(N) hits the USDT site
 * late:hit(int counter) N times, about once a millisecond. Loaded by late_loader.
 */
#include "tracer/usdt.h"

#include <stdint.h>
#include <time.h>

void late_hits(uint64_t count);

void late_hits(uint64_t count) {
    const struct timespec pause = {0, 1000000};
    for (uint64_t i = 0; i < count; i++) {
        TRACER_PROBE(late, hit, i);
        nanosleep(&pause, NULL);
    }
}
