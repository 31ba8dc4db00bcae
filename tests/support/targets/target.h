/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_TARGET_H
#define TRACER_TESTS_TARGET_H

/*
 * What every traced program of the tests does the same way: it prints {"ready":PID}, waits for a
 * line on standard input before it does anything worth tracing, and prints what it did as JSON, one
 * object a line, flushed at once. A test attaches between the two.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reads one line without its newline; false at the end of input. */
static inline bool target_read_line(char* line, size_t bytes) {
    if (fgets(line, (int)bytes, stdin) == NULL) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* Ends the program at once when the test went away instead of saying go. */
static inline void target_ready_and_wait(void) {
    char line[64];
    printf("{\"ready\":%d}\n", (int)getpid());
    fflush(stdout);
    if (!target_read_line(line, sizeof(line))) {
        exit(0);
    }
}

/*
 * After the results: stays alive until the next line or the end of input, so that the test can look
 * at the process while everything in it is over.
 */
static inline void target_wait_for_end(void) {
    char line[64];
    fflush(stdout);
    (void)target_read_line(line, sizeof(line));
}

static inline int target_tid(void) {
    return (int)syscall(SYS_gettid);
}

static inline uint64_t target_clock_ns(clockid_t clock) {
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The value after `name` among the arguments, else `fallback`; "--hits 5". */
static inline uint64_t target_option(int argc, char** argv, const char* name, uint64_t fallback) {
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoull(argv[i + 1], NULL, 10);
        }
    }
    return fallback;
}

static inline bool target_flag(int argc, char** argv, const char* name) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return true;
        }
    }
    return false;
}

#endif /* TRACER_TESTS_TARGET_H */
