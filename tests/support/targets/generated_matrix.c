/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of operand forms, sizes, signs and numbers of arguments, with known values: runs the
 * sites that matrix_generator wrote. Prints and obeys what usdt_matrix does; "semaphores" prints a
 * line {"probe":NAME,"value":N,"sites":N} each, ended by {"end":true}. Built by two compilers at
 * two levels as PIE, at fixed addresses and static; traced by the root tests.
 */
#include "generated.h"
#include "matrix.h"
#include "target.h"

#define REGISTERS 16
#define RSP 7
#define BLOCK_WORDS 512
#define REGISTER_DISTANCE 32 /* bytes between the addresses in two registers */

uint64_t generated_words[GENERATED_WORDS];
__thread uint64_t generated_tls[GENERATED_WORDS];
/* A static variable: in .symtab as a local symbol, under this name. */
__attribute__((used)) static uint64_t generated_local[GENERATED_WORDS];

static uint64_t block[BLOCK_WORDS] __attribute__((aligned(64)));

/* Used by the two functions below only. */
__attribute__((used)) static uint64_t generated_registers[REGISTERS];
__attribute__((used)) static uint64_t generated_saved[8];

/*
 * Every site calls generated_enter and jumps to generated_leave: between the two all registers,
 * the stack pointer among them, hold what was prepared. Nothing uses the stack meanwhile, and the
 * program has no signal handlers.
 */
__asm__(
    ".pushsection .text\n"
    "generated_enter:\n"
    "pop generated_saved+56(%rip)\n"
    "mov %rbx, generated_saved(%rip)\n"
    "mov %rbp, generated_saved+8(%rip)\n"
    "mov %r12, generated_saved+16(%rip)\n"
    "mov %r13, generated_saved+24(%rip)\n"
    "mov %r14, generated_saved+32(%rip)\n"
    "mov %r15, generated_saved+40(%rip)\n"
    "mov %rsp, generated_saved+48(%rip)\n"
    "mov generated_registers(%rip), %rax\n"
    "mov generated_registers+8(%rip), %rdx\n"
    "mov generated_registers+16(%rip), %rcx\n"
    "mov generated_registers+24(%rip), %rbx\n"
    "mov generated_registers+32(%rip), %rsi\n"
    "mov generated_registers+40(%rip), %rdi\n"
    "mov generated_registers+48(%rip), %rbp\n"
    "mov generated_registers+56(%rip), %rsp\n"
    "mov generated_registers+64(%rip), %r8\n"
    "mov generated_registers+72(%rip), %r9\n"
    "mov generated_registers+80(%rip), %r10\n"
    "mov generated_registers+88(%rip), %r11\n"
    "mov generated_registers+96(%rip), %r12\n"
    "mov generated_registers+104(%rip), %r13\n"
    "mov generated_registers+112(%rip), %r14\n"
    "mov generated_registers+120(%rip), %r15\n"
    "jmp *generated_saved+56(%rip)\n"
    "generated_leave:\n"
    "mov generated_saved(%rip), %rbx\n"
    "mov generated_saved+8(%rip), %rbp\n"
    "mov generated_saved+16(%rip), %r12\n"
    "mov generated_saved+24(%rip), %r13\n"
    "mov generated_saved+32(%rip), %r14\n"
    "mov generated_saved+40(%rip), %r15\n"
    "mov generated_saved+48(%rip), %rsp\n"
    "ret\n"
    ".globl generated_enter, generated_leave\n"
    ".hidden generated_enter, generated_leave\n"
    ".popsection\n");

static uint64_t fs_base(void) {
    uint64_t base;
    __asm__("mov %%fs:0, %0" : "=r"(base));
    return base;
}

/* Floats are finite, so that no conversion on the way to a test changes their bits. */
static uint64_t content(enum generated_contents contents, uint64_t round, unsigned k) {
    const uint64_t bits = matrix_bits(round, k);
    const double number = (double)(int32_t)bits * 0.37;
    const float low = (float)number;
    const float high = -2.5f * (float)(k + 1);
    uint64_t whole = bits;
    if (contents == CONTENTS_DOUBLES) {
        memcpy(&whole, &number, sizeof(whole));
    } else if (contents == CONTENTS_FLOATS) {
        memcpy(&whole, &low, sizeof(low));
        memcpy((char*)&whole + sizeof(low), &high, sizeof(high));
    }
    return whole;
}

static void fill(enum generated_contents contents, uint64_t round) {
    for (unsigned i = 0; i < BLOCK_WORDS; i++) {
        block[i] = content(contents, round, i);
    }
    for (unsigned i = 0; i < GENERATED_WORDS; i++) {
        generated_words[i] = content(contents, round, BLOCK_WORDS + i);
        generated_local[i] = content(contents, round, 2 * BLOCK_WORDS + i);
        generated_tls[i] = content(contents, round, 3 * BLOCK_WORDS + i);
    }
}

