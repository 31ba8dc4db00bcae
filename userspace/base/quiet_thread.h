// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <functional>
#include <thread>

namespace tracer {

// Runs `body` on a thread with every signal blocked: signals are for the program's own threads, and
// a broken pipe is to be an error there (EPIPE), not the program's end (SIGPIPE).
[[nodiscard]] Result<std::thread> start_quiet_thread(std::function<void()> body);

}  // namespace tracer
