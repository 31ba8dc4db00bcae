/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does --rounds N (200) times, on each of two threads, what the clauses of probes are about, and
 * prints how often:
 *
 *   clause:pool(name, free, load)   values of the counters "hot" and "cold"; load is a double
 *   clause:phase(name)              "parse", "run" and "" (none), in turn
 *   clause:job__begin(queue)        three queues in turn, and clause:job__end()
 *   clause:call(frame)              frames within frames, of which the two innermost are left by
 *   clause:ret(frame)               longjmp in every round
 *   clause:named(name)              the thread "painter 0" or "painter 1", once
 *   clause:title(name)              the process "clauses: busy", once
 *   clause:entered(n)               only while clause:hidden, which never fires, has a tracer
 *
 * Before and after it answers "semaphore" with the value of that of clause:hidden.
 */
#include "target.h"
#include "tracer/usdt.h"

#include <pthread.h>
#include <setjmp.h>

TRACER_SEMAPHORE(clause, hidden)

#define THREADS 2
#define QUEUES 3
#define DEPTH 6
#define LEFT_AT 4 /* frames that return; those inside of them are left */

struct worker {
    pthread_t thread;
    unsigned number;
    uint64_t rounds;
    uint64_t entered;
    jmp_buf out;
};

static void fire_hidden(void) {
    TRACER_PROBE_WITH_SEMAPHORE(clause, hidden);
}

static __attribute__((noinline)) void enter(struct worker* worker, uint64_t depth) {
    TRACER_PROBE(clause, call, &depth);
    if (depth + 1 < DEPTH) {
        if (depth + 1 != LEFT_AT || setjmp(worker->out) == 0) {
            enter(worker, depth + 1);
        }
    } else {
        longjmp(worker->out, 1);
    }
    TRACER_PROBE(clause, ret, &depth);
}

static void do_round(struct worker* worker, uint64_t round) {
    const char* const pool = round % 2 == 0 ? "hot" : "cold";
    const double load = (double)round / 4;
    TRACER_PROBE(clause, pool, pool, (int64_t)round - 5, load);
    TRACER_PROBE(clause, phase, "parse");
    const unsigned queue = (unsigned)(round % QUEUES);
    TRACER_PROBE(clause, job__begin, queue);
    TRACER_PROBE(clause, phase, "run");
    TRACER_PROBE(clause, job__end);
    TRACER_PROBE(clause, phase, "");
    enter(worker, 0);
    if (TRACER_PROBE_ENABLED(clause, hidden)) {
        worker->entered++;
        TRACER_PROBE(clause, entered, round);
    }
}

static void* run(void* argument) {
    struct worker* worker = argument;
    const char* const name = worker->number == 0 ? "painter 0" : "painter 1";
    TRACER_PROBE(clause, named, name);
    for (uint64_t round = 0; round < worker->rounds; round++) {
        do_round(worker, round);
    }
    return NULL;
}

/* Says what the semaphore of clause:hidden is as often as it is asked; false: no more lines. */
static bool answer_until_told_otherwise(void) {
    char line[64];
    fflush(stdout);
    while (target_read_line(line, sizeof(line))) {
        if (strcmp(line, "semaphore") != 0) {
            return true;
        }
        printf("{\"semaphore\":%u}\n", (unsigned)TRACER_USDT_SEMAPHORE_OF(clause, hidden));
        fflush(stdout);
    }
    return false;
}

int main(int argc, char** argv) {
    struct worker workers[THREADS];
    const uint64_t rounds = target_option(argc, argv, "--rounds", 200);
    if (argc > 99) {
        fire_hidden();
    }
    printf("{\"ready\":%d}\n", (int)getpid());
    if (!answer_until_told_otherwise()) {
        return 0;
    }
    TRACER_PROBE(clause, title, "clauses: busy");
    uint64_t entered = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i, .rounds = rounds};
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        entered += workers[i].entered;
    }
    printf("{\"rounds\":%llu,\"entered\":%llu,\"semaphore\":%u}\n",
           (unsigned long long)(THREADS * rounds), (unsigned long long)entered,
           (unsigned)TRACER_USDT_SEMAPHORE_OF(clause, hidden));
    (void)answer_until_told_otherwise();
    return 0;
}
