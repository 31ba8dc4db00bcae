/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain functions with exact call counts, for probes on entry and return: recursion, nesting,
 * frames left by longjmp, several threads. Built with -O0, so that each begins with `push %rbp`,
 * which the kernel emulates, and no call is a tail call. --fib N (12), --deep N (100), --jumps N
 * (10), --threads N (3). Prints {"calls":{NAME:N,..},"returns":{NAME:N,..},"depth":{NAME:N,..}}
 * over all threads; depth is the deepest nesting of that function within itself.
 */
#include "function_kept_whole.h"
#include "target.h"

#include <pthread.h>
#include <setjmp.h>

#define TRACED FUNCTION_KEPT_WHOLE
#define THREADS_MAX 64

#define FUNCTIONS(X) \
    X(fib) X(outer) X(middle) X(inner) X(deep) X(jump_catch) X(jump_over) X(jump_leap)

enum function_index {
#define INDEX(name) k_##name,
    FUNCTIONS(INDEX)
#undef INDEX
        kFunctionCount
};

/* Of one thread; summed after it is joined. */
struct counts {
    uint64_t calls[kFunctionCount];
    uint64_t returns[kFunctionCount];
    uint64_t depth_now[kFunctionCount];
    uint64_t depth_max[kFunctionCount];
    jmp_buf landing;
};

struct work {
    struct counts counts;
    unsigned fib, deep, jumps;
    pthread_t thread;
};

static inline void entered(struct counts* c, enum function_index f) {
    c->calls[f]++;
    c->depth_now[f]++;
    if (c->depth_now[f] > c->depth_max[f]) {
        c->depth_max[f] = c->depth_now[f];
    }
}

static inline void left(struct counts* c, enum function_index f) {
    c->returns[f]++;
    c->depth_now[f]--;
}

TRACED uint64_t fib(struct counts* c, unsigned n) {
    entered(c, k_fib);
    const uint64_t result = n < 2 ? n : fib(c, n - 1) + fib(c, n - 2);
    left(c, k_fib);
    return result;
}

TRACED int inner(struct counts* c, int value) {
    entered(c, k_inner);
    left(c, k_inner);
    return value + 1;
}

TRACED int middle(struct counts* c, int value) {
    entered(c, k_middle);
    const int result = inner(c, value) + inner(c, value + 1);
    left(c, k_middle);
    return result;
}

TRACED int outer(struct counts* c, int value) {
    entered(c, k_outer);
    const int result = middle(c, value) + inner(c, value);
    left(c, k_outer);
    return result;
}

TRACED unsigned deep(struct counts* c, unsigned levels) {
    entered(c, k_deep);
    const unsigned below = levels == 0 ? 0 : deep(c, levels - 1);
    left(c, k_deep);
    return below + 1;
}

TRACED void jump_leap(struct counts* c) {
    entered(c, k_jump_leap);
    longjmp(c->landing, 1);
}

TRACED void jump_over(struct counts* c) {
    entered(c, k_jump_over);
    jump_leap(c);
    left(c, k_jump_over);
}

/* Returns normally; jump_over and jump_leap never do. */
TRACED void jump_catch(struct counts* c) {
    entered(c, k_jump_catch);
    if (setjmp(c->landing) == 0) {
        jump_over(c);
    }
    c->depth_now[k_jump_over] = 0;
    c->depth_now[k_jump_leap] = 0;
    left(c, k_jump_catch);
}

static void* run(void* argument) {
    struct work* work = argument;
    struct counts* c = &work->counts;
    fib(c, work->fib);
    for (int i = 0; i < 5; i++) {
        outer(c, i);
    }
    deep(c, work->deep - 1);
    for (unsigned i = 0; i < work->jumps; i++) {
        jump_catch(c);
    }
    return NULL;
}

static void print_table(const char* name, const uint64_t* values) {
    static const char* const kNames[] = {
#define NAME(name) #name,
        FUNCTIONS(NAME)
#undef NAME
    };
    printf("\"%s\":{", name);
    for (int f = 0; f < kFunctionCount; f++) {
        printf("%s\"%s\":%llu", f == 0 ? "" : ",", kNames[f], (unsigned long long)values[f]);
    }
    printf("}");
}

int main(int argc, char** argv) {
    static struct work works[THREADS_MAX];
    static struct counts total;
    uint64_t threads = target_option(argc, argv, "--threads", 3);
    if (threads > THREADS_MAX) {
        threads = THREADS_MAX;
    }
    target_ready_and_wait();
    for (uint64_t t = 0; t < threads; t++) {
        works[t].fib = (unsigned)target_option(argc, argv, "--fib", 12);
        works[t].deep = (unsigned)target_option(argc, argv, "--deep", 100);
        works[t].jumps = (unsigned)target_option(argc, argv, "--jumps", 10);
        if (pthread_create(&works[t].thread, NULL, run, &works[t]) != 0) {
            return 1;
        }
    }
    for (uint64_t t = 0; t < threads; t++) {
        pthread_join(works[t].thread, NULL);
        for (int f = 0; f < kFunctionCount; f++) {
            total.calls[f] += works[t].counts.calls[f];
            total.returns[f] += works[t].counts.returns[f];
            if (works[t].counts.depth_max[f] > total.depth_max[f]) {
                total.depth_max[f] = works[t].counts.depth_max[f];
            }
        }
    }
    printf("{");
    print_table("calls", total.calls);
    printf(",");
    print_table("returns", total.returns);
    printf(",");
    print_table("depth", total.depth_max);
    printf("}\n");
    target_wait_for_end();
    return 0;
}
