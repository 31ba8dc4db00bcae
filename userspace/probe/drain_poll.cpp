// SPDX-License-Identifier: Apache-2.0
//
// The drain thread's sleep. Used by kernel_recorder.cpp, which knows when it may sleep at all.
#include "probe/drain_poll.h"

#include <cerrno>
#include <cstdint>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tracer {
namespace {

constexpr uint32_t kRing = 0;
constexpr uint32_t kWakeEvent = 1;

}  // namespace

Status DrainPoll::open() {
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    wake_event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!epoll_.valid() || !wake_event_.valid()) {
        return fail_errno(ErrorCode::internal, errno, "make the drain's epoll");
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = kWakeEvent;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_event_.get(), &event) != 0) {
        return fail_errno(ErrorCode::internal, errno, "watch the wake event");
    }
    return {};
}

Status DrainPoll::watch(int ring) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u32 = kRing;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ring, &event) != 0) {
        return fail_errno(ErrorCode::internal, errno, "watch a BPF ring");
    }
    return {};
}

bool DrainPoll::wait(std::chrono::milliseconds timeout) {
    epoll_event event{};
    const int count = epoll_wait(epoll_.get(), &event, 1, static_cast<int>(timeout.count()));
    if (count == 1 && event.data.u32 == kWakeEvent) {
        uint64_t drained = 0;
        [[maybe_unused]] const ssize_t got = read(wake_event_.get(), &drained, sizeof(drained));
    }
    return count > 0;
}

void DrainPoll::wake() {
    const uint64_t one = 1;
    // Fails only when the counter is at its limit, and then the drain is awake.
    [[maybe_unused]] const ssize_t put = write(wake_event_.get(), &one, sizeof(one));
}

}  // namespace tracer
