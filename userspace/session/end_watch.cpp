// SPDX-License-Identifier: Apache-2.0
//
// One poll(2) over everything that can end a recording: a signalfd, a timer, the pidfds of the
// targets, and an eventfd that the drain thread writes. pidfds, because a pid that was reused
// would keep a recording alive for ever. Used by the life of a recording (recording.cpp) only.
#include "session/end_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// Of Linux 6.9, by its value: the headers of the oldest system we build on lack the name.
constexpr unsigned kPidfdThread = O_EXCL;

int open_pidfd(uint32_t id, unsigned flags) {
    return static_cast<int>(syscall(SYS_pidfd_open, id, flags));
}

Status set_timer(int fd, std::chrono::nanoseconds first, std::chrono::nanoseconds again) {
    const auto to_timespec = [](std::chrono::nanoseconds time) {
        return timespec{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
    };
    const itimerspec times{to_timespec(again), to_timespec(first)};
    if (timerfd_settime(fd, 0, &times, nullptr) != 0) {
        return fail_errno(ErrorCode::internal, errno, "set a timer");
    }
    return {};
}

// A hangup that is ignored already (nohup) is to stay so. An interrupt is not left out: scripts
// start commands with & and SIGINT ignored, and then end them by it.
sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGQUIT}) sigaddset(&set, number);
    struct sigaction hangup {};
    if (sigaction(SIGHUP, nullptr, &hangup) != 0 || hangup.sa_handler != SIG_IGN) {
        sigaddset(&set, SIGHUP);
    }
    return set;
}

// Empties a timerfd or an eventfd.
void drain_counter(int fd) {
    uint64_t count = 0;
    while (read(fd, &count, sizeof(count)) == sizeof(count)) {
    }
}

}  // namespace

const char* end_cause_text(EndCause cause) {
    switch (cause) {
        case EndCause::interrupted:
            return "interrupted";
        case EndCause::duration:
            return "duration";
        case EndCause::max_size:
            return "max-size";
        case EndCause::targets_ended:
            return "targets-ended";
        case EndCause::output_failed:
            return "output-failed";
        case EndCause::stop_when:
            return "stop-when";
        case EndCause::stopped:
            return "stopped";
    }
    return "";
}

Result<EndWatch> EndWatch::make() {
    sigset_t set = ending_signals();
    sigaddset(&set, SIGUSR1);
    if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
        return fail_errno(ErrorCode::internal, error, "block signals");
    }
    std::signal(SIGPIPE, SIG_IGN);
    UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    UniqueFd duration(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    UniqueFd tick(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!signals.valid() || !wake.valid() || !duration.valid() || !tick.valid()) {
        return fail_errno(ErrorCode::io, errno, "make a signalfd, an eventfd and two timerfds");
    }
    return EndWatch(std::move(signals), std::move(wake), std::move(duration), std::move(tick));
}

Status EndWatch::add_process(uint32_t pid) {
    UniqueFd fd(open_pidfd(pid, 0));
    had_targets_ = true;
    // Ended already: nothing to wait for, and not an error; its last records are in the rings.
    if (!fd.valid() && errno == ESRCH) return {};
    if (!fd.valid()) {
        return fail_errno(ErrorCode::io, errno, fmt::format("watch process {}", pid));
    }
    targets_.push_back(std::move(fd));
    return {};
}

Status EndWatch::add_thread(uint32_t tid, uint32_t pid) {
    UniqueFd fd(open_pidfd(tid, kPidfdThread));
    if (!fd.valid() && errno != ESRCH) return add_process(pid);
    had_targets_ = true;
    if (fd.valid()) targets_.push_back(std::move(fd));
    return {};
}

Status EndWatch::start_timers(std::optional<std::chrono::nanoseconds> duration,
                              std::chrono::milliseconds tick) {
    // A first time of 0 would disarm the timer instead of firing it.
    if (duration) {
        TR_TRY(set_timer(duration_.get(), std::max(*duration, std::chrono::nanoseconds(1)), {}));
    }
    return set_timer(tick_.get(), tick, tick);
}

EndCause EndWatch::wait(const std::function<void()>& on_tick) {
    while (true) {
        if (asked_) return *asked_;
        if (had_targets_ && targets_.empty()) return EndCause::targets_ended;
        if (const auto cause = poll_once(-1, on_tick)) return *cause;
    }
}

void EndWatch::wait_for_targets(std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!targets_.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return;
        const auto cause = poll_once(static_cast<int>(left.count()), [] {});
        if (cause == EndCause::interrupted || cause == EndCause::output_failed) return;
    }
}

void EndWatch::pause(std::chrono::milliseconds time) {
    pollfd signals{signals_.get(), POLLIN, 0};
    // An early end only makes the pause shorter.
    if (poll(&signals, 1, static_cast<int>(time.count())) > 0) return;
}

void EndWatch::let_signals_kill() {
    const sigset_t set = ending_signals();
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        // One that was ignored when we were started would end nothing.
        if (sigismember(&set, number) == 1) std::signal(number, SIG_DFL);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void EndWatch::add_readable(int fd, std::function<void()> handler) {
    readable_.push_back(std::make_shared<const Readable>(Readable{fd, std::move(handler)}));
}

void EndWatch::forget_readable(int fd) {
    std::erase_if(readable_, [fd](const auto& it) { return it->fd == fd; });
}

bool EndWatch::take_signal() {
    signalfd_siginfo info{};
    bool any = false;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGUSR1) {
            if (on_user_signal_) on_user_signal_();
            continue;
        }
        signal_ = static_cast<int>(info.ssi_signo);
        any = true;
    }
    return any;
}

std::optional<EndCause> EndWatch::poll_once(int timeout_ms, const std::function<void()>& on_tick) {
    constexpr size_t kFixed = 4;
    std::vector<pollfd> fds;
    for (const int fd :
         std::array<int, kFixed>{signals_.get(), wake_.get(), duration_.get(), tick_.get()}) {
        fds.push_back({fd, POLLIN, 0});
    }
    for (const UniqueFd& target : targets_) fds.push_back({target.get(), POLLIN, 0});
    const size_t targets_end = fds.size();
    const auto readable = readable_;
    for (const auto& one : readable) fds.push_back({one->fd, POLLIN, 0});
    if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return std::nullopt;

    for (size_t i = targets_end; i-- > kFixed;) {
        if (fds[i].revents != 0) targets_.erase(targets_.begin() + static_cast<long>(i - kFixed));
    }
    if (fds[3].revents != 0) {
        drain_counter(tick_.get());
        on_tick();
    }
    for (size_t i = 0; i < readable.size(); ++i) {
        // A handler before may have forgotten it, and closed the descriptor.
        const bool is_known = std::ranges::find(readable_, readable[i]) != readable_.end();
        if (fds[targets_end + i].revents != 0 && is_known) readable[i]->handler();
    }
    if (fds[1].revents != 0) {
        drain_counter(wake_.get());
        if (const auto cause = raised_ ? raised_() : std::nullopt) return cause;
    }
    if (fds[0].revents != 0 && take_signal()) return EndCause::interrupted;
    if (fds[2].revents != 0) {
        drain_counter(duration_.get());
        return EndCause::duration;
    }
    return std::nullopt;
}

}  // namespace tracer
