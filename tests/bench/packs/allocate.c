/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed work for the allocator: half a million blocks of mixed sizes beside some arithmetic.
 * Writes the CPU time it took, in nanoseconds, to the file it is given.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 1024
#define TURNS 500

static int64_t cpu_ns(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t mix(uint64_t value) {
    for (int i = 0; i < 1000; i++) {
        value = value * 6364136223846793005u + 1442695040888963407u;
    }
    return value;
}

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    void* blocks[BLOCKS] = {NULL};
    uint64_t value = 1;
    const int64_t begin = cpu_ns();
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < BLOCKS; i++) {
            value = mix(value);
            free(blocks[i]);
            blocks[i] = malloc(16 + value % 1000);
        }
    }
    const int64_t used = cpu_ns() - begin;
    FILE* out = fopen(argv[1], "w");
    if (out == NULL || fprintf(out, "%" PRId64 "\n", used) < 0) {
        return 1;
    }
    return fclose(out) == 0 ? 0 : 1;
}
