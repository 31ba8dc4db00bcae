// SPDX-License-Identifier: Apache-2.0
//
// The whole session over a fake kernel side: real merger, drain thread and stop order; once with
// the real decoder, writer and sink.
#include "session/recording.h"

#include "session/output_file.h"
#include "tracer/write/sinks.h"
#include "unit/session/fake_output.h"
#include "unit/session/fake_recorder.h"
#include "unit/session/wait_until.h"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using std::chrono::milliseconds;

class RecordingTest : public testing::Test {
protected:
    RecordingTest() : watch_(std::move(*EndWatch::make())) {
        options_.drain.real_time = false;
        options_.drain.wait = milliseconds(1);
        options_.tick = milliseconds(1);
        options_.ring_bytes = 65536;
        ProbeDefinition probe;
        probe.probe_id = TR_PROBE_FIRST_USER;
        probe.spec = "usdt:app:request";
        options_.probes.push_back(probe);
    }

    Result<RecordingResult> run(test::FakeRecorder& recorder) {
        return run_recording(recorder, output_, watch_, nullptr, options_);
    }

    test::FakeOutput output_;
    EndWatch watch_;
    RecordingOptions options_;
};

TEST_F(RecordingTest, EndsByDurationWithEverythingDrained) {
    test::FakeRecorder recorder(2);
    options_.duration = milliseconds(30);
    options_.on_attached = [&](const auto&) {
        for (int i = 0; i < 500; ++i) recorder.hit(i % 2);
    };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
    EXPECT_EQ(result->summary.ended_by, "duration");
    EXPECT_EQ(result->summary.events, 500u);
    EXPECT_TRUE(recorder.is_empty());
    EXPECT_TRUE(result->summary.disagreements.empty());
    EXPECT_EQ(result->summary.loss.total(), 0u);
    EXPECT_GE(result->summary.seconds, 0.030);
}

TEST_F(RecordingTest, OpensAtItsTimeAndTheDurationCountsFromThen) {
    test::FakeRecorder recorder(1);
    options_.start = StartTime{.text = "--start-after 50ms", .after = milliseconds(50)};
    options_.duration = milliseconds(30);
    bool has_hit_closed = false;
    bool has_hit_open = false;
    options_.on_status = [&](const RecordingStatus& status) {
        if (!status.waiting_for.empty()) {
            EXPECT_EQ(status.waiting_for, "--start-after 50ms");
            has_hit_closed = true;
        } else {
            has_hit_open = true;
        }
        recorder.hit(0);
    };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    const Summary& summary = result->summary;
    EXPECT_TRUE(has_hit_closed);
    EXPECT_TRUE(has_hit_open);
    EXPECT_EQ(summary.ended_by, "duration");
    EXPECT_EQ(summary.pauses, 0u);
    EXPECT_EQ(summary.paused_seconds, 0);
    EXPECT_GE(summary.waited_seconds, 0.050);
    EXPECT_GE(summary.seconds, 0.030);
    EXPECT_TRUE(summary.disagreements.empty()) << summary.disagreements.front();
    EXPECT_EQ(recorder.calls(),
              (std::vector<std::string>{"close", "attach", "open", "detach", "counters"}));
}

TEST_F(RecordingTest, OneThatWasNeverOpenedIsNone) {
    test::FakeRecorder recorder(1);
    options_.start = StartTime{.text = "--start-after 1h", .after = std::chrono::hours(1)};
    options_.on_attached = [&](const auto&) { kill(getpid(), SIGINT); };
    const auto result = run(recorder);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::interrupted);
    EXPECT_EQ(result.error().what,
              "ended (interrupted) before --start-after 1h: nothing is recorded");
    EXPECT_EQ(recorder.calls(), (std::vector<std::string>{"close", "attach", "detach"}));
    EXPECT_EQ(output_.calls, std::vector<std::string>());
}

TEST_F(RecordingTest, StopsInOrder) {
    test::FakeRecorder recorder(1);
    options_.duration = milliseconds(1);
    // What the kernel hands over until it is detached is recorded too.
    recorder.on_detach = [&] { recorder.hit(0); };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    EXPECT_EQ(recorder.calls(), (std::vector<std::string>{"attach", "detach", "counters"}));
    EXPECT_EQ(output_.calls, (std::vector<std::string>{"finish", "close"}));
    EXPECT_EQ(result->summary.events, 1u);
    EXPECT_GE(output_.clocks, 2u);
}

