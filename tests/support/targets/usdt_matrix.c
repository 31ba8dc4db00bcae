/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every USDT operand form and size there is, with known values. Prints {"ready":PID}; then obeys
 * lines: "semaphores" prints the semaphores, any other hits every probe --hits times (3) and prints
 * the log of hit_log.h, ended by {"end":true}. Ends at the end of its input. Built as PIE, at fixed
 * addresses and static; traced by the root tests.
 */
#include "hit_log.h"
#include "matrix.h"
#include "target.h"

int main(int argc, char** argv) {
    const uint64_t hits = target_option(argc, argv, "--hits", 3);
    char line[64];
    printf("{\"ready\":%d}\n", (int)getpid());
    fflush(stdout);
    while (target_read_line(line, sizeof(line))) {
        if (strcmp(line, "semaphores") == 0) {
            matrix_print_semaphores();
            continue;
        }
        for (uint64_t round = 0; round < hits; round++) {
            matrix_hit_registers(round);
            matrix_hit_memory(round);
            matrix_hit_symbols(round);
            matrix_hit_constants(round);
            matrix_hit_macros(round);
            matrix_hit_strings(round);
        }
        hit_log_print();
    }
    return 0;
}
