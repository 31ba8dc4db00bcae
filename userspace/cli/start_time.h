// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <ctime>
#include <string_view>

namespace tracer {

// "14:30", "14:30:05", "2026-12-01T14:30" or with a space instead of the T, local time, as seconds
// of CLOCK_REALTIME. One that is not after `now` is an error that names the next one.
[[nodiscard]] Result<time_t> parse_start_time(std::string_view text, time_t now);

}  // namespace tracer
