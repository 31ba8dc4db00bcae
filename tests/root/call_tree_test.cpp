// SPDX-License-Identifier: Apache-2.0
//
// Probes on entry and return of functions: counts, nesting by thread, frames that never return.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

std::vector<std::string> options_for(const std::string& kind,
                                     const std::vector<std::string>& functions,
                                     const ChildProcess& target) {
    std::vector<std::string> options{"--pid", std::to_string(target.pid())};
    const std::string prefix = kind + ":" + target_path("call_tree") + ":";
    for (const std::string& function : functions) {
        options.insert(options.end(), {"-e", prefix + function});
    }
    return options;
}

// The deepest nesting of one function within itself, over all threads.
uint64_t deepest(const FxtFile& file, std::string_view name) {
    std::map<uint64_t, uint64_t> open;  // by thread
    uint64_t result = 0;
    for (const FxtEvent& event : file.events) {
        if (event.name != name) continue;
        if (event.type == FxtEventType::duration_begin) {
            result = std::max(result, ++open[event.tid]);
        } else if (event.type == FxtEventType::duration_end) {
            open[event.tid]--;
        }
    }
    return result;
}

TEST(CallTreeRecorded, SpansCountAndNestAsTheCallsDid) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree", {"--fib", "12", "--deep", "60", "--jumps", "0"});
    ASSERT_TRUE(target) << target.error().what;
    const std::vector<std::string> functions{"fib", "outer", "middle", "inner", "deep"};
    auto recorder = Recorder::start(options_for("span", functions, *target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    for (const std::string& function : functions) {
        const FxtFile& file = recorded->file;
        const uint64_t calls = lines->at(0).at("calls").at(function).get<uint64_t>();
        EXPECT_EQ(events_of(file, function, FxtEventType::duration_begin).size(), calls)
            << function;
        EXPECT_EQ(events_of(file, function, FxtEventType::duration_end).size(), calls) << function;
        EXPECT_EQ(deepest(file, function), lines->at(0).at("depth").at(function).get<uint64_t>())
            << function;
    }
}

// The kernel keeps 64 return probes a thread; deeper entries have no return of their own.
TEST(CallTreeRecorded, RecursionDeeperThanTheKernelFollowsStaysBalanced) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree", {"--deep", "100", "--threads", "1"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(options_for("span", {"deep"}, *target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_GE(events_of(recorded->file, "deep", FxtEventType::duration_begin).size(), 64u);
}

TEST(CallTreeRecorded, FramesLeftByLongjmpAreClosed) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree", {"--jumps", "10", "--threads", "2"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start(options_for("span", {"jump_catch", "jump_over", "jump_leap"}, *target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    for (const char* function : {"jump_catch", "jump_over", "jump_leap"}) {
        EXPECT_EQ(events_of(recorded->file, function, FxtEventType::duration_begin).size(), 20u)
            << function;
        EXPECT_EQ(deepest(recorded->file, function), 1u) << function;
    }
}

TEST(CallTreeRecorded, EntryAndReturnAloneAreInstants) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    for (const char* kind : {"u", "ur"}) {
        auto target = start_target("call_tree");
        ASSERT_TRUE(target) << target.error().what;
        auto recorder = Recorder::start(options_for(kind, {"outer", "inner"}, *target));
        ASSERT_TRUE(recorder) << recorder.error().what;
        const auto lines = run_target(*target, kLimit, 1);
        ASSERT_TRUE(lines) << lines.error().what;
        const auto recorded = recorder->stop();
        ASSERT_TRUE(recorded) << recorded.error().what;
        expect_sound(*recorded);
        expect_nothing_lost(*recorded);
        for (const char* function : {"outer", "inner"}) {
            EXPECT_EQ(events_of(recorded->file, function).size(),
                      lines->at(0).at("calls").at(function).get<uint64_t>())
                << kind << " " << function;
        }
    }
}

}  // namespace
}  // namespace tracer::test
