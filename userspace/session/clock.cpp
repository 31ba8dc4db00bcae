// SPDX-License-Identifier: Apache-2.0
//
// Reading of the kernel's clocks. The three of a clock record cannot be read at one instant: the
// others are bracketed by two readings of BOOTTIME and the middle is taken, again if the thread
// was put aside between them. Called by the drain loop and at both ends of a recording.
#include "session/clock.h"

#include <ctime>

namespace tracer {
namespace {

constexpr int kTries = 5;
constexpr uint64_t kSpreadNsMax = 2'000;

uint64_t read_ns(clockid_t id) {
    timespec time{};
    clock_gettime(id, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

uint64_t boottime_ns() {
    return read_ns(CLOCK_BOOTTIME);
}

uint64_t thread_cpu_ns() {
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

tr_clock read_clocks() {
    tr_clock record{};
    record.header.size = sizeof(tr_clock);
    record.header.kind = TR_KIND_clock;
    uint64_t best_spread_ns = UINT64_MAX;
    for (int i = 0; i < kTries && best_spread_ns > kSpreadNsMax; ++i) {
        const uint64_t before_ns = read_ns(CLOCK_BOOTTIME);
        const uint64_t monotonic_ns = read_ns(CLOCK_MONOTONIC);
        const uint64_t realtime_ns = read_ns(CLOCK_REALTIME);
        const uint64_t spread_ns = read_ns(CLOCK_BOOTTIME) - before_ns;
        if (spread_ns >= best_spread_ns) continue;
        best_spread_ns = spread_ns;
        record.header.time_ns = before_ns + spread_ns / 2;
        record.monotonic_ns = monotonic_ns;
        record.realtime_ns = realtime_ns;
    }
    return record;
}

}  // namespace tracer
