/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory operands by registers: base and displacement, base + index * scale, the stack.
 * Built with -mno-red-zone, because some statements push. Called by usdt_matrix.
 */
#include "hit_log.h"
#include "matrix.h"
#include "raw_note.h"

#include <string.h>

#define BLOCK_BYTES 512
#define MIDDLE 256

static unsigned char block[BLOCK_BYTES] __attribute__((aligned(64)));

static void fill_block(uint64_t round) {
    for (unsigned i = 0; i < BLOCK_BYTES / 8; i++) {
        const uint64_t bits = matrix_bits(round, i);
        memcpy(block + 8 * i, &bits, sizeof(bits));
    }
}

/* What a reader must find at `offset` from the middle of the block. */
static struct hit_value at(int size, int offset) {
    uint64_t bits = 0;
    memcpy(&bits, block + MIDDLE + offset, (size_t)(size < 0 ? -size : size));
    return hit_integer(size, bits);
}

static MATRIX_SITE void hit_displacement(void) {
    unsigned char* middle = block + MIDDLE;
    register unsigned char* r12 __asm__("r12") = middle;
    register unsigned char* r13 __asm__("r13") = middle;
    register unsigned char* r14 __asm__("r14") = middle;
    register unsigned char* r15 __asm__("r15") = middle;
    __asm__ volatile(RAW_NOTE("matrix", "mem_displacement", "0",
                              "8@(%%rbx) -8@8(%%rbx) 4@-4(%%rbx) -4@16(%%rsi) 2@0(%%rsi) "
                              "-2@-2(%%rsi) 1@1(%%rdi) -1@-1(%%rdi) 4@(%%r12) -4@0(%%r13) "
                              "2@127(%%r14) -8@-128(%%r15)")
                     :
                     : "b"(middle), "S"(middle), "D"(middle), "r"(r12), "r"(r13), "r"(r14), "r"(r15)
                     : "memory");
    HIT_LOG("mem_displacement", at(8, 0), at(-8, 8), at(4, -4), at(-4, 16), at(2, 0), at(-2, -2),
            at(1, 1), at(-1, -1), at(4, 0), at(-4, 0), at(2, 127), at(-8, -128));
}

/* Displacements that need 32 bits; the registers point outside of anything. */
static MATRIX_SITE void hit_far(void) {
    const uintptr_t middle = (uintptr_t)(block + MIDDLE);
    __asm__ volatile(RAW_NOTE("matrix", "mem_far", "0",
                              "8@1000000(%%rax) -4@-1000000(%%rcx) 2@2147483647(%%rdx) "
                              "-1@-2147483648(%%rsi)")
                     :
                     : "a"(middle - 1000000u), "c"(middle + 1000000u), "d"(middle - 2147483647u),
                       "S"(middle + 2147483648u)
                     : "memory");
    HIT_LOG("mem_far", at(8, 0), at(-4, 0), at(2, 0), at(-1, 0));
}

static MATRIX_SITE void hit_index(void) {
    unsigned char* middle = block + MIDDLE;
    register int64_t r8 __asm__("r8") = -5;
    register int64_t r9 __asm__("r9") = 7;
    __asm__ volatile(RAW_NOTE("matrix", "mem_index", "0",
                              "8@(%%rax,%%rdi,8) -4@12(%%rax,%%rsi,4) 2@-2(%%rax,%%rsi,2) "
                              "1@(%%rax,%%rcx) -1@5(%%rax,%%rcx,1) 4@8(%%rax,%%r8,4) "
                              "-8@-16(%%rax,%%r8,8) -2@(%%rax,%%r9,8)")
                     :
                     : "a"(middle), "D"((int64_t)2), "S"((int64_t)3), "c"((int64_t)1), "r"(r8),
                       "r"(r9)
                     : "memory");
    HIT_LOG("mem_index", at(8, 16), at(-4, 24), at(2, 4), at(1, 1), at(-1, 6), at(4, -12),
            at(-8, -56), at(-2, 56));
}

static MATRIX_SITE void hit_stack(uint64_t first, uint64_t second) {
    __asm__ volatile("push %[second]\npush %[first]\n" RAW_NOTE(
                         "matrix", "mem_stack", "0",
                         "8@(%%rsp) -4@8(%%rsp) 2@2(%%rsp) 4@(%%rsp,%%rcx,4)") "add $16, %%rsp\n"
                     :
                     : [first] "r"(first), [second] "r"(second), "c"((int64_t)1)
                     : "memory", "cc");
    HIT_LOG("mem_stack", hit_integer(8, first), hit_integer(-4, second),
            hit_integer(2, first >> 16), hit_integer(4, first >> 32));
}

static MATRIX_SITE void hit_frame(void) {
    __asm__ volatile(
        "push %%rbp\nmov %0, %%rbp\n" RAW_NOTE("matrix", "mem_frame", "0",
                                               "8@-144(%%rbp) -4@(%%rbp) 1@16(%%rbp)") "pop %%rbp\n"
        :
        : "a"(block + MIDDLE)
        : "memory");
    HIT_LOG("mem_frame", at(8, -144), at(-4, 0), at(1, 16));
}

void matrix_hit_memory(uint64_t round) {
    fill_block(round);
    hit_displacement();
    hit_far();
    hit_index();
    hit_stack(matrix_bits(round, 1), matrix_bits(round, 2));
    hit_frame();
}
