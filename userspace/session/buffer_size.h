// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tracer {

// Memory for a flight recorder's history where none is named: 1/16 of what is free, 1 GiB at most.
[[nodiscard]] uint64_t default_history_bytes();
// And for one on a disk: a quarter of what is free there, 16 GiB at most.
[[nodiscard]] uint64_t default_history_bytes(const std::string& folder);

// What --buffer says.
struct BufferRequest {
    uint64_t bytes = 0;
    bool per_cpu = false;  // false: for all rings together
};

// What the machine says.
struct MachineLoad {
    uint32_t cpu_count = 1;
    uint64_t memory_available_bytes = 0;
    uint64_t page_bytes = 4096;
    uint64_t switches_per_second = 0;  // of all CPUs
};

inline constexpr uint64_t kRingBytesMin = 4u << 20;
inline constexpr uint64_t kRingBytesMax = 64u << 20;

// Bytes of each CPU's ring, a power of two of at least one page. Without a request: room for a
// second of the machine's switches and wakeups (when `records_all_switches`), within
// kRingBytesMin..kRingBytesMax and 1/16 of the memory there is for all rings.
[[nodiscard]] Result<uint64_t> choose_ring_bytes(const std::optional<BufferRequest>& request,
                                                 const MachineLoad& load,
                                                 bool records_all_switches);

// Reads /proc; with `measure_switches` it looks at the switch count twice, 50 ms apart.
[[nodiscard]] MachineLoad read_machine_load(bool measure_switches);

// The ring that would have held what was lost, as a power of two: the ring as it was and twice the
// mean gap. A bound from what was seen, not a promise.
[[nodiscard]] uint64_t enough_ring_bytes(uint64_t ring_bytes,
                                         uint64_t lost,
                                         uint64_t gaps,
                                         uint64_t record_bytes);

}  // namespace tracer
