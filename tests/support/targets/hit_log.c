/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps one growing JSON text a probe. Used by usdt_matrix and generated_matrix, on one thread; memory lasts until the
 * program ends. Running out of memory ends the program: a test then sees no results.
 */
#include "hit_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBES_MAX 1024

struct probe_log {
    const char* probe;
    size_t hits;
    char* text; /* the hits so far, separated by commas */
    size_t bytes;
};

static struct probe_log logs[PROBES_MAX];
static size_t log_count;

static struct probe_log* log_of(const char* probe) {
    for (size_t i = 0; i < log_count; i++) {
        if (strcmp(logs[i].probe, probe) == 0) {
            return &logs[i];
        }
    }
    if (log_count == PROBES_MAX) {
        abort();
    }
    logs[log_count].probe = probe;
    return &logs[log_count++];
}

static void append(struct probe_log* log, const char* text) {
    const size_t bytes = strlen(text);
    char* grown = realloc(log->text, log->bytes + bytes + 1);
    if (grown == NULL) {
        abort();
    }
    memcpy(grown + log->bytes, text, bytes + 1);
    log->text = grown;
    log->bytes += bytes;
}

static void append_string(struct probe_log* log, const char* text) {
    append(log, "\"");
    for (; *text != '\0'; text++) {
        char piece[8] = {*text, '\0'};
        if (*text == '"' || *text == '\\') {
            snprintf(piece, sizeof(piece), "\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            snprintf(piece, sizeof(piece), "\\u%04x", (unsigned)(unsigned char)*text);
        }
        append(log, piece);
    }
    append(log, "\"");
}

static void append_integer(struct probe_log* log, int size, uint64_t bits) {
    char text[32];
    const unsigned unused_bits = 64u - 8u * (unsigned)abs(size);
    const uint64_t shifted = bits << unused_bits;
    if (size < 0) {
        snprintf(text, sizeof(text), "%" PRId64, (int64_t)shifted >> unused_bits);
    } else {
        snprintf(text, sizeof(text), "%" PRIu64, shifted >> unused_bits);
    }
    append(log, text);
}

struct hit_value hit_integer(int size, uint64_t bits) {
    return (struct hit_value){.kind = HIT_INTEGER, .size = size, .bits = bits};
}

struct hit_value hit_string(const char* text) {
    return (struct hit_value){.kind = HIT_STRING, .text = text};
}

struct hit_value hit_null(void) {
    return (struct hit_value){.kind = HIT_NULL};
}

void hit_log_add(const char* probe, size_t count, const struct hit_value* values) {
    struct probe_log* log = log_of(probe);
    append(log, log->hits == 0 ? "[" : ",[");
    log->hits++;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            append(log, ",");
        }
        switch (values[i].kind) {
            case HIT_INTEGER:
                append_integer(log, values[i].size, values[i].bits);
                break;
            case HIT_STRING:
                append_string(log, values[i].text);
                break;
            case HIT_NULL:
                append(log, "null");
                break;
        }
    }
    append(log, "]");
}

void hit_log_print(void) {
    for (size_t i = 0; i < log_count; i++) {
        printf("{\"probe\":\"%s\",\"hits\":%zu,\"args\":[%s]}\n", logs[i].probe, logs[i].hits,
               logs[i].text);
        free(logs[i].text);
        logs[i] = (struct probe_log){0};
    }
    log_count = 0;
    printf("{\"end\":true}\n");
    fflush(stdout);
}
