// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace tracer::test {

// What must hold for any bytes that the Fuchsia trace reader is given; aborts where it does not.
// They are read whole and in pieces of `piece` bytes (at least 1).
void check_fxt_invariants(std::span<const std::byte> bytes, size_t piece);

}  // namespace tracer::test
