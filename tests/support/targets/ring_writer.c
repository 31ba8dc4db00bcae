/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes events to rings of its own (tracer/ring/tracer_ring.h): --threads N (3) each write --spans N
 * (1000) spans "work" around a number "step", in rings of 2^--log2 words (16), with a pause of
 * --pause microseconds (0) after every tenth. Prints {"spans":..,"written":..,"dropped":..}: of the
 * whole process, and by the library's own count.
 */
#include "target.h"

#include "tracer/ring/tracer_ring.h"

#include <pthread.h>

#define THREADS_MAX 16

static const tracer_ring_event *work;
static const tracer_ring_event *step;
static uint64_t span_count;
static unsigned pause_us;

static void *run(void *argument) {
    for (uint64_t i = 0; i < span_count; i++) {
        tracer_ring_write_begin(work);
        tracer_ring_write_int(step, (int64_t)i);
        tracer_ring_write_end(work);
        if (pause_us != 0 && i % 10 == 9) {
            usleep(pause_us);
        }
    }
    return argument;
}

int main(int argc, char **argv) {
    const uint64_t threads = target_option(argc, argv, "--threads", 3);
    const tracer_ring_options options = {
        .ring_words_log2 = (unsigned)target_option(argc, argv, "--log2", 16),
    };
    span_count = target_option(argc, argv, "--spans", 1000);
    pause_us = (unsigned)target_option(argc, argv, "--pause", 0);
    if (threads > THREADS_MAX || tracer_ring_register("work", TRACER_RING_SPAN, 0, &work) != 0 ||
        tracer_ring_register("step", TRACER_RING_INT, 0, &step) != 0 ||
        tracer_ring_start(&options) != 0) {
        return 1;
    }
    target_ready_and_wait();
    pthread_t ids[THREADS_MAX];
    for (uint64_t i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, run, NULL) != 0) {
            return 1;
        }
    }
    for (uint64_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    tracer_ring_counts counts = {0};
    tracer_ring_get_counts(&counts);
    printf("{\"spans\":%llu,\"written\":%llu,\"dropped\":%llu}\n",
           (unsigned long long)(threads * span_count), (unsigned long long)counts.written,
           (unsigned long long)(counts.dropped + counts.missing));
    target_wait_for_end();
    return 0;
}