TEST_F(RecordingTest, LedgerAddsUpAfterLosses) {
    test::FakeRecorder recorder(1, 100);
    options_.drain.slack = std::chrono::hours(1000);  // nothing is drained before the end
    options_.duration = milliseconds(5);
    options_.on_attached = [&](const auto&) {
        for (int i = 0; i < 5000; ++i) recorder.hit(0);
    };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    const Summary& summary = result->summary;
    ASSERT_EQ(summary.probes.size(), 1u);
    EXPECT_EQ(summary.probes[0].spec, "usdt:app:request");
    EXPECT_EQ(summary.probes[0].hits, 5000u);
    EXPECT_EQ(summary.probes[0].written, 100u);
    EXPECT_EQ(summary.probes[0].ring_full, 4900u);
    EXPECT_EQ(summary.loss.ring_full, 4900u);
    EXPECT_TRUE(summary.disagreements.empty());
    EXPECT_DOUBLE_EQ(summary.loss_rate(), 0.98);
    EXPECT_GT(summary.ring_bytes_enough, 65536u);
}

TEST_F(RecordingTest, EndsWhenItsTargetDies) {
    test::FakeRecorder recorder(1);
    const pid_t target = fork();
    if (target == 0) {
        pause();
        _exit(0);
    }
    options_.targets.pids = {static_cast<uint32_t>(target)};
    options_.on_attached = [&](const auto&) { kill(target, SIGKILL); };
    const auto result = run(recorder);
    waitpid(target, nullptr, 0);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "targets-ended");
    EXPECT_EQ(output_.calls, (std::vector<std::string>{"finish", "close"}));
}

TEST_F(RecordingTest, InterruptEndsItWhole) {
    test::FakeRecorder recorder(1);
    options_.on_attached = [&](const auto&) {
        recorder.hit(0);
        kill(getpid(), SIGINT);
    };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "interrupted");
    EXPECT_EQ(result->summary.events, 1u);
}

TEST_F(RecordingTest, SignalDuringAttachIsAnErrorAndDetaches) {
    test::FakeRecorder recorder(1);
    recorder.on_attach = [] { kill(getpid(), SIGTERM); };
    const auto result = run(recorder);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::interrupted);
    EXPECT_NE(result.error().what.find("interrupted by SIGTERM"), std::string::npos);
    EXPECT_EQ(watch_.signal(), SIGTERM);
    EXPECT_EQ(recorder.calls(), (std::vector<std::string>{"attach", "detach"}));
}

TEST_F(RecordingTest, FailedAttachComesBackAsItIs) {
    test::FakeRecorder recorder(1);
    recorder.attach_result = fail(ErrorCode::permission, "attach x", "try y");
    const auto result = run(recorder);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().what, "attach x");
    EXPECT_EQ(result.error().hint, "try y");
}

TEST_F(RecordingTest, SecondSignalLeavesTheRestCountsItAndClosesTheOutput) {
    test::FakeRecorder recorder(1);
    options_.drain.slack = std::chrono::hours(1000);  // all is left to the final drain
    options_.on_attached = [&](const auto&) {
        recorder.hit(0);
        const uint64_t later_ns = boottime_ns() + 50'000'000;
        EXPECT_TRUE(test::wait_until([&] { return boottime_ns() > later_ns; }));
        recorder.hit(0);
        kill(getpid(), SIGINT);
    };
    output_.on_hit = [] { kill(getpid(), SIGINT); };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "interrupted");
    EXPECT_EQ(result->summary.events, 1u);
    EXPECT_EQ(result->summary.loss.abandoned, 1u);
    EXPECT_EQ(output_.calls, (std::vector<std::string>{"finish", "close"}));
    EXPECT_TRUE(result->summary.disagreements.empty());
}

TEST_F(RecordingTest, FullOutputEndsItWithThatError) {
    test::FakeRecorder recorder(1);
    options_.on_attached = [&](const auto&) { output_.is_full = true; };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "output-failed");
    ASSERT_FALSE(result->output);
    EXPECT_EQ(exit_status(result->output.error().code), 5);
}

TEST_F(RecordingTest, SizeLimitEndsIt) {
    test::FakeRecorder recorder(1);
    options_.drain.output_bytes_max = SizeLimit::kEndBytes + 1000;
    options_.on_attached = [&](const auto&) {
        for (int i = 0; i < 100; ++i) recorder.hit(0);
    };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    const Summary& summary = result->summary;
    EXPECT_EQ(summary.ended_by, "max-size");
    EXPECT_LE(output_.bytes(), options_.drain.output_bytes_max);
    // What found no room was not lost, and is counted.
    ASSERT_EQ(summary.probes.size(), 1u);
    EXPECT_GT(summary.probes[0].after_limit, 0u);
    EXPECT_EQ(summary.events + summary.probes[0].after_limit, 100u);
    EXPECT_EQ(summary.loss.total(), 0u);
    EXPECT_TRUE(summary.disagreements.empty());
}

