// SPDX-License-Identifier: Apache-2.0
//
// A producer in C, for what only a process of its own can show: starts from the environment, its
// ends, and exec.
//
//     ring_program report               prints "PATH RINGS WORDS" of rings that are on, or "off"
//     ring_program end DIR HOW [remove] starts in DIR, prints the path, then ends: exit, abort,
//     term ring_program exec DIR             starts in DIR, writes, and becomes "report" in the
//     same DIR
#include "tracer/ring/tracer_ring.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_path(void) {
    char path[PATH_MAX];
    puts(tracer_ring_path(path, sizeof(path)) > 0 ? path : "off");
    fflush(stdout);
}

static int report(void) {
    size_t bytes = 0;
    const struct tr_ring_metadata* metadata = tracer_ring_memory(&bytes);
    if (metadata == NULL) {
        puts("off");
        return 0;
    }
    char path[PATH_MAX];
    tracer_ring_path(path, sizeof(path));
    printf("%s %llu %llu\n", path, (unsigned long long)metadata->ring_count,
           (unsigned long long)metadata->ring_words);
    return 0;
}

static int end(const char* directory, const char* how, bool is_removed) {
    const tracer_ring_options options = {
        .directory = directory, .ring_count = 4, .remove_on_signals = is_removed};
    if (tracer_ring_start(&options) != 0) return 1;
    print_path();
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "term") == 0) raise(SIGTERM);
    if (strcmp(how, "quick") == 0) quick_exit(0);
    return 0;
}

static int become(const char* program, const char* directory) {
    const tracer_ring_options options = {.directory = directory, .ring_count = 4};
    const tracer_ring_event* event = NULL;
    if (tracer_ring_register("before", TRACER_RING_INT, 0, &event) != 0) return 1;
    if (tracer_ring_start(&options) != 0) return 1;
    tracer_ring_write_int(event, 1);
    setenv("TRACER_RING_START", "1", 1);
    setenv("TRACER_RING_DIR", directory, 1);
    setenv("TRACER_RING_PRESERVE", "1", 1);
    execl(program, program, "report", (char*)NULL);
    return 1;
}

int main(int count, char** arguments) {
    if (count >= 2 && strcmp(arguments[1], "report") == 0) return report();
    if (count >= 4 && strcmp(arguments[1], "end") == 0) {
        return end(arguments[2], arguments[3], count > 4);
    }
    if (count >= 3 && strcmp(arguments[1], "exec") == 0) return become(arguments[0], arguments[2]);
    return 2;
}
