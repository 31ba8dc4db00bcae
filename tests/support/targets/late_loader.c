/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a library when told to: late_loader LIBRARY --hits N (100). Prints {"hits":N} after it
 * called late_hits(N) in it (late_library).
 */
#include "target.h"

#include <dlfcn.h>

int main(int argc, char** argv) {
    const uint64_t hits = target_option(argc, argv, "--hits", 100);
    if (argc < 2) {
        return 2;
    }
    target_ready_and_wait();
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    /* POSIX has the conversion of dlsym's result, C has not: through memory it is exact. */
    void (*late_hits)(uint64_t) = NULL;
    void* symbol = dlsym(library, "late_hits");
    if (symbol == NULL) {
        return 1;
    }
    memcpy(&late_hits, &symbol, sizeof(late_hits));
    late_hits(hits);
    printf("{\"hits\":%llu}\n", (unsigned long long)hits);
    target_wait_for_end();
    return 0;
}
