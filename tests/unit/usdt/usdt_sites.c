/* SPDX-License-Identifier: Apache-2.0 */
/* The sites as a C program. Runs them, so that a spoilt instruction shows. */
#include "usdt_sites.h"

int main(int argc, char** argv) {
    (void)argv;
    return run_sites(argc);
}
