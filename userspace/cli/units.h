// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/quantity.h"
#include "session/targets.h"
#include "tracer/base/result.h"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tracer {

// A size, a time or both with a comma: "1G", "10m" (minutes), "1G,10m". A unit is needed; m is
// minutes, M is 1024 * 1024 bytes.
struct SizeAndTime {
    uint64_t bytes = 0;                // 0: not given
    std::chrono::nanoseconds time{0};  // the same
};
[[nodiscard]] Result<SizeAndTime> parse_size_and_time(std::string_view text);

// "12" or "12,34": each from 1 to the kernel's limit of 4194304.
[[nodiscard]] Result<std::vector<uint32_t>> parse_ids(std::string_view text);

// "7@1234": id 7 in the pid namespace of process 1234.
[[nodiscard]] Result<NamespacedId> parse_namespaced_id(std::string_view text);

}  // namespace tracer
