// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventlog_builder.h"

#include <cstdint>
#include <functional>

namespace tracer::test {

// Where random logs get their decisions: a generator with a seed, or the input of a fuzzer.
using RandomNumbers = std::function<uint64_t()>;

// A payload in which every field of `shape` has some value that its type allows and the ghc-events
// library reads: texts are UTF-8, closure types decimal, breakdowns known to 0.17.
[[nodiscard]] BigEndianBytes random_eventlog_payload(const EventlogShape& shape,
                                                     const RandomNumbers& random);

}  // namespace tracer::test
