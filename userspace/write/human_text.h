// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracer {

// "1,234,567"
[[nodiscard]] std::string human_count(uint64_t count);
// "812 ns", "1.25 ms", "20.1 s"
[[nodiscard]] std::string human_duration(uint64_t ns);
// "2026-12-01T10:31:07.123456789Z" (RFC 3339), of CLOCK_REALTIME. All digits: a number would be
// rounded by readers that take all numbers for doubles.
[[nodiscard]] std::string utc_text(uint64_t realtime_ns);

// Names of files, functions and threads are the target's to choose: bytes that a terminal takes for
// a command are written out ("\x1b"; "\u009b" as JSON does), in one line newlines too.
[[nodiscard]] std::string printable(std::string_view text, bool is_one_line = true);

}  // namespace tracer
