// SPDX-License-Identifier: Apache-2.0
//
// One timerfd. Used by recording.cpp alone.
#include "session/start_time.h"

#include <algorithm>
#include <cerrno>
#include <sys/timerfd.h>

namespace tracer {

Result<UniqueFd> open_start_timer(const StartTime& start) {
    const bool is_date = start.at != 0;
    UniqueFd timer(
        timerfd_create(is_date ? CLOCK_REALTIME : CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    itimerspec time{};
    time.it_value.tv_sec = start.at;
    if (!is_date) {
        // A time of 0 would disarm it.
        const auto after_ns = std::max<int64_t>(start.after.count(), 1);
        time.it_value = {after_ns / 1'000'000'000, after_ns % 1'000'000'000};
    }
    const int flags = is_date ? TFD_TIMER_ABSTIME : 0;
    if (!timer.valid() || timerfd_settime(timer.get(), flags, &time, nullptr) != 0) {
        return fail_errno(ErrorCode::internal, errno, "set the timer of the start");
    }
    return timer;
}

}  // namespace tracer
