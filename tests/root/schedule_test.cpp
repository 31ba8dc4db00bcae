// SPDX-License-Identifier: Apache-2.0
//
// Switches and wakeups of two tasks that take turns on one CPU, compared with the kernel's own
// counts of them, which the tasks print (getrusage).
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};
constexpr uint64_t kRounds = 2000;
// A task may still be put off its CPU between reading its counts and its end.
constexpr uint64_t kLateSwitchesMax = 20;

uint64_t switches_away(const FxtFile& file, uint64_t tid) {
    return static_cast<uint64_t>(std::ranges::count_if(
        file.switches, [&](const FxtSwitch& record) { return record.out_tid == tid; }));
}

uint64_t switches_to(const FxtFile& file, uint64_t tid) {
    return static_cast<uint64_t>(std::ranges::count_if(
        file.switches, [&](const FxtSwitch& record) { return record.in_tid == tid; }));
}

uint64_t wakeups_by(const FxtFile& file, uint64_t tid, uint64_t waker) {
    return static_cast<uint64_t>(std::ranges::count_if(file.wakeups, [&](const FxtWakeup& record) {
        const FxtValue* by = file.find(record.arguments, "waker");
        const auto* koid = by == nullptr ? nullptr : std::get_if<FxtKoid>(by);
        return record.tid == tid && koid != nullptr && koid->id == waker;
    }));
}

void expect_turns(const FxtFile& file, const nlohmann::json& player, const nlohmann::json& other) {
    SCOPED_TRACE(player.dump());
    const auto tid = player.at("tid").get<uint64_t>();
    const auto voluntary = player.at("voluntary").get<uint64_t>();
    const uint64_t counted = voluntary + player.at("involuntary").get<uint64_t>();
    ASSERT_EQ(player.at("rounds").get<uint64_t>(), kRounds);
    // The last one away is that of its end.
    EXPECT_GE(switches_away(file, tid), counted + 1);
    EXPECT_LE(switches_away(file, tid), counted + 1 + kLateSwitchesMax);
    EXPECT_EQ(switches_to(file, tid), switches_away(file, tid));
    // It waits for nobody but the other player, who is the only one to end the wait.
    const uint64_t by_other = wakeups_by(file, tid, other.at("tid").get<uint64_t>());
    EXPECT_GE(by_other + kLateSwitchesMax, voluntary);
    EXPECT_LE(by_other, voluntary + kLateSwitchesMax);
}

TEST(ScheduleRecorded, TurnsOfTwoProcessesAreThoseTheKernelCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("pingpong", {"--rounds", std::to_string(kRounds)});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid()), "--tree"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto players = run_target(*target, kLimit);
    ASSERT_TRUE(players) << players.error().what;
    ASSERT_EQ(players->size(), 2u);
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_turns(recorded->file, players->at(0), players->at(1));
    expect_turns(recorded->file, players->at(1), players->at(0));
}

TEST(ScheduleRecorded, SystemWideHoldsTheSameTurnsOfThreads) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("pingpong", {"--rounds", std::to_string(kRounds), "--threads"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"-a"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto players = run_target(*target, kLimit);
    ASSERT_TRUE(players) << players.error().what;
    ASSERT_EQ(players->size(), 2u);
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_turns(recorded->file, players->at(0), players->at(1));
    expect_turns(recorded->file, players->at(1), players->at(0));
}

TEST(ScheduleRecorded, NoSchedLeavesSwitchesAndWakeupsOut) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("pingpong", {"--rounds", "10"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "--tree", "--no-sched"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_TRUE(recorded->file.switches.empty());
    EXPECT_TRUE(recorded->file.wakeups.empty());
    EXPECT_EQ(events_of(recorded->file, "fork").size(), 2u);
}

}  // namespace
}  // namespace tracer::test
