/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands that name a symbol: relative to the instruction, absolute (fixed-address programs only)
 * and thread-local. They are found by the symbol table, so the program must not be stripped.
 * Called by usdt_matrix.
 */
#include "hit_log.h"
#include "matrix.h"
#include "raw_note.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 8

/* Named by notes only, so the compiler must neither rename nor remove them. */
__attribute__((used)) int32_t matrix_s32;
__attribute__((used)) uint64_t matrix_words[WORDS];
__attribute__((used)) float matrix_float;
__attribute__((used)) double matrix_double;
__attribute__((used)) static uint16_t matrix_local[4];
__attribute__((used)) __thread int32_t matrix_tls;
__attribute__((used)) __thread uint32_t matrix_tls_pair[2];

static void fill(uint64_t round) {
    matrix_s32 = (int32_t)matrix_bits(round, 0);
    for (unsigned i = 0; i < WORDS; i++) {
        matrix_words[i] = matrix_bits(round, i + 1);
    }
    for (unsigned i = 0; i < 4; i++) {
        matrix_local[i] = (uint16_t)matrix_bits(round, i + 2);
    }
    matrix_float = -1.5f * (float)(round + 1);
    matrix_double = 0.1 * (double)(round + 1);
    matrix_tls = (int32_t)matrix_bits(round, 9);
    matrix_tls_pair[0] = (uint32_t)matrix_bits(round, 10);
    matrix_tls_pair[1] = (uint32_t)matrix_bits(round, 11);
}

static MATRIX_SITE void hit_relative(void) {
    __asm__ volatile(RAW_NOTE("matrix", "rip_symbol", "0",
                              "-4@matrix_s32(%%rip) 8@matrix_words(%%rip) "
                              "4@4+matrix_words(%%rip) -8@matrix_words+8(%%rip) "
                              "2@matrix_local(%%rip) -2@matrix_local+2(%%rip)")
                     :
                     :
                     : "memory");
    HIT_LOG("rip_symbol", hit_integer(-4, (uint64_t)matrix_s32), hit_integer(8, matrix_words[0]),
            hit_integer(4, matrix_words[0] >> 32), hit_integer(-8, matrix_words[1]),
            hit_integer(2, matrix_local[0]), hit_integer(-2, matrix_local[1]));
}

static MATRIX_SITE void hit_relative_float(void) {
    uint32_t float_bits;
    uint64_t double_bits;
    memcpy(&float_bits, &matrix_float, sizeof(float_bits));
    memcpy(&double_bits, &matrix_double, sizeof(double_bits));
    __asm__ volatile(
        RAW_NOTE("matrix", "rip_float", "0", "4f@matrix_float(%%rip) 8f@matrix_double(%%rip)")
        :
        :
        : "memory");
    HIT_LOG("rip_float", hit_integer(4, float_bits), hit_integer(8, double_bits));
}

/*
 * The address of something defined elsewhere, as gcc passes it in position-independent programs: by
 * its slot in the global offset table. matrix_s32 has no slot, so its own address is what is meant.
 */
static MATRIX_SITE void hit_address(void) {
    __asm__ volatile(RAW_NOTE("matrix", "rip_own_address", "0", "8@matrix_s32@GOTPCREL(%%rip)")
                     :
                     :
                     : "memory");
    HIT_LOG("rip_own_address", hit_integer(8, (uintptr_t)&matrix_s32));
#ifdef __PIE__
    __asm__ volatile(RAW_NOTE("matrix", "rip_address", "0", "8@qsort@GOTPCREL(%%rip)")
                     :
                     :
                     : "memory");
    HIT_LOG("rip_address", hit_integer(8, (uintptr_t)&qsort));
#endif
}

static MATRIX_SITE void hit_thread_local(void) {
    uint64_t fs_base;
    __asm__ volatile("mov %%fs:0, %0\n" RAW_NOTE("matrix", "tls_symbol", "0",
                                                 "-4@%%fs:matrix_tls@tpoff "
                                                 "4@%%fs:4+matrix_tls_pair@tpoff 8@%%fs:0")
                     : "=r"(fs_base)
                     :
                     : "memory");
    HIT_LOG("tls_symbol", hit_integer(-4, (uint64_t)matrix_tls), hit_integer(4, matrix_tls_pair[1]),
            hit_integer(8, fs_base));
}

#ifndef __PIE__
static MATRIX_SITE void hit_absolute(void) {
    __asm__ volatile(RAW_NOTE("matrix", "absolute_symbol", "0",
                              "-4@matrix_s32 8@matrix_words+8 8@16+matrix_words "
                              "4@matrix_words(,%%rdi,4) -8@matrix_words+8(,%%rsi,8) "
                              "8@matrix_words(%%rcx) 2@matrix_words(%%rdi,%%rdi)")
                     :
                     : "D"((int64_t)3), "S"((int64_t)2), "c"((int64_t)32)
                     : "memory");
    HIT_LOG("absolute_symbol", hit_integer(-4, (uint64_t)matrix_s32),
            hit_integer(8, matrix_words[1]), hit_integer(8, matrix_words[2]),
            hit_integer(4, matrix_words[1] >> 32), hit_integer(-8, matrix_words[3]),
            hit_integer(8, matrix_words[4]), hit_integer(2, matrix_words[0] >> 48));
}
#endif

void matrix_hit_symbols(uint64_t round) {
    fill(round);
    hit_relative();
    hit_relative_float();
    hit_address();
    hit_thread_local();
#ifndef __PIE__
    hit_absolute();
#endif
}
