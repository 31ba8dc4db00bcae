/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions named step_*, each with an opening instruction of another sort: those that the kernel
 * plays by itself under a probe, steps elsewhere, refuses, or gets wrong. Each runs before the
 * ready line and again behind it, on the same registers and memory. Prints
 * {"functions":N,"wrong":[NAME,..]} with those that left something else the second time, or
 * {"functions":0,"wrong":[]} on a CPU without AVX2, FMA and BMI.
 */
#include "target.h"

struct state {
    uint8_t vectors[8][32]; /* ymm0 to ymm7 */
    uint8_t memory[64];
    uint64_t rax, rcx, rdx, r8;
};

typedef void (*step_function)(void);

/* What runs behind it is longer than the 16 bytes that the kernel copies. */
#define STEP_REST                        \
    "movabs $0x123456789abcdef0, %r9\n"  \
    "mov %r9, 288(%rdi)\n"               \
    "movabs $0x0fedcba987654321, %r10\n" \
    "mov %r10, 296(%rdi)\n"              \
    "ret\n"

#define STEPS(X)                                                \
    X(push, "push %rbp\n pop %rbp\n")                           \
    X(push_high, "push %r12\n pop %r12\n")                      \
    X(nop, "nop\n")                                             \
    X(pause, "pause\n")                                         \
    X(endbr, "endbr64\n")                                       \
    X(move, "mov %rcx, %rax\n")                                 \
    X(thread_pointer, "mov %fs:0, %rax\n")                      \
    X(load, "mov step_constant(%rip), %rax\n")                  \
    X(address, "lea step_constant(%rip), %rax\n")               \
    X(load_vector, "vmovups step_constant(%rip), %ymm2\n")      \
    X(add_vector, "vaddps step_constant(%rip), %ymm1, %ymm2\n") \
    X(compare, "cmpl $5, step_constant(%rip)\n sete %al\n")     \
    X(jump, "jmp 1f\n xor %eax, %eax\n 1:\n")                   \
    X(jump_if, "jz 1f\n xor %eax, %eax\n 1:\n")                 \
    X(loop, "loop 1f\n xor %eax, %eax\n 1:\n")                  \
    X(call, "call step_leaf\n")                                 \
    X(call_through, "call *step_leaf_address(%rip)\n")          \
    X(exchange, "xchg %rcx, %rax\n")                            \
    X(exchange_r8, "xchg %r8, %rax\n")                          \
    X(save_flags, "pushf\n popf\n")                             \
    X(shuffle_sse, "pshufd $4, %xmm1, %xmm2\n")                 \
    X(xor_float, "vxorps %ymm1, %ymm3, %ymm2\n")                \
    X(fused_213, "vfmadd213sd %xmm1, %xmm3, %xmm2\n")           \
    X(fused_132, "vfnmadd132ss %xmm1, %xmm3, %xmm2\n")          \
    X(and_not, "andn %rcx, %rdx, %rax\n")                       \
    X(broadcast, "vpbroadcastb %xmm1, %ymm2\n")                 \
    X(shuffle, "vpshufd $4, %ymm1, %ymm2\n")                    \
    X(shift, "vpsrlw $4, %ymm1, %ymm2\n")                       \
    X(equal, "vpcmpeqb %ymm1, %ymm3, %ymm2\n")                  \
    X(less, "vcmpltps %ymm1, %ymm3, %ymm2\n")                   \
    X(or, "vpor %ymm1, %ymm3, %ymm2\n")                         \
    X(subtract, "vpsubsb %ymm1, %ymm3, %ymm2\n")                \
    X(take, "vmovd %xmm1, %eax\n")                              \
    X(store, "vmovdqu %ymm1, 256(%rdi)\n")                      \
    X(zero_upper, "vzeroupper\n")                               \
    X(xor_refused, "vpxor %ymm1, %ymm3, %ymm2\n")               \
    X(lock_refused, "lock incl 256(%rdi)\n")

