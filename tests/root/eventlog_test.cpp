// SPDX-License-Identifier: Apache-2.0
//
// Recordings as GHC eventlogs: what the judge of ghc-events accepts, and whether they say what the
// recorded programs say of themselves.
#include "root/recorded_eventlog.h"
#include "support/eventlog_text.h"
#include "support/fixtures/deadline.h"
#include "support/fixtures/python_recipe.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"
#include "support/fixtures/temp_folder.h"
#include "support/fixtures/tracer_run.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <unistd.h>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

const std::vector<std::string> kFunctions{"fib", "outer", "middle", "inner"};

void expect_sound(const TracerResult& result) {
    EXPECT_EQ(result.status, ExitStatus{}) << result.errors;
    ASSERT_TRUE(result.summary.is_object()) << result.output;
    EXPECT_TRUE(result.summary.value("agree", false))
        << result.summary.value("disagreements", nlohmann::json()).dump();
    for (const auto& [cause, count] : result.summary.at("loss").items()) {
        EXPECT_EQ(count, 0) << cause;
    }
}

size_t count_messages(const EventlogFile& file, std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(file.events, [&](const EventlogEvent& event) {
        return event.is(EventlogId::user_msg) && event.text("text") == text;
    }));
}

size_t count_messages_with(const EventlogFile& file,
                           std::string_view begin,
                           std::string_view end = {}) {
    return static_cast<size_t>(std::ranges::count_if(file.events, [&](const EventlogEvent& event) {
        return event.is(EventlogId::user_msg) && event.text("text").starts_with(begin) &&
               event.text("text").ends_with(end);
    }));
}

size_t count_thread_events(const EventlogFile& file, EventlogId id, uint64_t thread) {
    return static_cast<size_t>(std::ranges::count_if(file.events, [&](const EventlogEvent& event) {
        return event.is(id) && event.number("thread") == thread;
    }));
}

std::vector<std::string> span_options(const ChildProcess& target) {
    std::vector<std::string> options{"--pid", std::to_string(target.pid())};
    for (const std::string& function : kFunctions) {
        options.insert(options.end(), {"-e", "span:" + target_path("call_tree") + ":" + function});
    }
    return options;
}

// Whatever thread made them.
void expect_calls(const EventlogFile& file, const nlohmann::json& said) {
    for (const std::string& function : kFunctions) {
        const auto calls = said.at("calls").at(function).get<uint64_t>();
        EXPECT_EQ(count_messages_with(file, "START ", " " + function), calls);
        EXPECT_EQ(count_messages_with(file, "STOP ", " " + function), calls);
    }
}

TEST(EventlogRecorded, SpansAreThoseTheProgramCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("spans.eventlog");
    auto target = start_target("call_tree");
    ASSERT_TRUE(target) << target.error().what;
    auto arguments = span_options(*target);
    arguments.insert(arguments.end(), {"-o", path});
    auto run = TracerRun::start(arguments);
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto result = run->stop();
    ASSERT_TRUE(result) << result.error().what;
    expect_sound(*result);
    EXPECT_EQ(result->summary.at("output").at("format"), "eventlog");
    const EventlogFile file = load_valid_eventlog(path);
    expect_calls(file, lines->at(0));
    // It is the log of one process.
    const auto pid = std::ranges::find_if(file.events, [](const EventlogEvent& event) {
        return event.is(EventlogId::osprocess_pid);
    });
    ASSERT_NE(pid, file.events.end());
    EXPECT_EQ(pid->number("pid"), target->pid());
}

TEST(EventlogRecorded, ACaptureConvertedSaysWhatALiveRecordingDoes) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string capture = folder->file("spans.traw");
    const std::string path = folder->file("spans.eventlog");
    auto target = start_target("call_tree");
    ASSERT_TRUE(target) << target.error().what;
    auto arguments = span_options(*target);
    arguments.insert(arguments.end(), {"-o", capture});
    auto run = TracerRun::start(arguments);
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto result = run->stop();
    ASSERT_TRUE(result) << result.error().what;
    expect_sound(*result);
    const auto converted = run_tracer({"convert", "--json", capture, "-o", path});
    ASSERT_TRUE(converted) << converted.error().what;
    EXPECT_EQ(converted->status, ExitStatus{}) << converted->errors;
    EXPECT_EQ(converted->summary.at("probes"), result->summary.at("probes"));
    const EventlogFile file = load_valid_eventlog(path);
    expect_calls(file, lines->at(0));
    const auto arguments_event = std::ranges::find_if(
        file.events, [](const EventlogEvent& event) { return event.is(EventlogId::program_args); });
    ASSERT_NE(arguments_event, file.events.end());
    EXPECT_THAT(event_line(*arguments_event), testing::HasSubstr("call_tree"));
}

