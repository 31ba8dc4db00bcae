// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/buffer_size.h"
#include "tracer/base/result.h"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace tracer {

// "5s", "500ms", "1.5m", "1h", "250us"; a bare number is seconds. More than 0, at most a year.
[[nodiscard]] Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// "4096", "64K", "1.5G", "64KiB": powers of 1024. More than 0, below 2^60.
[[nodiscard]] Result<uint64_t> parse_size(std::string_view text);

// A size, and "/cpu" behind it if it is for each CPU.
[[nodiscard]] Result<BufferRequest> parse_buffer(std::string_view text);

}  // namespace tracer
