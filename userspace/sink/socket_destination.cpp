// SPDX-License-Identifier: Apache-2.0
//
// The thread's half of a socket sink. send() never blocks, so that the wait for a slow reader is a
// poll() which the closing producer can cut short through an eventfd. Runs in the thread of
// io_queue.cpp.
#include "sink/socket_destination.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

std::string hint_for_send(int sys_errno) {
    switch (sys_errno) {
        case EPIPE:
        case ECONNRESET:
            return "the reader went away; what it had not taken is lost";
        case ETIMEDOUT:
        case EHOSTUNREACH:
        case ENETUNREACH:
            return "the reader's machine does not answer any more";
        default:
            return {};
    }
}

}  // namespace

Status SocketDestination::write(const IoBuffer& buffer) {
    std::span<const std::byte> rest(buffer.memory.get(), buffer.used);
    while (!rest.empty() && !has_given_up_) {
        const ssize_t count =
            ::send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count >= 0) {
            rest = rest.subspan(static_cast<size_t>(count));
            continue;
        }
        const int sys_errno = errno;
        if (sys_errno == EINTR) continue;
        if (sys_errno != EAGAIN) {
            return fail_errno(ErrorCode::io, sys_errno, fmt::format("send to {}", label_),
                              hint_for_send(sys_errno));
        }
        has_given_up_ = !wait_for_reader();
    }
    undelivered_bytes_ += rest.size();
    return {};
}

// Until there is room, or an error that send() will name; false: the time of closing is over.
bool SocketDestination::wait_for_reader() {
    while (true) {
        const Clock::rep deadline = deadline_.load(std::memory_order_acquire);
        std::array<pollfd, 2> ready{{{.fd = socket_.get(), .events = POLLOUT, .revents = 0},
                                     {.fd = wake_.get(), .events = POLLIN, .revents = 0}}};
        int timeout_ms = -1;
        if (deadline != 0) {
            const auto left = Clock::time_point(Clock::duration(deadline)) - Clock::now();
            timeout_ms = static_cast<int>(std::clamp<int64_t>(
                std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0, INT_MAX));
            ready[1].fd = -1;  // has done its work; poll() passes over it
        }
        const int count = ::poll(ready.data(), ready.size(), timeout_ms);
        if (count < 0 && errno != EINTR) return true;
        if (ready[0].revents != 0) return true;
        if (count == 0 && deadline != 0) return false;
    }
}

void SocketDestination::begin_close() {
    const auto deadline = Clock::now() + close_timeout_;
    deadline_.store(deadline.time_since_epoch().count(), std::memory_order_release);
    const uint64_t one = 1;
    // An eventfd that was never written takes a one.
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
}

// A socket closed with unread bytes resets the connection (TCP, RFC 2525 2.17) or gives the peer
// ECONNRESET (Unix), and either can cost the reader what it has not taken yet.
void SocketDestination::discard_input() {
    constexpr int kReadsMax = 256;  // a peer that never stops is not waited for
    std::array<std::byte, 4096> scratch{};
    for (int i = 0; i < kReadsMax; ++i) {
        if (::recv(socket_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT) <= 0) return;
    }
}

Status SocketDestination::finish() {
    // The reader sees the end; an error here is one that the sink knows already.
    static_cast<void>(::shutdown(socket_.get(), SHUT_WR));
    discard_input();
    socket_.reset();
    if (undelivered_bytes_ == 0) return {};
    return fail(ErrorCode::io,
                fmt::format("{} bytes were not delivered to {} within {} ms of closing",
                            undelivered_bytes_, label_, close_timeout_.count()),
                "the reader is too slow, and its last record may be cut: give it longer, or less");
}

}  // namespace tracer
