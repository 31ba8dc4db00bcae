// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tracer {

// A client of a running recording.
class ControlConnection {
public:
    // `folder` as control_folder() has it.
    [[nodiscard]] static Result<ControlConnection> open(const std::string& folder,
                                                        uint32_t pid,
                                                        std::chrono::milliseconds timeout);

    // One request, one answer: the line, which is JSON.
    [[nodiscard]] Result<std::string> ask(std::span<const std::string> words);

    // What follows an answer with `payload_bytes`: so many bytes, in pieces, to `take`, whose error
    // ends it.
    [[nodiscard]] Status read_payload(
        uint64_t bytes, const std::function<Status(std::span<const std::byte>)>& take);

    // Until the recording has closed its file and is gone; false: not within the timeout.
    [[nodiscard]] bool wait_for_end(std::chrono::milliseconds timeout);

private:
    explicit ControlConnection(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
    std::string rest_;  // read behind the last answer
};

}  // namespace tracer
