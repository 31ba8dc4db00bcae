// SPDX-License-Identifier: Apache-2.0
//
// Functions whose parameters are passed in every way that there is, called once each with values
// that a test knows. C and C++ compile the same list; TYPE(...) is a structure by value.
#ifndef TRACER_TESTS_DWARF_ARGUMENTS_H
#define TRACER_TESTS_DWARF_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

// Called from elsewhere with arguments that the compiler must not look through.
#ifdef __clang__
#define TR_OPAQUE __attribute__((noinline, optnone))
#else
#define TR_OPAQUE __attribute__((noipa))
#endif
// Keeps what a function was given alive, and its calls apart.
#define TR_USE(value) __asm__ volatile("" : : "g"(value) : "memory")

// NOLINTBEGIN(readability-identifier-naming): the names that C programs have.
enum color { kRed = -1, kGreen = 5 };

struct small {
    int32_t a;
    int32_t b;
};

struct pair {
    int64_t first;
    int64_t second;
};

struct mixed {
    int64_t number;
    double real;
};

struct reals {
    double x;
    double y;
};

struct large {
    int64_t values[4];
};

struct __attribute__((packed)) crooked {
    uint8_t tag;
    uint32_t value;
};

struct request {
    uint32_t id;
    uint32_t flags : 3;
    int32_t level : 7;
    const char* path;
    union {
        uint64_t number;
        struct pair both;
    };
    struct {
        uint16_t port;
        char name[6];
    } peer;
    struct request* next;
};

// NOLINTEND(readability-identifier-naming)

#endif
