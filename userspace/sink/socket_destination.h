// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/io_destination.h"
#include "tracer/base/unique_fd.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tracer {

// Sends buffers to a connected stream socket. Waits for the reader without bound until the producer
// closes, and from then on no longer than the timeout.
class SocketDestination final : public IoDestination {
public:
    // `wake` is an eventfd.
    SocketDestination(UniqueFd socket,
                      UniqueFd wake,
                      std::string label,
                      std::chrono::milliseconds close_timeout)
        : socket_(std::move(socket)),
          wake_(std::move(wake)),
          label_(std::move(label)),
          close_timeout_(close_timeout) {}

    [[nodiscard]] Status write(const IoBuffer& buffer) override;
    void begin_close() override;
    [[nodiscard]] Status finish() override;

private:
    [[nodiscard]] bool wait_for_reader();
    void discard_input();

    UniqueFd socket_;
    const UniqueFd wake_;
    const std::string label_;
    const std::chrono::milliseconds close_timeout_;
    // Set by the producer: when waiting ends, in ticks of Clock; 0: never.
    std::atomic<Clock::rep> deadline_{0};
    uint64_t undelivered_bytes_ = 0;  // of the thread, then of finish()
    bool has_given_up_ = false;
};

}  // namespace tracer
