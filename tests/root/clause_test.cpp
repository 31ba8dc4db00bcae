// SPDX-License-Identifier: Apache-2.0
//
// Counters, states, lines, names, frames and raised semaphores of a program that counts what it
// does (targets/clauses.c), read back from the trace.
#include "root/proc_view.h"
#include "root/recording.h"
#include "support/fixtures/deadline.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <csignal>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};
constexpr unsigned kThreads = 2;
constexpr unsigned kRounds = 200;

std::string probe(std::string_view rest) {
    return fmt::format("usdt:{}:clause:{}", target_path("clauses"), rest);
}

struct Outcome {
    nlohmann::json told;  // by the program
    Recorded recorded;
};

// Into a trace, or into a capture that is converted.
Result<Outcome> run_under(const std::vector<std::string>& probes, bool is_capture = false) {
    TR_ASSIGN(auto target, start_target("clauses", {"--rounds", std::to_string(kRounds)}));
    std::vector<std::string> options{"--no-sched", "--pid", std::to_string(target.pid())};
    for (const auto& text : probes) options.insert(options.end(), {"-e", text});
    TR_ASSIGN(auto recorder,
              is_capture ? Recorder::start_capture(options) : Recorder::start(options));
    TR_ASSIGN(auto lines, run_target(target, kLimit, 1));
    target.close_input();
    TR_ASSIGN(auto recorded, recorder.finish());
    if (lines.size() != 1) return fail(ErrorCode::bad_input, "the program died early");
    return Outcome{lines.at(0), std::move(recorded)};
}

// Names of the lines (threads of ours) on which events of a name are.
std::set<std::string> lines_of(const FxtFile& file, std::string_view name, FxtEventType type) {
    std::set<std::string> lines;
    for (const FxtEvent* event : events_of(file, name, type)) {
        lines.emplace(file.thread_name(event->tid));
    }
    return lines;
}

bool all_begin_with(const std::set<std::string>& names, std::string_view prefix) {
    return std::ranges::all_of(names,
                               [&](const std::string& name) { return name.starts_with(prefix); });
}

// Of clause:hidden; -1: the program is gone.
int semaphore(ChildProcess& target) {
    if (!target.send_line("semaphore")) return -1;
    const auto line = target.read_json(kLimit);
    return line ? line->at("semaphore").get<int>() : -1;
}

