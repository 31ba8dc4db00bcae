/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hits one probe exactly --hits N times (1000000) from --threads T (1): the USDT site
 * flood:hit(int counter, unsigned thread), or with --function the plain function flood_function,
 * or with --neither only the loop around them. --pin: thread t on CPU t modulo their number.
 * --rate N: at most N hits a second a thread. Prints one line:
 * {"hits":..,"wall_ns":..,"cpu_ns":..,"threads":[{"tid":..,"hits":..,"cpu_ns":..},..]}
 * Used by the loss tests and by the benchmarks.
 */
#include "function_kept_whole.h"
#include "target.h"
#include "tracer/usdt.h"

#include <pthread.h>
#include <sched.h>

#define THREADS_MAX 256

enum flood_kind { kUsdt, kFunction, kNeither };

struct flood {
    pthread_t thread;
    pthread_barrier_t* start;
    enum flood_kind kind;
    uint32_t number;
    int cpu; /* -1: any */
    uint64_t hits;
    uint64_t rate; /* hits a second, 0: no limit */
    int tid;
    uint64_t cpu_ns;
};

/*
 * Does nothing. Assembler, so that its first instruction is the usual push, which the kernel
 * emulates; a compiler leaves a lone ret, which a probe would have to single-step.
 */
void flood_function(int counter, unsigned thread);
__asm__(
    ".text\n"
    ".globl flood_function\n"
    ".type flood_function, @function\n"
    "flood_function:\n"
    "push %rbp\n"
    "mov %rsp, %rbp\n"
    "pop %rbp\n"
    "ret\n"
    ".size flood_function, .-flood_function\n");

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static FUNCTION_KEPT_WHOLE void flood_usdt(uint64_t first,
                                                          uint64_t end,
                                                          uint32_t thread) {
    for (uint64_t i = first; i < end; i++) {
        const int counter = (int)i;
        TRACER_PROBE(flood, hit, counter, thread);
    }
}

static FUNCTION_KEPT_WHOLE void flood_calls(uint64_t first,
                                                           uint64_t end,
                                                           uint32_t thread) {
    for (uint64_t i = first; i < end; i++) {
        flood_function((int)i, thread);
    }
}

static FUNCTION_KEPT_WHOLE void flood_nothing(uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; i++) {
        __asm__ volatile("" : : "r"(i));
    }
}

static void hit_range(const struct flood* flood, uint64_t first, uint64_t end) {
    switch (flood->kind) {
        case kUsdt:
            flood_usdt(first, end, flood->number);
            break;
        case kFunction:
            flood_calls(first, end, flood->number);
            break;
        case kNeither:
            flood_nothing(first, end);
            break;
    }
}

static void sleep_until(uint64_t ns) {
    const struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

/* One millisecond's worth at a time, each at its own deadline, so that lateness does not add up. */
static void hit_paced(const struct flood* flood) {
    const uint64_t start_ns = target_clock_ns(CLOCK_MONOTONIC);
    const uint64_t at_once = flood->rate < 1000 ? 1 : flood->rate / 1000;
    for (uint64_t done = 0; done < flood->hits;) {
        const uint64_t left = flood->hits - done;
        const uint64_t count = left < at_once ? left : at_once;
        sleep_until(start_ns + (uint64_t)((double)done / (double)flood->rate * 1e9));
        hit_range(flood, done, done + count);
        done += count;
    }
}

static void* run(void* argument) {
    struct flood* flood = argument;
    flood->tid = target_tid();
    if (flood->cpu >= 0) {
        pin(flood->cpu);
    }
    pthread_barrier_wait(flood->start);
    const uint64_t start_ns = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (flood->rate > 0) {
        hit_paced(flood);
    } else {
        hit_range(flood, 0, flood->hits);
    }
    flood->cpu_ns = target_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    return NULL;
}

static void print_results(const struct flood* floods, uint64_t threads, uint64_t wall_ns) {
    uint64_t hits = 0;
    uint64_t cpu_ns = 0;
    for (uint64_t t = 0; t < threads; t++) {
        hits += floods[t].hits;
        cpu_ns += floods[t].cpu_ns;
    }
    printf("{\"hits\":%llu,\"wall_ns\":%llu,\"cpu_ns\":%llu,\"threads\":[",
           (unsigned long long)hits, (unsigned long long)wall_ns, (unsigned long long)cpu_ns);
    for (uint64_t t = 0; t < threads; t++) {
        printf("%s{\"tid\":%d,\"hits\":%llu,\"cpu_ns\":%llu}", t == 0 ? "" : ",", floods[t].tid,
               (unsigned long long)floods[t].hits, (unsigned long long)floods[t].cpu_ns);
    }
    printf("]}\n");
}

int main(int argc, char** argv) {
    static struct flood floods[THREADS_MAX];
    pthread_barrier_t start;
    const uint64_t hits = target_option(argc, argv, "--hits", 1000000);
    uint64_t threads = target_option(argc, argv, "--threads", 1);
    threads = threads == 0 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    target_ready_and_wait();
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (uint64_t t = 0; t < threads; t++) {
        struct flood* flood = &floods[t];
        flood->start = &start;
        flood->kind = target_flag(argc, argv, "--function")  ? kFunction
                      : target_flag(argc, argv, "--neither") ? kNeither
                                                             : kUsdt;
        flood->number = (uint32_t)t;
        flood->cpu = target_flag(argc, argv, "--pin") ? (int)((long)t % cpus) : -1;
        flood->hits = hits / threads + (t < hits % threads ? 1 : 0);
        flood->rate = target_option(argc, argv, "--rate", 0);
        if (pthread_create(&flood->thread, NULL, run, flood) != 0) {
            return 1;
        }
    }
    pthread_barrier_wait(&start);
    const uint64_t start_ns = target_clock_ns(CLOCK_MONOTONIC);
    for (uint64_t t = 0; t < threads; t++) {
        pthread_join(floods[t].thread, NULL);
    }
    print_results(floods, threads, target_clock_ns(CLOCK_MONOTONIC) - start_ns);
    target_wait_for_end();
    return 0;
}
