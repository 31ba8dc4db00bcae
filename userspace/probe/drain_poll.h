// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <chrono>

namespace tracer {

// What the drain thread sleeps on: its rings, and whoever wakes it. Rings are polled
// edge-triggered, because records past the merger's watermark stay in their rings and would
// otherwise end every sleep at once.
class DrainPoll {
public:
    [[nodiscard]] Status open();
    // Until the ring's descriptor is closed.
    [[nodiscard]] Status watch(int ring);
    // True: not the timeout. Of the draining thread.
    [[nodiscard]] bool wait(std::chrono::milliseconds timeout);
    // Any thread.
    void wake();

private:
    UniqueFd epoll_;
    UniqueFd wake_event_;
};

}  // namespace tracer