TEST(Clause, ACounterHasASeriesForEachNumberUnderTheNameOfItsText) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome =
        run_under({probe(R"(pool(q=arg0:str, free=arg1, load=arg2) counter as "pool {q}")")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    const FxtFile& file = outcome->recorded.file;
    for (const auto& [name, first] : {std::pair{"pool hot", 0}, std::pair{"pool cold", 1}}) {
        const auto values = events_of(file, name, FxtEventType::counter);
        ASSERT_EQ(values.size(), kThreads * kRounds / 2) << name;
        std::multiset<int64_t> free;
        std::multiset<double> load;
        for (const FxtEvent* event : values) {
            EXPECT_EQ(file.arguments_of(event->arguments).size(), 2U) << "the text is no series";
            const FxtValue* value = file.find(event->arguments, "free");
            ASSERT_TRUE(value != nullptr && std::holds_alternative<int64_t>(*value));
            free.insert(std::get<int64_t>(*value));
            const FxtValue* real = file.find(event->arguments, "load");
            ASSERT_TRUE(real != nullptr && std::holds_alternative<double>(*real));
            load.insert(std::get<double>(*real));
        }
        for (int round = first; round < static_cast<int>(kRounds); round += 2) {
            EXPECT_EQ(free.count(round - 5), kThreads);
            EXPECT_EQ(load.count(round / 4.0), kThreads);
        }
    }
}

TEST(Clause, AStateGoesOnUntilTheNextOnItsLine) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = run_under({probe(R"(phase(p=arg0:str) state "phase" as "{p}")")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    const FxtFile& file = outcome->recorded.file;
    for (const char* name : {"parse", "run"}) {
        EXPECT_EQ(events_of(file, name, FxtEventType::duration_begin).size(), kThreads * kRounds);
        EXPECT_EQ(events_of(file, name, FxtEventType::duration_end).size(), kThreads * kRounds);
        const auto lines = lines_of(file, name, FxtEventType::duration_begin);
        EXPECT_EQ(lines.size(), kThreads) << "a line a thread";
        EXPECT_TRUE(all_begin_with(lines, "phase (clauses "));
    }
    EXPECT_FALSE(outcome->recorded.result.summary.contains("durations") &&
                 !outcome->recorded.result.summary.at("durations").empty())
        << "states have no histogram";
}

TEST(Clause, SpansGoToTheLineThatTheirBeginNames) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = run_under(
        {probe(R"(job__begin(queue=arg0) track "queue {queue}" ~~ )") + probe("job__end")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    const FxtFile& file = outcome->recorded.file;
    EXPECT_EQ(events_of(file, "job", FxtEventType::duration_begin).size(), kThreads * kRounds);
    EXPECT_EQ(events_of(file, "job", FxtEventType::duration_end).size(), kThreads * kRounds);
    const auto lines = lines_of(file, "job", FxtEventType::duration_begin);
    EXPECT_EQ(lines.size(), kThreads * 3U);
    EXPECT_TRUE(all_begin_with(lines, "queue "));
    EXPECT_EQ(lines, lines_of(file, "job", FxtEventType::duration_end));
}

TEST(Clause, ProbesNameThreadsAndTheProcess) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome =
        run_under({probe("named(arg0:str) names thread"), probe("title(arg0:str) names process"),
                   probe("pool(q=arg0:str)")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    const FxtFile& file = outcome->recorded.file;
    const auto events = events_of(file, "pool");
    ASSERT_EQ(events.size(), kThreads * kRounds);
    EXPECT_EQ(lines_of(file, "pool", FxtEventType::instant),
              (std::set<std::string>{"painter 0", "painter 1"}));
    EXPECT_EQ(file.process_name(events.front()->pid), "clauses: busy");
    EXPECT_TRUE(events_of(file, "named").empty()) << "a name is no event";
}

TEST(Clause, FramesLeftByLongjmpEndWithTheOneAroundThem) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome =
        run_under({probe("call(frame_key=arg0) ~~ ") + probe("ret(frame_key=arg0)")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    const auto& durations = outcome->recorded.result.summary.at("durations");
    ASSERT_EQ(durations.size(), 1U);
    EXPECT_EQ(durations[0].at("ends").at("returned"), 4 * kThreads * kRounds);
    EXPECT_EQ(durations[0].at("ends").at("unwound"), 2 * kThreads * kRounds);
    EXPECT_EQ(durations[0].at("orphan_ends"), 0);
    EXPECT_EQ(durations[0].at("crossed"), 0);
}

TEST(Clause, ACaptureKeepsWhatEachHitMeans) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = run_under(
        {probe(R"(pool(q=arg0:str, free=arg1) counter as "pool {q}")"),
         probe(R"(phase(p=arg0:str) state "phase" as "{p}")"),
         probe("named(arg0:str) names thread"),
         probe("call(frame_key=arg0) track \"calls\" ~~ ") + probe("ret(frame_key=arg0)")},
        true);
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    const FxtFile& file = outcome->recorded.file;
    EXPECT_EQ(events_of(file, "pool hot", FxtEventType::counter).size(), kThreads * kRounds / 2);
    EXPECT_EQ(events_of(file, "parse", FxtEventType::duration_begin).size(), kThreads * kRounds);
    EXPECT_TRUE(
        all_begin_with(lines_of(file, "parse", FxtEventType::duration_begin), "phase (painter "));
    EXPECT_EQ(events_of(file, "call", FxtEventType::duration_end).size(), 6 * kThreads * kRounds);
    EXPECT_EQ(lines_of(file, "call", FxtEventType::duration_begin).size(), kThreads);
}

TEST(Clause, ARaisedSemaphoreOpensWhatItGuardsWithoutItsEvents) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto closed = run_under({probe("entered")});
    ASSERT_TRUE(closed) << closed.error().what;
    EXPECT_EQ(closed->told.at("entered"), 0);
    const auto outcome = run_under(
        {probe("entered raise clause:hidden"), probe("title(arg0:str) raise clause:hidden")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    EXPECT_EQ(outcome->told.at("semaphore"), 1) << "once, whoever asks";
    EXPECT_EQ(outcome->told.at("entered"), kThreads * kRounds);
    EXPECT_EQ(events_of(outcome->recorded.file, "entered").size(), kThreads * kRounds);
    EXPECT_TRUE(events_of(outcome->recorded.file, "hidden").empty());
}

TEST(Clause, ARaisedSemaphoreIsLoweredWhenTheTracerIsKilled) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("clauses");
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"--no-sched", "--pid", std::to_string(target->pid()), "-e",
                                     probe("entered raise clause:hidden")});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto did = run_target(*target, kLimit, 1);
    ASSERT_TRUE(did) << did.error().what;
    EXPECT_EQ(did->front().at("semaphore"), 1);
    static_cast<void>(recorder->stop(SIGKILL));
    EXPECT_TRUE(wait_until(Milliseconds(10000), [&] { return semaphore(*target) == 0; }));
    EXPECT_EQ(changed_text_bytes(target->pid()).value_or(SIZE_MAX), 0U);
}

// The program is not there when the recording begins.
TEST(Clause, ARaisedSemaphoreOfAFileThatIsRunLater) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto recorder = Recorder::start(
        {"--no-sched", "--comm", "clauses", "-e", "usdt:clause:entered raise clause:hidden"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    auto target = start_target("clauses", {"--rounds", "10"});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(wait_until(Milliseconds(10000), [&] { return semaphore(*target) == 1; }));
    const auto did = run_target(*target, kLimit, 1);
    ASSERT_TRUE(did) << did.error().what;
    target->close_input();
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(did->front().at("entered"), kThreads * 10);
    EXPECT_EQ(events_of(recorded->file, "entered").size(), kThreads * 10U);
}

}  // namespace
}  // namespace tracer::test
