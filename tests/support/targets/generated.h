/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_GENERATED_H
#define TRACER_TESTS_GENERATED_H

/*
 * Between the parts of generated_matrix and the two sources that matrix_generator writes for it:
 * generated_notes.c holds sites whose operand text is written out, generated_types.c sites whose
 * operands the compiler chooses.
 */

#include "hit_log.h"
#include "raw_note.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GENERATED_WORDS 64

/* Named by operands only. */
extern uint64_t generated_words[GENERATED_WORDS];
extern __thread uint64_t generated_tls[GENERATED_WORDS];

/* What an argument's address, or an immediate's value, counts from. */
enum generated_origin {
    ORIGIN_ZERO,
    ORIGIN_WORDS,
    ORIGIN_LOCAL,
    ORIGIN_FS,
    ORIGIN_TLS,
    ORIGIN_TPOFF
};

enum generated_kind { KIND_REGISTER, KIND_NUMBER, KIND_MEMORY };

/*
 * An operand as the text of its note means it:
 *   register: `base` shifted right by `shift` bits;
 *   number:   origin + number;
 *   memory:   at origin + base + index * scale + number.
 * Registers have the numbers of DWARF, -1 is none.
 */
struct generated_argument {
    int8_t size; /* negative: signed */
    uint8_t kind;
    uint8_t origin;
    int8_t base;
    uint8_t shift;
    int8_t index;
    uint8_t scale;
    int64_t number;
};

/* What the registers hold when a site is hit; see set_registers in generated_matrix.c. */
enum generated_setup {
    SETUP_VALUES,
    SETUP_ADDRESSES,
    SETUP_SMALL,
    SETUP_FS_OFFSETS,
    SETUP_FS_BASE
};

/* What memory, and the registers of SETUP_VALUES, are filled with. */
enum generated_contents { CONTENTS_BITS, CONTENTS_FLOATS, CONTENTS_DOUBLES };

struct generated_site {
    const char* probe;
    void (*hit)(void);
    uint8_t setup;
    uint8_t contents;
    int8_t index; /* a register that holds a small number instead of what the setup says */
    int64_t bias; /* subtracted from addresses, because the operands' displacements are near it */
    unsigned count;
    const struct generated_argument* arguments;
};

struct generated_semaphore {
    const char* probe;
    const volatile unsigned short* value;
    unsigned sites;
};

extern const struct generated_site generated_sites[];
extern const unsigned generated_site_count;
extern const struct generated_semaphore generated_note_semaphores[];
extern const unsigned generated_note_semaphore_count;
extern const struct generated_semaphore generated_type_semaphores[];
extern const unsigned generated_type_semaphore_count;

/*
 * A function that is one site: registers are exchanged for those prepared, and back. Text for an
 * asm statement at file scope.
 */
#define GENERATED_SITE(label, note)                                                 \
    __asm__(".pushsection .text\n.globl " label "\n.hidden " label "\n.type " label \
            ", @function\n" label ":\n\tcall generated_enter\n" note                \
            "\tjmp generated_leave\n.size " label ", . - " label "\n.popsection\n")

#define GENERATED_SEMAPHORE(name) \
    __attribute__((used, section(".probes"))) volatile unsigned short name = 0

/* One value of each type, for sites whose operands the compiler chooses. */
struct generated_types {
    double f64;
    int64_t s64;
    uint64_t u64;
    const char* pointer;
    float f32;
    int32_t s32;
    uint32_t u32;
    int16_t s16;
    uint16_t u16;
    int8_t s8;
    uint8_t u8;
    bool boolean;
};

struct generated_types generated_types_of(uint64_t bits);

/* Hits every site of generated_types.c once and logs what it passed. */
void generated_hit_types(uint64_t round);

static inline struct hit_value generated_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return hit_integer(4, bits);
}

static inline struct hit_value generated_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return hit_integer(8, bits);
}

#endif /* TRACER_TESTS_GENERATED_H */
