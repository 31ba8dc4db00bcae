// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tracer {

// "1,234,567"
[[nodiscard]] std::string human_count(uint64_t count);
// "512 B", "3.9 MiB"
[[nodiscard]] std::string human_bytes(uint64_t bytes);
// As --buffer takes it: "64K", "16M"; exact for powers of two.
[[nodiscard]] std::string size_option(uint64_t bytes);

}  // namespace tracer
