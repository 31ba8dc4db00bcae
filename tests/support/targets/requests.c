/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves --requests N (100) one after the other, each a call of handle_request(number) that takes
 * --quick-us (1000), and every --slow-every Kth (0: none) --slow-ms (50). Speaks as target.h says;
 * prints {"requests":..,"slow":..}.
 */
#include "function_kept_whole.h"
#include "target.h"

FUNCTION_KEPT_WHOLE int handle_request(int number, uint64_t ns);

static void sleep_ns(uint64_t ns) {
    const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&time, NULL);
}

FUNCTION_KEPT_WHOLE int handle_request(int number, uint64_t ns) {
    sleep_ns(ns);
    return number + 1;
}

int main(int argc, char** argv) {
    const uint64_t requests = target_option(argc, argv, "--requests", 100);
    const uint64_t quick_ns = target_option(argc, argv, "--quick-us", 1000) * 1000;
    const uint64_t slow_every = target_option(argc, argv, "--slow-every", 0);
    const uint64_t slow_ns = target_option(argc, argv, "--slow-ms", 50) * 1000000;
    uint64_t slow = 0;

    target_ready_and_wait();
    for (uint64_t i = 1; i <= requests; i++) {
        const bool is_slow = slow_every != 0 && i % slow_every == 0;
        slow += is_slow;
        handle_request((int)i, is_slow ? slow_ns : quick_ns);
    }
    printf("{\"requests\":%llu,\"slow\":%llu}\n", (unsigned long long)requests,
           (unsigned long long)slow);
    target_wait_for_end();
    return 0;
}
