/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins and ends --spans N (100000) spans from 16 threads, each with a key and a number of its
 * own: a thread begins one and ends any that is open, whoever began it. Of every hundred one goes
 * wrong, in turn: its end is missing, its begin is missing, its key is begun again while it is
 * open, or it is cancelled. One thread also makes pairs that cross, N/500 of them, and nothing
 * else nests with them.
 *
 *   spans:req__begin(key, number)   spans:req__end(key, number)   spans:req__cancel(key)
 *   spans:outer__begin  spans:inner__begin  spans:outer__end  spans:inner__end
 *
 * Prints one line of what it did, counted as it was done.
 */
#include "target.h"
#include "tracer/usdt.h"

#include <pthread.h>

#define THREADS 16
#define KEPT_OPEN 240 /* so many at a time */
#define OPEN_MAX (KEPT_OPEN + THREADS)
#define NUMBER_AGAIN 1000000000u /* added for the span that takes a key once more */

enum fault { kNone, kMissingEnd, kMissingBegin, kKeyReused, kCancelled };

struct open_span {
    uint64_t key;
    uint64_t number;
    enum fault fault;
};

struct counts {
    uint64_t begins, ends, missing_ends, missing_begins, keys_reused, cancelled, crossings;
};

struct spans {
    pthread_mutex_t mutex; /* of all below */
    struct open_span open[OPEN_MAX];
    size_t open_count;
    struct counts counts;
};

struct worker {
    pthread_t thread;
    struct spans* spans;
    uint64_t first;
    uint64_t count; /* of all threads */
    uint64_t random;
};

static enum fault fault_of(uint64_t number) {
    return number % 100 != 0 ? kNone : (enum fault)(kMissingEnd + number / 100 % 4);
}

static void fire_begin(uint64_t key, uint64_t number) {
    TRACER_PROBE(spans, req__begin, key, number);
}

static void fire_end(uint64_t key, uint64_t number) {
    TRACER_PROBE(spans, req__end, key, number);
}

static void fire_cancel(uint64_t key) {
    TRACER_PROBE(spans, req__cancel, key);
}

/* xorshift64 */
static uint64_t draw(struct worker* worker, uint64_t below) {
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return worker->random % below;
}

static void begin_one(struct worker* worker, uint64_t number) {
    struct spans* spans = worker->spans;
    struct open_span span = {number * 16, number, fault_of(number)};
    uint64_t begins = span.fault == kMissingBegin ? 0 : 1;
    if (span.fault != kMissingBegin) {
        fire_begin(span.key, span.number);
    }
    if (span.fault == kKeyReused) {
        span.number += NUMBER_AGAIN;
        fire_begin(span.key, span.number);
        begins++;
    }
    pthread_mutex_lock(&spans->mutex);
    spans->open[spans->open_count++] = span;
    spans->counts.begins += begins;
    spans->counts.missing_begins += span.fault == kMissingBegin;
    spans->counts.keys_reused += span.fault == kKeyReused;
    pthread_mutex_unlock(&spans->mutex);
}

/* False: not more than `kept` were open. */
static bool end_one(struct worker* worker, size_t kept) {
    struct spans* spans = worker->spans;
    struct open_span span;
    pthread_mutex_lock(&spans->mutex);
    if (spans->open_count <= kept) {
        pthread_mutex_unlock(&spans->mutex);
        return false;
    }
    const size_t position = (size_t)draw(worker, spans->open_count);
    span = spans->open[position];
    spans->open[position] = spans->open[--spans->open_count];
    spans->counts.missing_ends += span.fault == kMissingEnd;
    spans->counts.cancelled += span.fault == kCancelled;
    spans->counts.ends += span.fault != kMissingEnd && span.fault != kCancelled;
    pthread_mutex_unlock(&spans->mutex);
    if (span.fault == kCancelled) {
        fire_cancel(span.key);
    } else if (span.fault != kMissingEnd) {
        fire_end(span.key, span.number);
    }
    return true;
}

static void cross(void) {
    TRACER_PROBE(spans, outer__begin);
    TRACER_PROBE(spans, inner__begin);
    TRACER_PROBE(spans, outer__end);
    TRACER_PROBE(spans, inner__end);
}

static void* run(void* argument) {
    struct worker* worker = argument;
    const uint64_t crossings = worker->first == 0 ? worker->count / 500 : 0;
    uint64_t crossed = 0;
    for (uint64_t number = worker->first; number < worker->count; number += THREADS) {
        begin_one(worker, number);
        (void)end_one(worker, KEPT_OPEN);
        if (crossed < crossings && number / THREADS % 16 == 0) {
            cross();
            crossed++;
        }
    }
    for (; crossed < crossings; crossed++) {
        cross();
    }
    pthread_mutex_lock(&worker->spans->mutex);
    worker->spans->counts.crossings += crossed;
    pthread_mutex_unlock(&worker->spans->mutex);
    while (end_one(worker, 0)) {
    }
    return NULL;
}

int main(int argc, char** argv) {
    static struct spans spans = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct worker workers[THREADS];
    const uint64_t count = target_option(argc, argv, "--spans", 100000);
    target_ready_and_wait();
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){
            .spans = &spans, .first = i, .count = count, .random = 88172645463325252u + i};
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    const struct counts* done = &spans.counts;
    printf(
        "{\"begins\":%llu,\"ends\":%llu,\"missing_ends\":%llu,\"missing_begins\":%llu,"
        "\"keys_reused\":%llu,\"cancelled\":%llu,\"crossings\":%llu}\n",
        (unsigned long long)done->begins, (unsigned long long)done->ends,
        (unsigned long long)done->missing_ends, (unsigned long long)done->missing_begins,
        (unsigned long long)done->keys_reused, (unsigned long long)done->cancelled,
        (unsigned long long)done->crossings);
    target_wait_for_end();
    return 0;
}
