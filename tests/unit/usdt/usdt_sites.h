/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_USDT_SITES_H
#define TRACER_TESTS_USDT_SITES_H

/*
 * Probe sites for C and C++ alike, compiled many ways (CMakeLists.txt); usdt_test.cpp knows what
 * their notes must say. Each function is one site, whatever the compiler would rather do.
 */

#define TRACER_SPAN_PROVIDER sites
#include "tracer/usdt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITE __attribute__((noinline, noclone, used)) static
#ifdef __clang__
#undef SITE
#define SITE __attribute__((noinline, used)) static
#endif

enum plain_enum { kPlainZero, kPlainOne };
enum negative_enum { kNegativeOne = -1, kNegativeTwo = 2 };

struct record {
    short parts[4];
    const char* name;
};

TRACER_SEMAPHORE(sites, counted)
TRACER_SEMAPHORE(sites, counted_many)

static int global_int = 7;
static struct record global_record = {{1, 2, 3, 4}, "record"};

SITE void integers(char c,
                   signed char s8,
                   unsigned char u8,
                   short s16,
                   unsigned short u16,
                   int s32,
                   unsigned u32,
                   long s64,
                   unsigned long u64,
                   long long sll,
                   unsigned long long ull,
                   bool b) {
    TRACER_PROBE(sites, integers, c, s8, u8, s16, u16, s32, u32, s64, u64, sll, ull, b);
}

SITE void fixed_widths(int8_t a,
                       uint8_t b,
                       int16_t c,
                       uint16_t d,
                       int32_t e,
                       uint32_t f,
                       int64_t g,
                       uint64_t h,
                       size_t i,
                       ptrdiff_t j,
                       wchar_t k) {
    TRACER_PROBE(sites, fixed_widths, a, b, c, d, e, f, g, h, i, j, k);
}

SITE void pointers(const char* text, void* address, struct record* record, int (*function)(void)) {
    char local[10] = "local";
    int numbers[3] = {1, 2, 3};
    TRACER_PROBE(sites, pointers, text, address, record, function, local, numbers, "literal",
                 record->parts, &numbers[1], record->name);
}

SITE void floats(float f, double d) {
    TRACER_PROBE(sites, floats, f, d);
}

SITE void enumerations(enum plain_enum plain, enum negative_enum negative) {
    TRACER_PROBE(sites, enumerations, plain, negative);
}

SITE void constants(void) {
    TRACER_PROBE(sites, constants, 5, -5, 7u, -1L, 0xffffffffffffffffull, 'x', true, (char)-1);
}

SITE void expressions(int x, struct record* record) {
    const volatile int qualified = x;
    TRACER_PROBE(sites, expressions, x + 1, x > 3, (short)x, (unsigned char)x, qualified,
                 global_int, global_record.parts[2], record->parts[x & 3],
                 x ? record : (struct record*)0);
}

SITE void twelve(long a, int b) {
    TRACER_PROBE(sites, twelve, a, b, a + 1, b + 1, a + 2, b + 2, a + 3, b + 3, a + 4, b + 4, a + 5,
                 b + 5);
}

SITE void none(void) {
    TRACER_PROBE(sites, none);
}

SITE void with__two__underscores(int x) {
    TRACER_PROBE(sites, with__two__underscores, x);
}

SITE void counted(int x) {
    TRACER_PROBE_WITH_SEMAPHORE(sites, counted, x);
    TRACER_PROBE_IF_ENABLED(sites, counted_many, x, global_int);
    TRACER_PROBE_IF_ENABLED(sites, counted_many);
}

SITE void compatible(int x, const char* text) {
    DTRACE_PROBE(sites, dtrace_0);
    DTRACE_PROBE2(sites, dtrace_2, x, text);
    STAP_PROBE(sites, stap_0);
    STAP_PROBEV(sites, stap_v, x, text);
    STAP_PROBE12(sites, stap_12, x, text, x, text, x, text, x, text, x, text, x, text);
}

SITE int spans(int x) {
    TRACER_SPAN("outer");
    if (x > 1) {
        TRACER_SPAN("inner");
        x += global_int;
        TRACER_SPAN("second of a scope");
    }
    return x;
}

static inline int run_sites(int count) {
    struct record record = {{1, 2, 3, 4}, "local"};
    const enum plain_enum plain = count > 1 ? kPlainOne : kPlainZero;
    const enum negative_enum negative = count > 1 ? kNegativeTwo : kNegativeOne;
    integers('c', -1, 2, -3, 4, -5, 6, -7, 8, -9, 10, count > 1);
    fixed_widths(-1, 2, -3, 4, -5, 6, -7, 8, 9, -10, 11);
    pointers("text", &record, &record, (int (*)(void))0);
    floats(1.5f * (float)count, 2.5 * count);
    enumerations(plain, negative);
    constants();
    expressions(count, &record);
    twelve(count, count);
    none();
    with__two__underscores(count);
    counted(count);
    compatible(count, "compatible");
    (void)spans(count);
    return 0;
}

#endif /* TRACER_TESTS_USDT_SITES_H */
