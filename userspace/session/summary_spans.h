// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/span_ledger.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// How long spans took, a line a span; with `verbose` all of them, each with a picture by powers of
// two and the causes of its repairs. Empty if none ended.
[[nodiscard]] std::string span_table(const std::vector<SpanTally>& spans, bool verbose);

// A line a power of two, from the shortest to the longest that there is (of a DurationHistogram).
[[nodiscard]] std::string duration_picture(const std::array<uint64_t, 65>& by_power_of_two);

// The key of each cause in the JSON summary.
[[nodiscard]] const char* cause_key(model::SpanEndCause cause);

}  // namespace tracer
