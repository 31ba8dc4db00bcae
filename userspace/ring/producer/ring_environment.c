// SPDX-License-Identifier: Apache-2.0
//
// Settings from the call's options, the library's own variables, and OCaml's, in this order. Set-
// user-id programs take nothing from the environment (secure_getenv). Used by ring_control.c.
#include "ring/producer/ring_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORDS_LOG2_DEFAULT 16
#define WORDS_LOG2_MIN 5
#define WORDS_LOG2_MAX 24
#define RING_COUNT_DEFAULT 128

// An OCaml runtime in the process takes its variables for itself, and the same file's name.
extern void caml_runtime_events_start(void) __attribute__((weak));

static const char* ocaml_variable(const char* name) {
    return caml_runtime_events_start == NULL ? secure_getenv(name) : NULL;
}

// Ours says yes by any value but 0; OCaml's by being there.
static bool is_set(const char* own, const char* ocaml) {
    const char* value = secure_getenv(own);
    return value != NULL ? strcmp(value, "0") != 0 : ocaml_variable(ocaml) != NULL;
}

bool tr_environment_asks(void) {
    return is_set("TRACER_RING_START", "OCAML_RUNTIME_EVENTS_START");
}

// A letter's number in OCAMLRUNPARAM, "e=16,d=4": decimal or 0x, with k, M or G; the last one
// counts. 0: it is not there.
static unsigned long ocaml_parameter(char letter) {
    const char* text = ocaml_variable("OCAMLRUNPARAM");
    if (text == NULL) text = ocaml_variable("CAMLRUNPARAM");
    unsigned long value = 0;
    while (text != NULL && *text != '\0') {
        if (text[0] == letter && text[1] == '=') {
            char* end = NULL;
            value = strtoul(text + 2, &end, 0);
            if (*end == 'k') value <<= 10;
            if (*end == 'M') value <<= 20;
            if (*end == 'G') value <<= 30;
        }
        text = strchr(text, ',');
        if (text != NULL) ++text;
    }
    return value;
}

// 0: nowhere given. Nonsense is too large a number, and refused like one.
static unsigned long number(unsigned option, const char* own, char ocaml) {
    if (option != 0) return option;
    const char* text = secure_getenv(own);
    if (text == NULL) return ocaml_parameter(ocaml);
    char* end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    return *text != '\0' && *end == '\0' && value != 0 ? value : (unsigned long)-1;
}

static int set_directory(const char* directory, struct tr_ring_settings* settings) {
    settings->directory[0] = '\0';
    settings->is_memory = false;
    if (directory == NULL) directory = secure_getenv("TRACER_RING_DIR");
    if (directory == NULL) directory = ocaml_variable("OCAML_RUNTIME_EVENTS_DIR");
    if (directory == NULL || directory[0] == '\0') return 0;
    if (strcmp(directory, "memfd") == 0) {
        settings->is_memory = true;
        return 0;
    }
    // Absolute, so that a child of fork in another working directory finds the same one.
    if (realpath(directory, settings->directory) == NULL) {
        settings->directory[0] = '\0';
        return -errno;
    }
    struct stat status;
    if (stat(settings->directory, &status) != 0) return -errno;
    return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

// Whether the kernel keeps its time by the processor's counter, which it then has found to agree on
// all processors and goes on to watch.
static bool kernel_counts(void) {
    char text[32];
    return tr_ring_read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                             text, sizeof(text)) &&
           strcmp(text, "tsc\n") == 0;
}

int tr_environment_settings(const tracer_ring_options* options, struct tr_ring_settings* settings) {
    const tracer_ring_options none = {0};
    if (options == NULL) options = &none;
    const unsigned long words_log2 =
        number(options->ring_words_log2, "TRACER_RING_WORDS_LOG2", 'e');
    const unsigned long count = number(options->ring_count, "TRACER_RING_COUNT", 'd');
    if (words_log2 != 0 && (words_log2 < WORDS_LOG2_MIN || words_log2 > WORDS_LOG2_MAX)) {
        return -EINVAL;
    }
    if (count > TR_RING_COUNT_MAX) return -EINVAL;
    settings->words_log2 = words_log2 != 0 ? (uint32_t)words_log2 : WORDS_LOG2_DEFAULT;
    settings->ring_count = count != 0 ? (uint32_t)count : RING_COUNT_DEFAULT;
    settings->is_preserved =
        options->preserve || is_set("TRACER_RING_PRESERVE", "OCAML_RUNTIME_EVENTS_PRESERVE");
    settings->is_removed_on_signals = options->remove_on_signals;
    const char* clock = secure_getenv("TRACER_RING_CLOCK");
    settings->is_clock_counted = false;
    if (!options->exact_clock && tr_clock_can_count()) {
        const bool is_asked = options->fast_clock || (clock != NULL && strcmp(clock, "tsc") == 0);
        settings->is_clock_counted =
            is_asked || ((clock == NULL || clock[0] == '\0') && kernel_counts());
    }
    return set_directory(options->directory, settings);
}