static void set_registers(const struct generated_site* site, uint64_t round) {
    for (unsigned i = 0; i < REGISTERS; i++) {
        const uint64_t address = (uintptr_t)(block + BLOCK_WORDS / 2) + i * REGISTER_DISTANCE;
        uint64_t value = 0;
        switch ((enum generated_setup)site->setup) {
            case SETUP_VALUES:
                value = content((enum generated_contents)site->contents, round, 100 + i);
                break;
            case SETUP_ADDRESSES:
                value = address - (uint64_t)site->bias;
                break;
            case SETUP_SMALL:
                value = (3 * i + round) % 8;
                break;
            case SETUP_FS_OFFSETS:
                value = address - fs_base();
                break;
            case SETUP_FS_BASE:
                value = fs_base();
                break;
        }
        generated_registers[i] = value;
    }
    /* x86-64 cannot return from a trap to a stack pointer that is no canonical address. */
    if (site->setup == SETUP_VALUES) {
        generated_registers[RSP] &= (UINT64_C(1) << 47) - 1;
    }
    if (site->index >= 0) {
        generated_registers[site->index] = (round + (uint64_t)site->index) % 7 - 3;
    }
}

static uint64_t origin_of(enum generated_origin origin) {
    switch (origin) {
        case ORIGIN_ZERO:
            return 0;
        case ORIGIN_WORDS:
            return (uintptr_t)generated_words;
        case ORIGIN_LOCAL:
            return (uintptr_t)generated_local;
        case ORIGIN_FS:
            return fs_base();
        case ORIGIN_TLS:
            return (uintptr_t)generated_tls;
        case ORIGIN_TPOFF:
            return (uintptr_t)generated_tls - fs_base();
    }
    return 0;
}

static struct hit_value passed(const struct generated_argument* argument) {
    uint64_t bits = 0;
    const uint64_t base = argument->base < 0 ? 0 : generated_registers[argument->base];
    const uint64_t index = argument->index < 0 ? 0 : generated_registers[argument->index];
    const uint64_t sum = origin_of((enum generated_origin)argument->origin) + base +
                         index * argument->scale + (uint64_t)argument->number;
    switch ((enum generated_kind)argument->kind) {
        case KIND_REGISTER:
            bits = base >> argument->shift;
            break;
        case KIND_NUMBER:
            bits = sum;
            break;
        case KIND_MEMORY:
            memcpy(&bits, (const void*)(uintptr_t)sum, (size_t)abs(argument->size));
            break;
    }
    return hit_integer(argument->size, bits);
}

static void hit_site(const struct generated_site* site, uint64_t round) {
    struct hit_value values[12];
    fill((enum generated_contents)site->contents, round);
    set_registers(site, round);
    site->hit();
    for (unsigned i = 0; i < site->count; i++) {
        values[i] = passed(&site->arguments[i]);
    }
    hit_log_add(site->probe, site->count, values);
}

struct generated_types generated_types_of(uint64_t bits) {
    return (struct generated_types){
        .f64 = (double)(int32_t)bits * 0.37,
        .s64 = (int64_t)bits,
        .u64 = bits * 3,
        .pointer = (const char*)block + bits % 64,
        .f32 = (float)(int16_t)bits * 0.5f,
        .s32 = (int32_t)(bits >> 7),
        .u32 = (uint32_t)(bits >> 9),
        .s16 = (int16_t)(bits >> 11),
        .u16 = (uint16_t)(bits >> 13),
        .s8 = (int8_t)(bits >> 17),
        .u8 = (uint8_t)(bits >> 19),
        .boolean = (bits >> 23 & 1) != 0,
    };
}

static void print_semaphores(const struct generated_semaphore* semaphores, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        printf("{\"probe\":\"%s\",\"value\":%u,\"sites\":%u}\n", semaphores[i].probe,
               *semaphores[i].value, semaphores[i].sites);
    }
}

int main(int argc, char** argv) {
    const uint64_t hits = target_option(argc, argv, "--hits", 3);
    char line[64];
    printf("{\"ready\":%d}\n", (int)getpid());
    fflush(stdout);
    while (target_read_line(line, sizeof(line))) {
        if (strcmp(line, "semaphores") == 0) {
            print_semaphores(generated_note_semaphores, generated_note_semaphore_count);
            print_semaphores(generated_type_semaphores, generated_type_semaphore_count);
            printf("{\"end\":true}\n");
            fflush(stdout);
            continue;
        }
        for (uint64_t round = 0; round < hits; round++) {
            for (unsigned i = 0; i < generated_site_count; i++) {
                hit_site(&generated_sites[i], round);
            }
            generated_hit_types(round);
        }
        hit_log_print();
    }
    return 0;
}
