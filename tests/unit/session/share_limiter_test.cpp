// SPDX-License-Identifier: Apache-2.0
#include "session/share_limiter.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr uint64_t kMs = 1'000'000;

struct Moment {
    uint64_t now_ns;
    uint64_t cpu_ns;
};

// A thread that would always run, held back only by the limiter, in turns of `turn_ns`.
std::vector<Moment> run_greedy(ShareLimiter& limiter, uint64_t turn_ns, uint64_t until_ns) {
    std::vector<Moment> moments{{1'000 * kMs, 0}};
    while (moments.back().now_ns < until_ns) {
        Moment moment = moments.back();
        moment.now_ns += turn_ns;
        moment.cpu_ns += turn_ns;
        moments.push_back(moment);
        moment.now_ns += limiter.pause_ns(moment.now_ns, moment.cpu_ns);
        moments.push_back(moment);
    }
    return moments;
}

uint64_t most_in_any_window(const std::vector<Moment>& moments, uint64_t window_ns) {
    uint64_t most = 0;
    for (const Moment& end : moments) {
        for (const Moment& begin : moments) {
            if (begin.now_ns > end.now_ns || end.now_ns - begin.now_ns > window_ns) continue;
            most = std::max(most, end.cpu_ns - begin.cpu_ns);
        }
    }
    return most;
}

TEST(ShareLimiter, KeepsEveryWindowWithinTheShareAndOneTurn) {
    ShareLimiter limiter(50);
    const auto moments = run_greedy(limiter, kMs, 3'000 * kMs);
    EXPECT_LE(most_in_any_window(moments, ShareLimiter::kWindowNs), 51 * kMs);
    EXPECT_GT(limiter.pauses(), 10u);
}

TEST(ShareLimiter, GivesNearlyTheWholeShareToAGreedyThread) {
    ShareLimiter limiter(50);
    const auto moments = run_greedy(limiter, kMs, 3'000 * kMs);
    const double share = static_cast<double>(moments.back().cpu_ns) /
                         static_cast<double>(moments.back().now_ns - moments.front().now_ns);
    EXPECT_GT(share, 0.40);
    EXPECT_LE(share, 0.52);
}

TEST(ShareLimiter, NeverPausesBelowTheShare) {
    ShareLimiter limiter(50);
    uint64_t now_ns = 1'000 * kMs;
    for (uint64_t cpu_ns = 0; cpu_ns < 400 * kMs; cpu_ns += 4 * kMs) {
        EXPECT_EQ(limiter.pause_ns(now_ns, cpu_ns), 0u);
        now_ns += 10 * kMs;
    }
    EXPECT_EQ(limiter.pauses(), 0u);
}

TEST(ShareLimiter, NeverPausesWithAllOfACpu) {
    ShareLimiter limiter(100);
    run_greedy(limiter, kMs, 2'000 * kMs);
    EXPECT_EQ(limiter.pauses(), 0u);
}

TEST(ShareLimiter, PausesAfterOneLongTurn) {
    ShareLimiter limiter(50);
    EXPECT_EQ(limiter.pause_ns(1'000 * kMs, 0), 0u);
    const uint64_t pause_ns = limiter.pause_ns(1'090 * kMs, 90 * kMs);
    // 37.5 ms may remain in the window: it must begin 52.5 ms into the turn.
    EXPECT_NEAR(static_cast<double>(pause_ns), 62.5e6, 1e5);
}

TEST(ShareLimiter, ForgetsWhatIsOlderThanTheWindow) {
    ShareLimiter limiter(10);
    EXPECT_EQ(limiter.pause_ns(1'000 * kMs, 0), 0u);
    EXPECT_GT(limiter.pause_ns(1'010 * kMs, 10 * kMs), 0u);
    EXPECT_EQ(limiter.pause_ns(1'200 * kMs, 10 * kMs), 0u);
}

}  // namespace
}  // namespace tracer
