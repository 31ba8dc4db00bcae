/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants, floats in registers, operands that nobody can read beside ones that everybody can, and
 * probes of several sites whose operands differ from site to site. Called by usdt_matrix.
 */
#include "hit_log.h"
#include "matrix.h"
#include "raw_note.h"

#include <string.h>

static MATRIX_SITE void hit_constants(void) {
    __asm__ volatile(RAW_NOTE("matrix", "constants", "0",
                              "-4@$-5 4@$7 8@$0 -8@$81985529216486895 8@$-1 1@$-56 -1@$-1 2@$65535 "
                              "-2@$-32768 4@$-294967296 -8@$-9223372036854775808 "
                              "8@$18446744073709551615"));
    HIT_LOG("constants", hit_integer(-4, (uint64_t)-5), hit_integer(4, 7), hit_integer(8, 0),
            hit_integer(-8, UINT64_C(81985529216486895)), hit_integer(8, UINT64_MAX),
            hit_integer(1, 200), hit_integer(-1, UINT64_MAX), hit_integer(2, 65535),
            hit_integer(-2, (uint64_t)-32768), hit_integer(4, UINT64_C(4000000000)),
            hit_integer(-8, UINT64_C(1) << 63), hit_integer(8, UINT64_MAX));
}

static MATRIX_SITE void hit_floats(float f, double d) {
    uint32_t float_bits;
    uint64_t double_bits;
    memcpy(&float_bits, &f, sizeof(float_bits));
    memcpy(&double_bits, &d, sizeof(double_bits));
    __asm__ volatile(RAW_NOTE("matrix", "floats", "0", "4f@%%edx 8f@%%rax 8f@(%%rcx) 4f@4(%%rsi)")
                     :
                     : "d"((uint64_t)float_bits), "a"(double_bits), "c"(&double_bits),
                       "S"((const char*)&float_bits - 4)
                     : "memory");
    HIT_LOG("floats", hit_integer(4, float_bits), hit_integer(8, double_bits),
            hit_integer(8, double_bits), hit_integer(4, float_bits));
}

/* Two operands no handler can read, one that is no operand: the others must be right all the same.
 */
static MATRIX_SITE void hit_unreadable(uint64_t a, uint64_t b) {
    __asm__ volatile(RAW_NOTE("matrix", "unreadable", "0",
                              "4@%%eax 8f@%%xmm0 8@no_such_symbol(%%rip) 4@what -8@%%rbx")
                     :
                     : "a"(a), "b"(b));
    HIT_LOG("unreadable", hit_integer(4, a), hit_null(), hit_null(), hit_null(),
            hit_integer(-8, b));
}

/* One address in range, one not mapped, one that is no address: only the first has a value. */
static MATRIX_SITE void hit_bad_memory(uint64_t value) {
    __asm__ volatile(RAW_NOTE("matrix", "bad_memory", "0", "8@(%%rax) 4@(%%rbx) 4@8(%%rcx)")
                     :
                     : "a"(&value), "b"(UINT64_C(16)), "c"(UINT64_C(0x8000000000000000))
                     : "memory");
    HIT_LOG("bad_memory", hit_integer(8, value), hit_null(), hit_null());
}

static MATRIX_SITE void hit_site_register(uint64_t a) {
    __asm__ volatile(RAW_NOTE("matrix", "many_sites", "0", "-4@%%eax 4@$1") : : "a"(a));
    HIT_LOG("many_sites", hit_integer(-4, a), hit_integer(4, 1));
}

static MATRIX_SITE void hit_site_constant(void) {
    __asm__ volatile(RAW_NOTE("matrix", "many_sites", "0", "4@$7 -4@$-2"));
    HIT_LOG("many_sites", hit_integer(4, 7), hit_integer(-4, (uint64_t)-2));
}

static MATRIX_SITE void hit_site_memory(uint64_t value) {
    __asm__ volatile(RAW_NOTE("matrix", "many_sites", "0", "8@(%%rbx) 1@%%cl")
                     :
                     : "b"(&value), "c"(UINT64_C(3))
                     : "memory");
    HIT_LOG("many_sites", hit_integer(8, value), hit_integer(1, 3));
}

static MATRIX_SITE void hit_site_byte(uint64_t d) {
    __asm__ volatile(RAW_NOTE("matrix", "many_sites", "0", "-1@%%dl 2@$4") : : "d"(d));
    HIT_LOG("many_sites", hit_integer(-1, d), hit_integer(2, 4));
}

/* The number of arguments may differ from site to site as well. */
static MATRIX_SITE void hit_uneven(uint64_t a, uint64_t b) {
    __asm__ volatile(RAW_NOTE("matrix", "uneven_sites", "0", "-4@%%eax") : : "a"(a));
    HIT_LOG("uneven_sites", hit_integer(-4, a));
    __asm__ volatile(RAW_NOTE("matrix", "uneven_sites", "0", "-4@%%eax 8@%%rbx")
                     :
                     : "a"(a), "b"(b));
    HIT_LOG("uneven_sites", hit_integer(-4, a), hit_integer(8, b));
}

void matrix_hit_constants(uint64_t round) {
    hit_constants();
    hit_floats(-0.25f * (float)(round + 1), 3.0e300 / (double)(round + 1));
    hit_unreadable(matrix_bits(round, 0), matrix_bits(round, 1));
    hit_bad_memory(matrix_bits(round, 2));
    hit_site_register(matrix_bits(round, 3));
    hit_site_constant();
    hit_site_memory(matrix_bits(round, 4));
    hit_site_byte(matrix_bits(round, 5));
    hit_uneven(matrix_bits(round, 6), matrix_bits(round, 7));
}
