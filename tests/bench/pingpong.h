// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

namespace tracer::bench {

struct PingPongResult {
    double cpu_ns_per_switch = 0;
    double switches_per_second = 0;
};

// Two processes on one CPU pass a byte to and fro over pipes, each passing a switch.
[[nodiscard]] PingPongResult ping_pong(int cpu, int passes);

// One such pair on each of the CPUs at once, for about so many passes each; the sum and the mean.
[[nodiscard]] PingPongResult ping_pong_on(const std::vector<int>& cpus, int passes);

}  // namespace tracer::bench
