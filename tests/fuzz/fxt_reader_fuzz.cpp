// SPDX-License-Identifier: Apache-2.0
//
// Any bytes through the Fuchsia trace reader: it may find problems, never crash or read past the
// end, and it accounts for every byte. The text of what it found is made too, as every field is
// touched there.
#include "fuzz/fxt_invariants.h"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    tracer::test::check_fxt_invariants(bytes, 1 + size % 61);
    return 0;
}
