// SPDX-License-Identifier: Apache-2.0
//
// The trial of probes on 5-byte nops: what it says of each outcome, and that it sees this kernel as
// it is.
#include "probe/fast_sites.h"

#include "support/fixtures/requirements.h"

#include <csignal>

#include <gtest/gtest.h>

namespace tracer {
namespace {

TEST(FastSites, JudgesEachHarmByName) {
    EXPECT_TRUE(judge_fast_sites({.is_call = true, .red_zone_calls = 32}).is_sound);
    EXPECT_TRUE(judge_fast_sites({.is_call = false}).is_sound);
    const auto killed = judge_fast_sites({.is_call = true, .child_signal = SIGSEGV});
    EXPECT_FALSE(killed.is_sound);
    EXPECT_EQ(killed.text,
              "unsafe on this kernel: with a probe on a 5-byte nop a forked child died of SIGSEGV");
    const auto spoilt = judge_fast_sites({.red_zone_calls = 16, .red_zone_wrong = 15});
    EXPECT_FALSE(spoilt.is_sound);
    EXPECT_NE(spoilt.text.find("in 15 of 16 calls"), std::string::npos);
    const auto dead = judge_fast_sites({.parent_signal = SIGKILL});
    EXPECT_FALSE(dead.is_sound);
    EXPECT_NE(dead.text.find("a process died of SIGKILL"), std::string::npos);
    const auto unknown = judge_fast_sites({.failure = "fork: no"});
    EXPECT_FALSE(unknown.is_sound);
    EXPECT_EQ(unknown.text, "not known: fork: no");
}

TEST(FastSites, ATrialWithoutProbesFindsNoHarm) {
    const auto trial = try_fast_sites(false);
    EXPECT_EQ(trial.failure, "");
    EXPECT_FALSE(trial.is_call);
    EXPECT_EQ(trial.parent_signal, 0);
    EXPECT_EQ(trial.child_signal, 0);
    EXPECT_EQ(trial.red_zone_calls, 32u) << "of the process and its child";
    EXPECT_EQ(trial.red_zone_wrong, 0u);
    EXPECT_TRUE(judge_fast_sites(trial).is_sound);
}

// Where the nop has become a call, its return address must be in the red zone or out of it each
// time; where it has not, nothing may have happened.
TEST(FastSites, ATrialWithProbesSaysTheSameTwice) {
    TR_REQUIRE_ROOT();
    const auto first = try_fast_sites(true);
    if (!first.failure.empty()) GTEST_SKIP() << first.failure;
    const auto second = try_fast_sites(true);
    EXPECT_EQ(judge_fast_sites(first).is_sound, judge_fast_sites(second).is_sound);
    EXPECT_EQ(first.is_call, second.is_call);
    EXPECT_EQ(first.parent_signal, 0);
    EXPECT_TRUE(first.is_call || judge_fast_sites(first).is_sound);
}

}  // namespace
}  // namespace tracer
