/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register operands: every general register under its four names, as unsigned and as signed.
 * Built with -mno-red-zone, because the statements for rbp push it. Called by usdt_matrix.
 */
#include "hit_log.h"
#include "matrix.h"
#include "raw_note.h"

#define EIGHT_NAMES(r64, r32, r16, r8)                                                   \
    "8@%%" r64 " -8@%%" r64 " 4@%%" r32 " -4@%%" r32 " 2@%%" r16 " -2@%%" r16 " 1@%%" r8 \
    " -1@%"                                                                              \
    "%" r8

#define LOG_EIGHT(probe, bits)                                                        \
    HIT_LOG(probe, hit_integer(8, bits), hit_integer(-8, bits), hit_integer(4, bits), \
            hit_integer(-4, bits), hit_integer(2, bits), hit_integer(-2, bits),       \
            hit_integer(1, bits), hit_integer(-1, bits))

/* X(64-bit name, 32, 16, 8): all but rbp and rsp, which the compiler needs itself. */
#define FREE_REGISTERS(X)    \
    X(rax, eax, ax, al)      \
    X(rbx, ebx, bx, bl)      \
    X(rcx, ecx, cx, cl)      \
    X(rdx, edx, dx, dl)      \
    X(rsi, esi, si, sil)     \
    X(rdi, edi, di, dil)     \
    X(r8, r8d, r8w, r8b)     \
    X(r9, r9d, r9w, r9b)     \
    X(r10, r10d, r10w, r10b) \
    X(r11, r11d, r11w, r11b) \
    X(r12, r12d, r12w, r12b) \
    X(r13, r13d, r13w, r13b) \
    X(r14, r14d, r14w, r14b) \
    X(r15, r15d, r15w, r15b)

#define DEFINE_HIT(r64, r32, r16, r8)                                                        \
    static MATRIX_SITE void hit_##r64(uint64_t bits) {                                       \
        __asm__ volatile("mov %0, %%" #r64 "\n" RAW_NOTE("matrix", "reg_" #r64, "0",         \
                                                         EIGHT_NAMES(#r64, #r32, #r16, #r8)) \
                         :                                                                   \
                         : "m"(bits)                                                         \
                         : #r64);                                                            \
        LOG_EIGHT("reg_" #r64, bits);                                                        \
    }
FREE_REGISTERS(DEFINE_HIT)

static MATRIX_SITE void hit_rbp(uint64_t bits) {
    __asm__ volatile(
        "push %%rbp\nmov %0, %%rbp\n" RAW_NOTE("matrix", "reg_rbp", "0",
                                               EIGHT_NAMES("rbp", "ebp", "bp", "bpl")) "pop %%rbp\n"
        :
        : "a"(bits));
    LOG_EIGHT("reg_rbp", bits);
}

static MATRIX_SITE void hit_rsp(void) {
    uint64_t bits;
    __asm__ volatile(
        "mov %%rsp, %0\n" RAW_NOTE("matrix", "reg_rsp", "0", EIGHT_NAMES("rsp", "esp", "sp", "spl"))
        : "=r"(bits));
    LOG_EIGHT("reg_rsp", bits);
}

/* Bits 8 to 15 of the four registers that have a name for them. */
static MATRIX_SITE void hit_high_bytes(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    __asm__ volatile(RAW_NOTE("matrix", "reg_high_bytes", "0", "1@%%ah -1@%%bh 1@%%ch -1@%%dh")
                     :
                     : "a"(a), "b"(b), "c"(c), "d"(d));
    HIT_LOG("reg_high_bytes", hit_integer(1, a >> 8), hit_integer(-1, b >> 8),
            hit_integer(1, c >> 8), hit_integer(-1, d >> 8));
}

/* The size before the @ decides, not the width of the register's name. */
static MATRIX_SITE void hit_wider_name(uint64_t a, uint64_t b, uint64_t c) {
    __asm__ volatile(RAW_NOTE("matrix", "reg_wider_name", "0", "4@%%rax -1@%%ebx -2@%%rcx")
                     :
                     : "a"(a), "b"(b), "c"(c));
    HIT_LOG("reg_wider_name", hit_integer(4, a), hit_integer(-1, b), hit_integer(-2, c));
}

void matrix_hit_registers(uint64_t round) {
    unsigned k = 0;
#define CALL_HIT(r64, r32, r16, r8) hit_##r64(matrix_bits(round, k++));
    FREE_REGISTERS(CALL_HIT)
    hit_rbp(matrix_bits(round, k++));
    hit_rsp();
    hit_high_bytes(matrix_bits(round, k), matrix_bits(round, k + 1), matrix_bits(round, k + 2),
                   matrix_bits(round, k + 3));
    hit_wider_name(matrix_bits(round, k), matrix_bits(round, k + 1), matrix_bits(round, k + 2));
}
