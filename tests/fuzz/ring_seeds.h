// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tracer::test {

// As ring_cursor_fuzz.cpp takes them.
[[nodiscard]] std::vector<std::vector<std::byte>> make_ring_seeds();

}  // namespace tracer::test
