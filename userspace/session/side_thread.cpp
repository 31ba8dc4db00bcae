// SPDX-License-Identifier: Apache-2.0
//
// A queue, a thread and an eventfd. For opening sinks (a connection may take seconds) and closing
// them (a reader may take as long), which neither the drain thread nor the main thread waits for.
// Owned by steering.cpp.
#include "session/side_thread.h"

#include <cerrno>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace tracer {

Result<std::unique_ptr<SideThread>> SideThread::make() {
    UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event.valid()) return fail_errno(ErrorCode::io, errno, "make an eventfd");
    return std::unique_ptr<SideThread>(new SideThread(std::move(event)));
}

void SideThread::post(std::function<std::function<void()>()> work) {
    {
        const std::scoped_lock lock(mutex_);
        TR_CHECK(!is_ending_);
        ++unfinished_;
        work_.push_back(std::move(work));
    }
    changed_.notify_all();
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void SideThread::wait_until_below(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return unfinished_ < count; });
}

void SideThread::run() {
    pthread_setname_np(pthread_self(), "tracer-side");
    while (true) {
        std::function<std::function<void()>()> work;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !work_.empty() || is_ending_; });
            if (work_.empty()) return;
            work = std::move(work_.front());
            work_.pop_front();
        }
        std::function<void()> done = work();
        {
            const std::scoped_lock lock(mutex_);
            done_.push_back(std::move(done));
            --unfinished_;
        }
        changed_.notify_all();
        const uint64_t one = 1;
        // At its maximum an eventfd takes no more, and is readable anyway.
        [[maybe_unused]] const ssize_t put = write(done_event_.get(), &one, sizeof(one));
    }
}

void SideThread::run_done() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(done_event_.get(), &count, sizeof(count));
    std::deque<std::function<void()>> done;
    {
        const std::scoped_lock lock(mutex_);
        done = std::exchange(done_, {});
    }
    for (const std::function<void()>& one : done) {
        if (one) one();
    }
}

void SideThread::finish() {
    if (thread_.joinable()) {
        {
            const std::scoped_lock lock(mutex_);
            is_ending_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    run_done();
}

}  // namespace tracer