TEST_F(RecordingTest, WhatAFailedOutputDidNotTakeIsLostNotWritten) {
    test::FakeRecorder recorder(1);
    options_.duration = milliseconds(1);
    recorder.on_detach = [&] {
        for (int i = 0; i < 100; ++i) recorder.hit(0);
    };
    output_.on_hit = [&] { output_.is_full = output_.records == 100; };
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->output);
    EXPECT_EQ(result->summary.bytes, 0u);
    EXPECT_EQ(result->summary.events, 0u);
    EXPECT_EQ(result->summary.loss.unwritten, 100u);
    EXPECT_DOUBLE_EQ(result->summary.loss_rate(), 1.0);
}

TEST_F(RecordingTest, WarnsAboutATraceWithoutHitsAndNamesTheLikelyCause) {
    test::FakeRecorder recorder(1);
    recorder.filtered(7);
    options_.duration = milliseconds(1);
    const auto result = run(recorder);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->summary.warnings.size(), 1u);
    EXPECT_NE(result->summary.warnings[0].find("7 times by others"), std::string::npos);
}

TEST_F(RecordingTest, ReportsItsStateEveryTick) {
    test::FakeRecorder recorder(1);
    for (int i = 0; i < 10; ++i) recorder.hit(0);
    uint64_t most = 0;
    options_.on_status = [&](const RecordingStatus& status) {
        most = std::max(most, status.records);
        if (most == 10) kill(getpid(), SIGTERM);
    };
    ASSERT_TRUE(run(recorder));
    EXPECT_EQ(most, 10u);
}

TEST_F(RecordingTest, ReleasesTheCommandOnlyWhenAttachedAndEndsWithIt) {
    test::FakeRecorder recorder(1);
    auto child = ChildProcess::start({"true"});
    ASSERT_TRUE(child);
    const std::string pid = std::to_string(child->pid());
    const auto result = run_recording(recorder, output_, watch_, &*child, options_);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "targets-ended");
    EXPECT_NE(result->summary.command_end.find("exited with status 0"), std::string::npos);
    EXPECT_EQ(recorder.calls()[0], "add_target " + pid);
    EXPECT_EQ(recorder.calls()[1], "attach");
}

TEST_F(RecordingTest, SaysThatACommandIsLeftRunning) {
    test::FakeRecorder recorder(1);
    auto child = ChildProcess::start({"sleep", "1000"});
    ASSERT_TRUE(child);
    options_.duration = milliseconds(1);
    const auto result = run_recording(recorder, output_, watch_, &*child, options_);
    kill(static_cast<pid_t>(child->pid()), SIGKILL);
    waitpid(static_cast<pid_t>(child->pid()), nullptr, 0);
    ASSERT_TRUE(result);
    EXPECT_NE(result->summary.command_end.find("still runs"), std::string::npos);
}

TEST_F(RecordingTest, WritesATraceThroughTheRealDecoderAndWriter) {
    test::FakeRecorder recorder(2);
    RecordingDefinitions definitions;
    definitions.record_all = true;
    model::Point point;
    point.category = "app";
    point.name = "request";
    definitions.points.push_back(point);
    definitions.probes = options_.probes;
    auto sink = std::make_unique<MemorySink>();
    const MemorySink& memory = *sink;
    auto target = choose_output("x.fxt", "");
    ASSERT_TRUE(target);
    auto output = open_trace_output(*target->format, definitions, std::move(sink));
    ASSERT_TRUE(output);
    options_.duration = milliseconds(20);
    options_.on_attached = [&](const auto&) {
        for (int i = 0; i < 300; ++i) recorder.hit(i % 2);
    };
    const auto result = run_recording(recorder, **output, watch_, nullptr, options_);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->summary.disagreements.empty());
    EXPECT_EQ(result->summary.probes.at(0).written, 300u);
    EXPECT_GE(result->summary.events, 300u);
    EXPECT_EQ(memory.bytes().size(), result->summary.bytes);
    EXPECT_EQ(memory.bytes().size() % 8, 0u);
}

}  // namespace
}  // namespace tracer
