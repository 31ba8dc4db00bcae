/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointer arguments that a test reads as strings: every length around the default limit of 256
 * bytes, pages that are not in memory yet, and pointers to nothing. Called by usdt_matrix.
 */
#include "hit_log.h"
#include "matrix.h"
#include "tracer/usdt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char kFileText[] = "text of a page that nobody has touched";

/* A string of `length` letters, not all the same. The caller frees it. */
static char* letters(size_t length, uint64_t round) {
    char* text = malloc(length + 1);
    if (text == NULL) {
        abort();
    }
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)('a' + (i + round) % 26);
    }
    text[length] = '\0';
    return text;
}

static MATRIX_SITE void hit_lengths(uint64_t round) {
    char* s255 = letters(255, round);
    char* s256 = letters(256, round);
    char* s300 = letters(300, round);
    TRACER_PROBE(matrix, str_short, "short");
    HIT_LOG("str_short", hit_string("short"));
    TRACER_PROBE(matrix, str_empty, "");
    HIT_LOG("str_empty", hit_string(""));
    TRACER_PROBE(matrix, str_255, s255);
    HIT_LOG("str_255", hit_string(s255));
    TRACER_PROBE(matrix, str_256, s256);
    HIT_LOG("str_256", hit_string(s256));
    TRACER_PROBE(matrix, str_300, s300);
    HIT_LOG("str_300", hit_string(s300));
    TRACER_PROBE(matrix, str_utf8, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
    HIT_LOG("str_utf8", hit_string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac"));
    TRACER_PROBE(matrix, str_array, kFileText);
    HIT_LOG("str_array", hit_string(kFileText));
    free(s255);
    free(s256);
    free(s300);
}

/*
 * A fresh mapping of a file each time: its pages are in the page cache and not in this process, so
 * a reader that may not sleep faults.
 */
static MATRIX_SITE void hit_untouched(void) {
    const int fd = memfd_create("matrix_untouched", MFD_CLOEXEC);
    if (fd < 0 || write(fd, kFileText, sizeof(kFileText)) != (ssize_t)sizeof(kFileText)) {
        abort();
    }
    char* page = mmap(NULL, sizeof(kFileText), PROT_READ, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED) {
        abort();
    }
    TRACER_PROBE(matrix, str_untouched, page);
    HIT_LOG("str_untouched", hit_string(kFileText));
    munmap(page, sizeof(kFileText));
    close(fd);
}

/* Ends with the last byte of its page; what follows is not mapped. */
static MATRIX_SITE void hit_page_end(void) {
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char* pages =
        mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        abort();
    }
    munmap(pages + page_bytes, page_bytes);
    char* text = pages + page_bytes - sizeof("at the end");
    memcpy(text, "at the end", sizeof("at the end"));
    TRACER_PROBE(matrix, str_page_end, text);
    HIT_LOG("str_page_end", hit_string(text));
    munmap(pages, page_bytes);
}

static MATRIX_SITE void hit_no_string(void) {
    const char* null = NULL;
    const char* low = (const char*)16;
    const char* not_canonical = (const char*)0x8000000000000000u;
    TRACER_PROBE(matrix, str_null, null);
    HIT_LOG("str_null", hit_null());
    TRACER_PROBE(matrix, str_invalid, low, not_canonical);
    HIT_LOG("str_invalid", hit_null(), hit_null());
}

static MATRIX_SITE void hit_several(uint64_t round) {
    char* s300 = letters(300, round);
    char* s10 = letters(10, round);
    TRACER_PROBE(matrix, str_two, "one", 2, s300);
    HIT_LOG("str_two", hit_string("one"), hit_integer(-4, 2), hit_string(s300));
    TRACER_PROBE(matrix, str_twelve, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", s10, s300);
    HIT_LOG("str_twelve", hit_string("1"), hit_string("2"), hit_string("3"), hit_string("4"),
            hit_string("5"), hit_string("6"), hit_string("7"), hit_string("8"), hit_string("9"),
            hit_string("10"), hit_string(s10), hit_string(s300));
    free(s10);
    free(s300);
}

void matrix_hit_strings(uint64_t round) {
    hit_lengths(round);
    hit_untouched();
    hit_page_end();
    hit_no_string();
    hit_several(round);
}
