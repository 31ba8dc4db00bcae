// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace tracer {

// Runs what may last on a thread of its own, one piece after the other, and what is to follow on
// the owner's thread, when that finds the time.
class SideThread {
public:
    [[nodiscard]] static Result<std::unique_ptr<SideThread>> make();
    ~SideThread() { finish(); }
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    // `work` runs on the thread; what it returns, if not empty, on the owner's by run_done().
    void post(std::function<std::function<void()>()> work);
    // Any thread but this one: waits until less than so many pieces are posted and not done.
    void wait_until_below(size_t count);

    // Readable while run_done() has something to do.
    [[nodiscard]] int fd() const { return done_event_.get(); }
    void run_done();

    // Waits until all is through. Nothing may be posted any more.
    void finish();

private:
    explicit SideThread(UniqueFd done_event) : done_event_(std::move(done_event)) {}
    void run();

    UniqueFd done_event_;
    std::thread thread_;  // from the first post on
    std::mutex mutex_;    // of what follows
    size_t unfinished_ = 0;
    std::condition_variable changed_;
    std::deque<std::function<std::function<void()>()>> work_;
    std::deque<std::function<void()>> done_;
    bool is_ending_ = false;
};

}  // namespace tracer
