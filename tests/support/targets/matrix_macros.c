/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of tracer/usdt.h as a program uses them: 0 to 12 arguments, every type, semaphores.
 * Called by usdt_matrix.
 */
#include "hit_log.h"
#include "matrix.h"
#include "tracer/usdt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

TRACER_SEMAPHORE(matrix, sem_one)
TRACER_SEMAPHORE(matrix, sem_two)
TRACER_SEMAPHORE(matrix, sem_guarded)
TRACER_SEMAPHORE(matrix, sem_never)

static void log_counted(const char* probe, unsigned count, const int* v) {
    struct hit_value values[12];
    for (unsigned i = 0; i < count; i++) {
        values[i] = hit_integer(-4, (uint64_t)v[i]);
    }
    hit_log_add(probe, count, values);
}

static MATRIX_SITE void hit_counts(const int* v) {
    TRACER_PROBE(matrix, args_0);
    log_counted("args_0", 0, v);
    TRACER_PROBE(matrix, args_1, v[0]);
    log_counted("args_1", 1, v);
    TRACER_PROBE(matrix, args_2, v[0], v[1]);
    log_counted("args_2", 2, v);
    TRACER_PROBE(matrix, args_3, v[0], v[1], v[2]);
    log_counted("args_3", 3, v);
    TRACER_PROBE(matrix, args_4, v[0], v[1], v[2], v[3]);
    log_counted("args_4", 4, v);
    TRACER_PROBE(matrix, args_5, v[0], v[1], v[2], v[3], v[4]);
    log_counted("args_5", 5, v);
    TRACER_PROBE(matrix, args_6, v[0], v[1], v[2], v[3], v[4], v[5]);
    log_counted("args_6", 6, v);
    TRACER_PROBE(matrix, args_7, v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
    log_counted("args_7", 7, v);
    TRACER_PROBE(matrix, args_8, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
    log_counted("args_8", 8, v);
    TRACER_PROBE(matrix, args_9, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
    log_counted("args_9", 9, v);
    TRACER_PROBE(matrix, args_10, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]);
    log_counted("args_10", 10, v);
    TRACER_PROBE(matrix, args_11, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
                 v[10]);
    log_counted("args_11", 11, v);
    DTRACE_PROBE12(matrix, args_12, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
                   v[10], v[11]);
    log_counted("args_12", 12, v);
}

static MATRIX_SITE void hit_types(uint64_t bits) {
    const signed char s8 = (signed char)bits;
    const unsigned char u8 = (unsigned char)bits;
    const short s16 = (short)bits;
    const unsigned short u16 = (unsigned short)bits;
    const int s32 = (int)bits;
    const unsigned u32 = (unsigned)bits;
    const long s64 = (long)bits;
    const unsigned long u64 = bits;
    const bool odd = (bits & 1) != 0;
    const float f = 0.5f * (float)s16;
    const double d = 0.25 * (double)s32;
    uint32_t float_bits;
    uint64_t double_bits;
    memcpy(&float_bits, &f, sizeof(float_bits));
    memcpy(&double_bits, &d, sizeof(double_bits));
    TRACER_PROBE(matrix, types, s8, u8, s16, u16, s32, u32, s64, u64, odd, f, d,
                 &matrix_sem_one_semaphore);
    HIT_LOG("types", hit_integer(-1, bits), hit_integer(1, bits), hit_integer(-2, bits),
            hit_integer(2, bits), hit_integer(-4, bits), hit_integer(4, bits),
            hit_integer(-8, bits), hit_integer(8, bits), hit_integer(1, odd),
            hit_integer(4, float_bits), hit_integer(8, double_bits),
            hit_integer(8, (uintptr_t)&matrix_sem_one_semaphore));
}

/* sem_never has a site that no test reaches: its semaphore moves and it has no hits. */
static MATRIX_SITE void hit_semaphores(int value, bool reach_all) {
    TRACER_PROBE_WITH_SEMAPHORE(matrix, sem_one, value);
    HIT_LOG("sem_one", hit_integer(-4, (uint64_t)value));
    TRACER_PROBE_WITH_SEMAPHORE(matrix, sem_two, value);
    HIT_LOG("sem_two", hit_integer(-4, (uint64_t)value));
    TRACER_PROBE_WITH_SEMAPHORE(matrix, sem_two, value, value + 1);
    HIT_LOG("sem_two", hit_integer(-4, (uint64_t)value), hit_integer(-4, (uint64_t)value + 1));
    if (TRACER_PROBE_ENABLED(matrix, sem_guarded)) {
        TRACER_PROBE_WITH_SEMAPHORE(matrix, sem_guarded, value);
        HIT_LOG("sem_guarded", hit_integer(-4, (uint64_t)value));
    }
    if (reach_all) {
        TRACER_PROBE_WITH_SEMAPHORE(matrix, sem_never);
    }
}

void matrix_hit_macros(uint64_t round) {
    int values[12];
    for (unsigned i = 0; i < 12; i++) {
        values[i] = (int)matrix_bits(round, i);
    }
    hit_counts(values);
    hit_types(matrix_bits(round, 13));
    hit_semaphores((int)(matrix_bits(round, 14) >> 34), round == UINT64_MAX);
}

void matrix_print_semaphores(void) {
    printf("{\"semaphores\":{\"sem_one\":%d,\"sem_two\":%d,\"sem_guarded\":%d,\"sem_never\":%d}}\n",
           matrix_sem_one_semaphore, matrix_sem_two_semaphore, matrix_sem_guarded_semaphore,
           matrix_sem_never_semaphore);
    fflush(stdout);
}
