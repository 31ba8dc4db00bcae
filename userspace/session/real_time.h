// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sched.h>

namespace tracer {

// Of the calling thread: before all ordinary ones, in turn with others of its kind. 0, or the errno
// of who refused.
inline int take_real_time_priority() {
    const sched_param parameter{.sched_priority = 1};
    return pthread_setschedparam(pthread_self(), SCHED_RR, &parameter);
}

}  // namespace tracer
