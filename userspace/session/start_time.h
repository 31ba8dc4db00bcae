// SPDX-License-Identifier: Apache-2.0
//
// When a recording that is armed is to be opened.
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <chrono>
#include <ctime>
#include <string>

namespace tracer {

struct StartTime {
    std::string text;                   // as it was asked for
    std::chrono::nanoseconds after{0};  // from when everything is armed
    time_t at = 0;  // CLOCK_REALTIME, however that is set meanwhile; 0: by `after`
};

// Readable from that time on.
[[nodiscard]] Result<UniqueFd> open_start_timer(const StartTime& start);

}  // namespace tracer
