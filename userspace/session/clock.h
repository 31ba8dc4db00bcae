// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/abi/event.h"

#include <cstdint>

namespace tracer {

// CLOCK_BOOTTIME, the time base of every record.
[[nodiscard]] uint64_t boottime_ns();

// CPU time that the calling thread has used.
[[nodiscard]] uint64_t thread_cpu_ns();

// One reading of the three clocks as a whole TR_KIND_clock record.
[[nodiscard]] tr_clock read_clocks();

}  // namespace tracer
