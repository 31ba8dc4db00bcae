// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tracer::test {

// First inputs of eventlog_reader_fuzz: a log of every event as a file, and decisions for its
// generator.
[[nodiscard]] std::vector<std::vector<std::byte>> make_eventlog_seeds();

}  // namespace tracer::test