TEST(EventlogRecorded, TurnsOfTwoThreadsAreThoseTheKernelCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kLateSwitchesMax = 20;
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("turns.eventlog");
    auto target = start_target("pingpong", {"--rounds", "2000"});
    ASSERT_TRUE(target) << target.error().what;
    auto run = TracerRun::start({"--pid", std::to_string(target->pid()), "--tree", "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    const auto lines = run_target(*target, kLimit);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto result = run->stop();
    ASSERT_TRUE(result) << result.error().what;
    expect_sound(*result);
    const EventlogFile file = load_valid_eventlog(path);
    ASSERT_EQ(lines->size(), 2U);
    for (const nlohmann::json& player : *lines) {
        const auto tid = player.at("tid").get<uint64_t>();
        const uint64_t counted =
            player.at("voluntary").get<uint64_t>() + player.at("involuntary").get<uint64_t>();
        const size_t stops = count_thread_events(file, EventlogId::stop_thread, tid);
        EXPECT_GE(stops, counted + 1) << player.dump();
        EXPECT_LE(stops, counted + 1 + kLateSwitchesMax) << player.dump();
        EXPECT_EQ(count_thread_events(file, EventlogId::run_thread, tid), stops);
        EXPECT_EQ(count_thread_events(file, EventlogId::create_thread, tid), 1U);
    }
}

TEST(EventlogRecorded, CollectionsOfPythonAreThoseItCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("python.eventlog");
    const auto script = write_python_recipe(*folder, false);
    ASSERT_TRUE(script);
    std::vector<std::string> arguments{"-e", "usdt:python:gc__*", "-o", path, "--"};
    for (const std::string& word : python_command(*script)) arguments.push_back(word);
    auto run = TracerRun::start(arguments);
    ASSERT_TRUE(run) << run.error().what;
    const auto result = run->finish();
    ASSERT_TRUE(result) << result.error().what;
    expect_sound(*result);
    const auto collections = python_collections(result->output);
    ASSERT_TRUE(collections) << collections.error().what;
    const EventlogFile file = load_valid_eventlog(path);
    for (uint64_t i = 0; i < 3; ++i) {
        const std::string message = "gc__start arg0=" + std::to_string(i);
        EXPECT_EQ(count_messages(file, message), collections->generation[i]) << message;
    }
    EXPECT_EQ(count_messages_with(file, "gc__done "), collections->total());
    const auto hits = std::ranges::count_if(file.events, [](const EventlogEvent& event) {
        return event.is(EventlogId::perf_tracepoint);
    });
    EXPECT_EQ(static_cast<size_t>(hits), 2 * collections->total());
}

TEST(EventlogRecorded, TheWholeSystemHasARowForEachCpu) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("all.eventlog");
    auto run = TracerRun::start({"-a", "-d", "1s", "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    const auto result = run->finish();
    ASSERT_TRUE(result) << result.error().what;
    expect_sound(*result);
    const EventlogFile file = load_valid_eventlog(path);
    std::set<uint64_t> created;
    size_t runs = 0;
    for (const EventlogEvent& event : file.events) {
        if (event.is(EventlogId::cap_create)) created.insert(event.number("cap"));
        if (event.is(EventlogId::run_thread)) ++runs;
        EXPECT_FALSE(event.is(EventlogId::osprocess_pid)) << "a log of one process";
    }
    EXPECT_EQ(created.size(), static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
    EXPECT_GT(runs, 0U);
}

TEST(EventlogRecorded, AKilledRecorderLeavesAValidLog) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("killed.eventlog");
    auto run = TracerRun::start({"-a", "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    // A second's events and more, not only the header.
    EXPECT_TRUE(wait_until(kLimit, [&] {
        const auto file = load_eventlog(path);
        return file && file->events.size() > 100;
    }));
    const auto result = run->stop(SIGKILL);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, (ExitStatus{0, SIGKILL}));
    const EventlogFile file = load_valid_eventlog(path);
    EXPECT_GT(file.events.size(), 100U);
    EXPECT_EQ(file.reader.end_marker_count(), 0U);
}

}  // namespace
}  // namespace tracer::test
