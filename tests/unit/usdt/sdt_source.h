/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as it is written for <sys/sdt.h>, C and C++ alike; USDT_HEADER is that header or ours.
 */
#define _SDT_HAS_SEMAPHORES 1
#include USDT_HEADER

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* As dtrace -h writes them: one for each probe, whether or not the program asks. */
#define SEMAPHORE(name)                                   \
    __extension__ unsigned short sites_##name##_semaphore \
        __attribute__((unused, section(".probes")))
SEMAPHORE(none);
SEMAPHORE(one);
SEMAPHORE(signs);
SEMAPHORE(pointers);
SEMAPHORE(floats);
SEMAPHORE(four);
SEMAPHORE(five);
SEMAPHORE(six);
SEMAPHORE(seven);
SEMAPHORE(eight);
SEMAPHORE(nine);
SEMAPHORE(ten);
SEMAPHORE(eleven);
SEMAPHORE(twelve);
#ifdef __cplusplus
}
#endif

enum colour { kRed, kGreen };

__attribute__((noinline, used)) static void all_probes(int x, const char* text, double real) {
    const int8_t s8 = (int8_t)x;
    const uint8_t u8 = (uint8_t)x;
    const int16_t s16 = (int16_t)x;
    const uint64_t u64 = (uint64_t)x;
    const float narrow = (float)real;
    const enum colour colour = x > 1 ? kGreen : kRed;
    DTRACE_PROBE(sites, none);
    if (__builtin_expect(sites_one_semaphore != 0, 0)) DTRACE_PROBE1(sites, one, x);
    DTRACE_PROBE4(sites, signs, s8, u8, s16, u64);
    STAP_PROBE3(sites, pointers, text, &x, colour);
    STAP_PROBE2(sites, floats, narrow, real);
    STAP_PROBE4(sites, four, x, text, x, text);
    STAP_PROBE5(sites, five, x, text, x, text, x);
    DTRACE_PROBE6(sites, six, x, text, x, text, x, text);
    DTRACE_PROBE7(sites, seven, x, text, x, text, x, text, x);
    DTRACE_PROBE8(sites, eight, x, text, x, text, x, text, x, text);
    DTRACE_PROBE9(sites, nine, x, text, x, text, x, text, x, text, x);
    DTRACE_PROBE10(sites, ten, x, text, x, text, x, text, x, text, x, text);
    STAP_PROBE11(sites, eleven, x, text, x, text, x, text, x, text, x, text, x);
    STAP_PROBE12(sites, twelve, x, text, x, text, x, text, x, text, x, text, x, text);
}

int main(int argc, char** argv) {
    all_probes(argc, argv[0], 0.5 * argc);
    return 0;
}
