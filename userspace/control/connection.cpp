// SPDX-License-Identifier: Apache-2.0
//
// The asking end of the control socket; waits, but never without a limit. Used by `tracer ctl`.
#include "control/connection.h"

#include "control/place.h"
#include "control/words.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

// Of a recording of ours an answer is far shorter.
constexpr size_t kAnswerBytesMax = 1 << 20;

tl::unexpected<Error> no_answer(int sys_errno) {
    if (sys_errno == EAGAIN) {
        return fail(ErrorCode::io, "the recording did not answer in time",
                    "it may be writing its end; try again");
    }
    return fail_errno(ErrorCode::io, sys_errno, "ask the recording");
}

}  // namespace

Result<ControlConnection> ControlConnection::open(const std::string& folder,
                                                  uint32_t pid,
                                                  std::chrono::milliseconds timeout) {
    TR_ASSIGN(UniqueFd socket,
              connect_to_recording(folder, pid, static_cast<int>(timeout.count())));
    return ControlConnection(std::move(socket));
}

Result<std::string> ControlConnection::ask(std::span<const std::string> words) {
    const std::string line = join_words(words) + "\n";
    if (line.size() > kRequestBytesMax) {
        return fail(ErrorCode::usage,
                    fmt::format("the request is longer than {} bytes", kRequestBytesMax));
    }
    if (send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size())) {
        return no_answer(errno);
    }
    std::string answer = std::exchange(rest_, {});
    std::array<char, 4096> buffer{};
    while (answer.size() < kAnswerBytesMax) {
        const size_t end = answer.find('\n');
        if (end != std::string::npos) {
            rest_ = answer.substr(end + 1);
            answer.resize(end);
            return answer;
        }
        const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (count < 0) return no_answer(errno);
        if (count == 0) return fail(ErrorCode::not_found, "the recording ended before it answered");
        answer.append(buffer.data(), static_cast<size_t>(count));
    }
    return fail(ErrorCode::bad_input, "the recording's answer has no end");
}

Status ControlConnection::read_payload(
    uint64_t bytes, const std::function<Status(std::span<const std::byte>)>& take) {
    const size_t held = std::min<uint64_t>(rest_.size(), bytes);
    TR_TRY(take(std::as_bytes(std::span(rest_.data(), held))));
    rest_.erase(0, held);
    uint64_t left = bytes - held;
    std::array<std::byte, 65536> buffer{};
    while (left > 0) {
        const ssize_t count =
            recv(socket_.get(), buffer.data(), std::min<uint64_t>(buffer.size(), left), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return no_answer(errno);
        if (count == 0) return fail(ErrorCode::io, "the recording ended in the middle of a chunk");
        TR_TRY(take(std::span(buffer).first(static_cast<size_t>(count))));
        left -= static_cast<uint64_t>(count);
    }
    return {};
}

bool ControlConnection::wait_for_end(std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd ready{socket_.get(), POLLIN, 0};
        if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
        std::array<char, 256> rest{};
        const ssize_t count = recv(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return true;
    }
}

}  // namespace tracer
