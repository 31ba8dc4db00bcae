// SPDX-License-Identifier: Apache-2.0
//
// Programs that a careless probe kills or makes compute wrong: alive and right under ours, and what
// is recorded is what they did. TRACER_HARM_SECONDS=60 runs each for that long instead of 2 s.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

int harm_seconds() {
    const char* text = std::getenv("TRACER_HARM_SECONDS");
    const int seconds = text == nullptr ? 2 : std::atoi(text);
    return std::clamp(seconds, 1, 600);
}

Milliseconds harm_limit() {
    return std::chrono::seconds(60 + 4 * harm_seconds());
}

std::string place(const std::string& kind, const std::string& target, const std::string& function) {
    return kind + ":" + target_path(target) + ":" + function;
}

struct Outcome {
    nlohmann::json told;  // by the program
    Recorded recorded;
};

// Runs a target under probes until it says what it did, and reads both.
Result<Outcome> run_under(const std::string& name,
                          const std::vector<std::string>& target_arguments,
                          const std::vector<std::string>& probes,
                          std::vector<std::string> options = {}) {
    TR_ASSIGN(auto target, start_target(name, target_arguments));
    for (const auto& probe : probes) options.insert(options.end(), {"-e", probe});
    options.insert(options.end(), {"--pid", std::to_string(target.pid())});
    TR_ASSIGN(auto recorder, Recorder::start(options));
    TR_ASSIGN(auto lines, run_target(target, harm_limit()));
    if (lines.size() != 1) return fail(ErrorCode::bad_input, "the program died early");
    TR_ASSIGN(auto recorded, recorder.stop());
    return Outcome{lines.at(0), std::move(recorded)};
}

TEST(Harm, GoWithGrowingStacksIsAliveAndEveryCallIsASpanOfItsGoroutine) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE(target_path("go_stacks"));
    const auto outcome = run_under(
        "go_stacks", {"--goroutines", "24"},
        {place("span", "go_stacks", "main.deep(arg0,arg1,ret)"),
         place("ur", "go_stacks", "main.leaf"), place("span", "go_stacks", "main.guarded"),
         place("span", "go_stacks", "main.broken")},
        {"--buffer", "32M/cpu"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    const auto& [told, recorded] = *outcome;
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(told.at("wrong"), 0);
    const auto& file = recorded.file;
    const auto begins = events_of(file, "main.deep", FxtEventType::duration_begin);
    const auto ends = events_of(file, "main.deep", FxtEventType::duration_end);
    EXPECT_EQ(begins.size(), told.at("calls").get<size_t>());
    EXPECT_EQ(ends.size(), told.at("calls").get<size_t>());
    // Each is nested in its goroutine: deep(n, x) returns n + x + 1.
    std::map<uint64_t, std::vector<uint64_t>> open;
    size_t wrong = 0;
    for (const FxtEvent& event : file.events) {
        if (event.name != "main.deep") continue;
        auto& stack = open[event.tid];
        if (event.type == FxtEventType::duration_begin) {
            const auto levels = integer_argument(file, event, "arg0");
            const auto x = integer_argument(file, event, "arg1");
            ASSERT_TRUE(levels && x);
            stack.push_back(*levels + *x + 1);
        } else if (event.type == FxtEventType::duration_end) {
            ASSERT_FALSE(stack.empty());
            if (integer_argument(file, event, "ret") != stack.back()) ++wrong;
            stack.pop_back();
        }
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(open.size(), 1u);
    EXPECT_EQ(events_of(file, "main.leaf").size(), told.at("leaves").get<size_t>());
    // A panic leaves broken() without a return; guarded() returns each time.
    EXPECT_EQ(events_of(file, "main.guarded", FxtEventType::duration_begin).size(), 24u);
    EXPECT_EQ(events_of(file, "main.guarded", FxtEventType::duration_end).size(), 24u);
}

TEST(Harm, GoGoesOnForSecondsUnderReturnProbes) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE(target_path("go_stacks"));
    const auto outcome =
        run_under("go_stacks", {"--seconds", std::to_string(harm_seconds())},
                  {place("span", "go_stacks", "main.*"), place("u", "go_stacks", "main.deep"),
                   place("ur", "go_stacks", "runtime.newstack")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->told.at("wrong"), 0);
    EXPECT_GT(outcome->told.at("rounds"), 0);
    expect_sound(outcome->recorded);
}

TEST(Harm, ExceptionsPassThroughFunctionsUnderReturnProbes) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = run_under(
        "exceptions", {},
        {place("span", "exceptions", "pass_through"), place("span", "exceptions", "clean_up"),
         place("span", "exceptions", "catch_it(arg0:s32,ret:s32)"),
         place("ur", "exceptions", "throw_at")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    const auto& [told, recorded] = *outcome;
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(told.at("wrong"), 0);
    EXPECT_GT(told.at("caught"), 0);
    const auto& file = recorded.file;
    const auto count = [&](std::string_view name, FxtEventType type) {
        return events_of(file, name, type).size();
    };
    EXPECT_EQ(count("pass_through", FxtEventType::duration_begin),
              told.at("entered").get<size_t>());
    // Those that an exception left are ended too, when the next frame at their place begins.
    EXPECT_EQ(count("pass_through", FxtEventType::duration_end), told.at("entered").get<size_t>());
    EXPECT_EQ(count("throw_at", FxtEventType::instant), told.at("returned").get<size_t>());
    EXPECT_EQ(count("catch_it", FxtEventType::duration_begin),
              count("catch_it", FxtEventType::duration_end));
    // Of catch_it every call returned, with the value of its own argument.
    std::map<uint64_t, int64_t> open;
    size_t wrong = 0;
    for (const FxtEvent& event : file.events) {
        if (event.name != "catch_it") continue;
        const FxtValue* value =
            file.find(event.arguments, event.type == FxtEventType::duration_begin ? "arg0" : "ret");
        ASSERT_NE(value, nullptr);
        const int64_t number = std::stoll(to_text(*value));
        if (event.type == FxtEventType::duration_begin) {
            open[event.tid] = number;
        } else {
            const int64_t x = open[event.tid];
            if (number != (x % 3 == 0 ? -x : x + 3)) ++wrong;
        }
    }
    EXPECT_EQ(wrong, 0u);
}

TEST(Harm, AThrowingProgramGoesOnForSeconds) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome =
        run_under("exceptions", {"--seconds", std::to_string(harm_seconds())},
                  {place("span", "exceptions", "*"), place("ur", "exceptions", "*")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->told.at("wrong"), 0);
    EXPECT_GT(outcome->told.at("caught"), 0);
    expect_sound(outcome->recorded);
}

}  // namespace
}  // namespace tracer::test
