// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventlog_reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {

using Counts = std::map<uint64_t, uint64_t>;

// A log that is read to its end without anything odd and that six state machines accept, ours and
// those of ghc-events where it is installed; else the test has failed, and there are no events.
[[nodiscard]] EventlogFile load_valid_eventlog(const std::string& path);

[[nodiscard]] uint64_t count_of(const EventlogFile& file, EventlogId id);
[[nodiscard]] Counts count_by(const EventlogFile& file, EventlogId id, std::string_view field);
[[nodiscard]] uint64_t sum_of(const EventlogFile& file, EventlogId id, std::string_view field);
// Sorted.
[[nodiscard]] std::vector<std::string> texts_of(const EventlogFile& file, EventlogId id);

}  // namespace tracer::test
