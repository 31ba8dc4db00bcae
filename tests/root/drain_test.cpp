// SPDX-License-Identifier: Apache-2.0
//
// The thread that empties the rings: its priority, and the share of a CPU that it keeps to.
#include "root/proc_view.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <sched.h>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr const char* kDrainThread = "tracer-drain";
constexpr Milliseconds kMeasured{2000};

// The policy of the drain thread once it is `expected`, or what it is at last.
int policy_of_drain(pid_t tracer, int expected) {
    int policy = -1;
    (void)wait_until(Milliseconds(5000), [&] {
        const auto thread = thread_named(tracer, kDrainThread);
        if (thread) policy = scheduling_policy(tracer, *thread);
        return policy == expected;
    });
    return policy;
}

TEST(DrainThread, IsRealTimeUnlessRefused) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood");
    ASSERT_TRUE(target) << target.error().what;
    for (const bool real_time : {true, false}) {
        std::vector<std::string> arguments{"--pid", std::to_string(target->pid())};
        if (!real_time) arguments.emplace_back("--no-rt");
        auto recorder = Recorder::start(arguments);
        ASSERT_TRUE(recorder) << recorder.error().what;
        const int expected = real_time ? SCHED_RR : SCHED_OTHER;
        EXPECT_EQ(policy_of_drain(recorder->process().pid(), expected), expected);
        const auto recorded = recorder->stop();
        ASSERT_TRUE(recorded) << recorded.error().what;
        expect_sound(*recorded);
    }
}

// With all CPUs busy hitting a probe, and more to drain than the share allows: a small ring makes
// each turn short, and turns have a price of their own.
TEST(DrainThread, KeepsToItsShareUnderAFlood) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr double kShare = 0.01;
    // A slice of the loop is always finished, and the window is 100 ms.
    constexpr double kTolerance = 0.01;
    auto target = start_target("flood", {"--hits", "100000000", "--threads", "2"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"-e", "usdt:flood:hit", "--drain-share", "1", "--buffer",
                                     "64K/cpu", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const pid_t tracer = recorder->process().pid();
    const auto drain = thread_named(tracer, kDrainThread);
    ASSERT_TRUE(drain);

    // Once the flood runs: the share has been used up at least once.
    const uint64_t before_flood_ns = cpu_time_ns(tracer, *drain);
    ASSERT_TRUE(wait_until(Milliseconds(20000), [&] {
        return cpu_time_ns(tracer, *drain) > before_flood_ns + 2'000'000;
    }));
    const auto start = std::chrono::steady_clock::now();
    const uint64_t start_ns = cpu_time_ns(tracer, *drain);
    const Deadline measured(kMeasured);
    (void)wait_until(kMeasured, [&] { return measured.passed(); });
    const uint64_t used_ns = cpu_time_ns(tracer, *drain) - start_ns;
    const auto passed_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
    EXPECT_LE(static_cast<double>(used_ns),
              (kShare + kTolerance) * static_cast<double>(passed_ns.count()));
    EXPECT_GT(used_ns, 0u);

    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    // It was the share that held it back, and the loss is told.
    EXPECT_GT(recorded->result.summary.at("loss").at("ring_full").get<uint64_t>(), 0u);
    EXPECT_NE(recorded->result.summary.at("warnings").dump().find("1 % of a CPU"),
              std::string::npos)
        << recorded->result.summary.at("warnings");
}

}  // namespace
}  // namespace tracer::test
