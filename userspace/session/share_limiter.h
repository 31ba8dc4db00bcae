// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

namespace tracer {

// Keeps a thread's CPU time below a share of a sliding window, so that a real-time drain thread can
// never starve what it observes. Pure arithmetic over the times it is given; one owner.
class ShareLimiter {
public:
    static constexpr uint64_t kWindowNs = 100'000'000;

    // `percent` of one CPU, 1..100; 100 never pauses.
    explicit ShareLimiter(uint32_t percent, uint64_t window_ns = kWindowNs);

    // Called often: `now_ns` on any steady clock, `cpu_ns` what the thread has used in its life.
    // How long it must not run now, in ns; 0: within its share.
    [[nodiscard]] uint64_t pause_ns(uint64_t now_ns, uint64_t cpu_ns);

    // Times that pause_ns() asked for a pause, and the sum of them.
    [[nodiscard]] uint64_t pauses() const { return pauses_; }
    [[nodiscard]] uint64_t paused_ns() const { return paused_ns_; }

private:
    struct Sample {
        uint64_t now_ns;
        uint64_t cpu_ns;
    };

    // CPU time used at `at_ns`, between two samples on a straight line.
    [[nodiscard]] uint64_t cpu_at(uint64_t at_ns) const;
    // The first moment of the window from which on at most `cpu_ns` less than now was used.
    [[nodiscard]] uint64_t time_of_cpu(uint64_t cpu_ns) const;

    uint64_t window_ns_;
    uint64_t budget_ns_;
    uint64_t resume_ns_;  // pauses until the window holds no more than this
    uint64_t pauses_ = 0;
    uint64_t paused_ns_ = 0;
    std::deque<Sample> samples_;  // oldest first; the first may lie before the window
};

}  // namespace tracer
