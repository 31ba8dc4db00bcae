/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_HIT_LOG_H
#define TRACER_TESTS_HIT_LOG_H

/*
 * What a program knows about its own probe hits: for each probe the arguments of every hit, in
 * order, printed at the end as {"probe":NAME,"hits":N,"args":[[...],...]}. Integers are printed as
 * a reader of the note must see them (cut to the size, signed or not), floats as their bits,
 * strings in full, and null is an argument that cannot be read.
 */

#include <stddef.h>
#include <stdint.h>

enum hit_value_kind { HIT_INTEGER, HIT_STRING, HIT_NULL };

struct hit_value {
    enum hit_value_kind kind;
    int size; /* of an integer: 1, 2, 4, 8, negative when signed */
    uint64_t bits;
    const char* text;
};

struct hit_value hit_integer(int size, uint64_t bits);
struct hit_value hit_string(const char* text);
struct hit_value hit_null(void);

/* Copies what it is given. `probe` must be a string that lives on. */
void hit_log_add(const char* probe, size_t count, const struct hit_value* values);

/* Prints and forgets everything logged so far. */
void hit_log_print(void);

#define HIT_LOG(probe, ...)                                                         \
    do {                                                                            \
        const struct hit_value hit_values[] = {__VA_ARGS__};                        \
        hit_log_add(probe, sizeof(hit_values) / sizeof(hit_values[0]), hit_values); \
    } while (0)

#endif /* TRACER_TESTS_HIT_LOG_H */
