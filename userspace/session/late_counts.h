// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tracer {

// What became of files that were run for the first time during a recording.
struct LateCounts {
    uint64_t files = 0;  // in which probes were armed
    uint64_t sites = 0;
    uint64_t delay_max_ns = 0;    // from the mapping to armed
    uint64_t files_left_out = 0;  // had probes, but no room was left or the kernel refused
    uint64_t files_gone = 0;      // could not be opened any more
    uint64_t mappings_lost = 0;   // not told by the kernel; every process was looked at instead
};

}  // namespace tracer
