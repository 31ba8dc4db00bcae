// SPDX-License-Identifier: Apache-2.0
//
// Threads that take no signals.
#include "base/quiet_thread.h"

#include <csignal>
#include <system_error>
#include <utility>

namespace tracer {

Result<std::thread> start_quiet_thread(std::function<void()> body) {
    // A new thread has the mask of the one that makes it.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<std::thread> started;
    try {
        started = std::thread(std::move(body));
    } catch (const std::system_error& error) {
        started = fail_errno(ErrorCode::io, error.code().value(), "start a thread for the output");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace tracer
