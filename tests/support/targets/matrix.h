/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_MATRIX_H
#define TRACER_TESTS_MATRIX_H

/* The parts of usdt_matrix: each hits every probe of its kind once and logs what it passed. */

#include "function_kept_whole.h"

#include <stdint.h>

#define MATRIX_SITE FUNCTION_KEPT_WHOLE

/* Bits for argument k of a round: every byte differs, the top bit comes and goes. */
static inline uint64_t matrix_bits(uint64_t round, unsigned k) {
    return UINT64_C(0x91a2b3c4d5e6f708) * (2 * k + 1) + round * UINT64_C(0x0133557799bbddff);
}

void matrix_hit_registers(uint64_t round);
void matrix_hit_memory(uint64_t round);
void matrix_hit_symbols(uint64_t round);
void matrix_hit_constants(uint64_t round);
void matrix_hit_macros(uint64_t round);
void matrix_hit_strings(uint64_t round);

/* Prints {"semaphores":{NAME:VALUE,...}}. */
void matrix_print_semaphores(void);

#endif /* TRACER_TESTS_MATRIX_H */