#define STEP_CODE(name, code) \
    ".p2align 5\n"            \
    ".globl step_" #name      \
    "\n"                      \
    ".type step_" #name       \
    ", @function\n"           \
    "step_" #name ":\n" code STEP_REST ".size step_" #name ", .-step_" #name "\n"

__asm__(
    ".text\n" STEPS(STEP_CODE)
    ".type step_leaf, @function\n"
    "step_leaf: mov $9, %eax\n"
    "ret\n"
    ".size step_leaf, .-step_leaf\n"
    ".data\n"
    ".p2align 5\n"
    "step_constant: .fill 32, 1, 0x41\n"
    "step_leaf_address: .quad step_leaf\n"
    ".text\n");

#define STEP_DECLARATION(name, code) void step_##name(void);
STEPS(STEP_DECLARATION)

static const struct {
    const char* name;
    step_function function;
} kSteps[] = {
#define STEP_ROW(name, code) {#name, step_##name},
    STEPS(STEP_ROW)
#undef STEP_ROW
};
enum { kStepCount = sizeof(kSteps) / sizeof(kSteps[0]) };

/* Built without a red zone, so the call may push. rdi is the state's address throughout. */
static void run(step_function function, struct state* state) {
    memset(state, 0, sizeof(*state));
    for (size_t i = 0; i < sizeof(state->vectors); i++) {
        state->vectors[i / 32][i % 32] = (uint8_t)(3 * i + 1);
    }
    register uint64_t r8 __asm__("r8") = 0x88;
    uint64_t rax = 0x77;
    uint64_t rcx = 5;
    uint64_t rdx = 6;
    __asm__ volatile(
        "vmovdqu 0(%%rdi), %%ymm0\n vmovdqu 32(%%rdi), %%ymm1\n"
        "vmovdqu 64(%%rdi), %%ymm2\n vmovdqu 96(%%rdi), %%ymm3\n"
        "vmovdqu 128(%%rdi), %%ymm4\n vmovdqu 160(%%rdi), %%ymm5\n"
        "vmovdqu 192(%%rdi), %%ymm6\n vmovdqu 224(%%rdi), %%ymm7\n"
        "cmp %%eax, %%eax\n"
        "call *%[function]\n"
        "vmovdqu %%ymm0, 0(%%rdi)\n vmovdqu %%ymm1, 32(%%rdi)\n"
        "vmovdqu %%ymm2, 64(%%rdi)\n vmovdqu %%ymm3, 96(%%rdi)\n"
        "vmovdqu %%ymm4, 128(%%rdi)\n vmovdqu %%ymm5, 160(%%rdi)\n"
        "vmovdqu %%ymm6, 192(%%rdi)\n vmovdqu %%ymm7, 224(%%rdi)\n"
        "vzeroupper\n"
        : "+a"(rax), "+c"(rcx), "+d"(rdx), "+r"(r8)
        : "D"(state), [function] "r"(function)
        : "r9", "r10", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
          "xmm7");
    state->rax = rax;
    state->rcx = rcx;
    state->rdx = rdx;
    state->r8 = r8;
}

int main(void) {
    static struct state before[kStepCount];
    static struct state after[kStepCount];
    __builtin_cpu_init();
    const bool can_run = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                         __builtin_cpu_supports("bmi");
    const int count = can_run ? kStepCount : 0;
    for (int i = 0; i < count; i++) {
        run(kSteps[i].function, &before[i]);
    }
    target_ready_and_wait();
    for (int i = 0; i < count; i++) {
        run(kSteps[i].function, &after[i]);
    }
    printf("{\"functions\":%d,\"wrong\":[", count);
    const char* comma = "";
    for (int i = 0; i < count; i++) {
        if (memcmp(&before[i], &after[i], sizeof(before[i])) != 0) {
            printf("%s\"%s\"", comma, kSteps[i].name);
            comma = ",";
        }
    }
    printf("]}\n");
    target_wait_for_end();
    return 0;
}
