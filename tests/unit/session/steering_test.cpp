// SPDX-License-Identifier: Apache-2.0
//
// A recording over a fake kernel side that is steered while it runs: real drain thread, decoder,
// writer and sinks.
#include "session/steering.h"

#include "session/recording.h"
#include "support/fixtures/temp_folder.h"
#include "support/fxt_reader.h"
#include "tracer/write/sinks.h"
#include "unit/session/fake_recorder.h"

#include <algorithm>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using std::chrono::milliseconds;

// One step of a test: true when it is done and the next may begin.
using Step = std::function<bool()>;

class SteeringTest : public testing::Test {
protected:
    SteeringTest()
        : watch_(std::move(*EndWatch::make())), folder_(std::move(*test::TempFolder::make())) {
        options_.drain.real_time = false;
        options_.drain.wait = milliseconds(1);
        options_.tick = milliseconds(1);
        options_.duration = std::chrono::seconds(30);  // a test that hangs
        options_.on_live = [this](LiveRecording* live) { live_ = live; };
        options_.on_status = [this](const RecordingStatus&) {
            if (!steps_.empty() && steps_.front()()) steps_.pop_front();
        };
    }

    std::string path(const char* name) const { return folder_.file(name); }

    Result<RecordingResult> run(const std::string& first, const char* format = "fxt") {
        options_.names = {.output = first, .format = format, .target = "a fake"};
        RecordingDefinitions definitions;
        definitions.record_all = true;
        definitions.own_pid = static_cast<uint32_t>(getpid());
        definitions.points = {{.index = model::PointIndex{0}, .category = "app", .name = "hit"},
                              mark_point(model::PointIndex{1}),
                              paused_point(model::PointIndex{2}),
                              resumed_point(model::PointIndex{3})};
        definitions.probes = {{.probe_id = TR_PROBE_FIRST_USER, .spec = "usdt:app:hit"},
                              mark_definition(model::PointIndex{1}),
                              paused_definition(model::PointIndex{2}),
                              resumed_definition(model::PointIndex{3})};
        options_.probes = {definitions.probes.front()};
        auto sink = open_file_sink(first, {});
        EXPECT_TRUE(sink);
        auto output = open_trace_output(*find_format_by_name(format), definitions, std::move(*sink),
                                        {.start = {}, .stop = conditions_});
        EXPECT_TRUE(output);
        return run_recording(recorder_, **output, watch_, nullptr, options_);
    }

    // Steps: asked for once, then waited for.
    void step(std::function<void()> work) {
        steps_.push_back([work = std::move(work)] {
            work();
            return true;
        });
    }
    void step_until(Step done) { steps_.push_back(std::move(done)); }
    void hits(int count) {
        step([this, count] {
            for (int i = 0; i < count; ++i) recorder_.hit(0);
        });
        step_until([this] { return recorder_.is_empty(); });
    }
    void change(SinkChange wanted) {
        step([this, wanted] {
            changed_.reset();
            const auto done = [this](auto changed) { changed_ = std::move(changed); };
            if (wanted.target.empty()) {
                live_->restore_sink(wanted, done);
            } else {
                live_->change_sink(wanted, done);
            }
        });
        step_until([this] { return changed_.has_value(); });
    }
    void expect_changed() {
        step([this] { EXPECT_TRUE(changed_->has_value()) << changed_->error().what; });
    }
    void stop() {
        step([this] { live_->stop(); });
    }
    // A named pipe, and the end that its reader holds.
    UniqueFd make_pipe(const char* name) {
        EXPECT_EQ(mkfifo(path(name).c_str(), 0600), 0);
        return UniqueFd(open(path(name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    }

    test::FakeRecorder recorder_{1};
    EndWatch watch_;
    test::TempFolder folder_;
    RecordingOptions options_;
    LiveRecording* live_ = nullptr;
    std::vector<Trigger> conditions_;  // of the end
    std::deque<Step> steps_;
    std::optional<Result<SinkChanged>> changed_;
};

size_t events_in(const std::string& path, std::string_view name) {
    const auto file = test::load_fxt(path);
    EXPECT_TRUE(file) << path;
    if (!file) return 0;
    EXPECT_THAT(file->problems, testing::IsEmpty()) << path;
    return static_cast<size_t>(std::ranges::count(file->events, name, &test::FxtEvent::name));
}

TEST_F(SteeringTest, StopsOnRequest) {
    hits(10);
    step([this] {
        const LiveStatus status = live_->status();
        EXPECT_EQ(status.records, 10u);
        EXPECT_EQ(status.lost.total(), 0u);
        EXPECT_EQ(status.output, path("a.fxt"));
        EXPECT_EQ(status.target, "a fake");
        EXPECT_GT(status.records_per_second, 0);
        EXPECT_EQ(live_->status().records_per_second, 0);
    });
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "stopped");
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 10u);
    EXPECT_EQ(live_, nullptr);
    EXPECT_TRUE(result->summary.sinks.empty());
}

TEST_F(SteeringTest, ChangesItsBuffersStepByStep) {
    step([this] {
        const auto changed = live_->change_buffers({.rings = BufferRequest{3 << 20, true}});
        ASSERT_TRUE(changed);
        EXPECT_EQ(changed->ring_bytes, 2u << 20);
        EXPECT_EQ(changed->sink_bytes, 64u << 20);
        EXPECT_EQ(live_->status().ring_bytes, 2u << 20);
        EXPECT_EQ(live_->change_buffers({.sink_bytes = 4 << 20})->sink_bytes, 4u << 20);
        recorder_.other_rings_result = fail(ErrorCode::limit, "no memory");
        EXPECT_FALSE(live_->change_buffers({.rings = BufferRequest{8 << 20, true}}));
        EXPECT_EQ(live_->status().ring_bytes, 2u << 20) << "as before";
        recorder_.old_bytes = UINT64_MAX;
        const auto refused = live_->change_buffers({.rings = BufferRequest{8 << 20, true}});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::limit);
    });
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ring_bytes, 2u << 20);
    const auto calls = recorder_.calls();
    const std::vector<std::string> steps{"make rings of 2097152", "add rings", "use rings",
                                         "make rings of 8388608"};
    auto from = calls.begin();
    for (const std::string& wanted : steps) {
        from = std::find(from, calls.end(), wanted);
        ASSERT_NE(from, calls.end()) << wanted;
        ++from;
    }
    EXPECT_EQ(std::ranges::count(calls, "use rings"), 1);
}

TEST_F(SteeringTest, MarksTheTimeline) {
    hits(1);
    step([this] {
        EXPECT_TRUE(live_->mark("deployed 1.4"));
        EXPECT_FALSE(live_->mark(""));
        EXPECT_FALSE(live_->mark(std::string(5000, 'x')));
    });
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->summary.disagreements.empty())
        << testing::PrintToString(result->summary.disagreements);
    const auto file = test::load_fxt(path("a.fxt"));
    ASSERT_TRUE(file);
    const auto mark = std::ranges::find(file->events, "mark", &test::FxtEvent::name);
    ASSERT_NE(mark, file->events.end());
    EXPECT_EQ(mark->category, "tracer");
    EXPECT_EQ(mark->pid, static_cast<uint64_t>(getpid()));
}

TEST_F(SteeringTest, EveryEventIsInOneOfItsSinks) {
    hits(5);
    change({.target = path("b.fxt")});
    expect_changed();
    hits(7);
    change({.target = path("c.fxt"), .keep_old = true});
    hits(11);
    change({.target = ""});
    expect_changed();
    hits(13);
    step([this] {
        const LiveStatus status = live_->status();
        EXPECT_EQ(status.output, path("b.fxt"));
        EXPECT_EQ(status.sink_changes, 3u);
        EXPECT_TRUE(status.kept.empty());
    });
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
    EXPECT_TRUE(result->summary.warnings.empty())
        << testing::PrintToString(result->summary.warnings);
    EXPECT_EQ(result->summary.probes.at(0).written, 36u);
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 5u);
    EXPECT_EQ(events_in(path("b.fxt"), "hit"), 20u);
    EXPECT_EQ(events_in(path("c.fxt"), "hit"), 11u);
    ASSERT_EQ(result->summary.sinks.size(), 3u);
    uint64_t bytes = 0;
    for (const Summary::Sink& sink : result->summary.sinks) {
        EXPECT_EQ(sink.bytes, std::filesystem::file_size(sink.path)) << sink.path;
        bytes += sink.bytes;
    }
    EXPECT_EQ(result->summary.bytes, bytes);
}

TEST_F(SteeringTest, RefusesWhatWouldLoseAFile) {
    change({.target = folder_.file("./a.fxt")});
    step([this] { EXPECT_FALSE(changed_->has_value()); });
    change({.target = folder_.file("no/folder.fxt")});
    step([this] { EXPECT_FALSE(changed_->has_value()); });
    change({.target = ""});  // nothing is kept
    step([this] { EXPECT_FALSE(changed_->has_value()); });
    hits(3);
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 3u);
}

TEST_F(SteeringTest, DoesNotGoOnBehindTheEndOfAFile) {
    change({.target = path("b.eventlog"), .keep_old = true});
    expect_changed();
    change({.target = "", .start = SinkStart::goes_on});
    step([this] { EXPECT_FALSE(changed_->has_value()); });
    stop();
    const auto result = run(path("a.eventlog"), "eventlog");
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
}

TEST_F(SteeringTest, ASinkThatFailsLeadsBackToTheOneKept) {
    hits(3);
    UniqueFd reader = make_pipe("pipe");
    change({.target = path("pipe"), .keep_old = true});
    expect_changed();
    step([&reader] { reader.reset(); });
    hits(50);
    step_until([this] {
        live_->flush();
        return live_->status().output == path("a.fxt");
    });
    hits(5);
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "stopped");
    EXPECT_TRUE(result->output);
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 8u);
    EXPECT_GT(result->summary.loss.unwritten, 0u);
    EXPECT_EQ(result->summary.warnings.size(), 2u)
        << testing::PrintToString(result->summary.warnings);
    ASSERT_EQ(result->summary.sinks.size(), 2u);
    EXPECT_THAT(result->summary.sinks[1].error, testing::HasSubstr("Broken pipe"));
}

TEST_F(SteeringTest, ASinkThatFailsWithNoneKeptEndsTheRecording) {
    change({.target = "/dev/full"});
    hits(50);
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "output-failed");
    EXPECT_FALSE(result->output);
}

TEST_F(SteeringTest, AnotherSinkThatFailsIsAWarning) {
    // What comes waits in a buffer until the sink is left.
    options_.drain.flush_every = std::chrono::hours(1);
    UniqueFd reader = make_pipe("pipe");
    change({.target = path("pipe")});
    expect_changed();
    step([&reader] { reader.reset(); });
    hits(2);
    change({.target = path("b.fxt")});
    hits(5);
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(events_in(path("b.fxt"), "hit"), 5u);
    EXPECT_EQ(result->summary.ended_by, "stopped");
    EXPECT_TRUE(result->output);
    EXPECT_EQ(result->summary.warnings.size(), 1u);
}

TEST_F(SteeringTest, WhatIsHitWhilePausedIsNeitherRecordedNorLost) {
    hits(3);
    step([this] {
        const auto paused = live_->pause();
        ASSERT_TRUE(paused);
        EXPECT_TRUE(paused->is_changed);
        const auto again = live_->pause();
        ASSERT_TRUE(again);
        EXPECT_FALSE(again->is_changed);
        EXPECT_TRUE(live_->status().is_paused);
        EXPECT_TRUE(live_->mark("meanwhile"));
    });
    hits(100);
    step_until([this] { return live_->status().paused_seconds >= 0.02; });
    step([this] {
        const auto resumed = live_->resume();
        ASSERT_TRUE(resumed);
        EXPECT_TRUE(resumed->is_changed);
        EXPECT_GE(resumed->paused_seconds, 0.02);
        EXPECT_FALSE(live_->resume()->is_changed);
        EXPECT_FALSE(live_->status().is_paused);
        EXPECT_EQ(live_->status().pauses, 1u);
    });
    hits(2);
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    const Summary& summary = result->summary;
    EXPECT_TRUE(summary.disagreements.empty()) << summary.disagreements.front();
    EXPECT_EQ(summary.loss.total(), 0u);
    EXPECT_EQ(summary.pauses, 1u);
    EXPECT_GE(summary.paused_seconds, 0.02);
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 5u);
    EXPECT_EQ(events_in(path("a.fxt"), "paused"), 1u);
    EXPECT_EQ(events_in(path("a.fxt"), "resumed"), 1u);
    EXPECT_EQ(events_in(path("a.fxt"), "mark"), 1u);
    EXPECT_THAT(recorder_.calls(),
                testing::ElementsAre("attach", "close", "open", "detach", "counters"));
}

TEST_F(SteeringTest, AnotherSinkAndTheEndWorkWhilePaused) {
    hits(3);
    step([this] { EXPECT_TRUE(live_->pause()); });
    change({.target = path("b.fxt")});
    expect_changed();
    hits(10);
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->summary.disagreements.empty());
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 3u);
    EXPECT_EQ(events_in(path("b.fxt"), "hit"), 0u);
    EXPECT_GT(result->summary.paused_seconds, 0);
}

TEST_F(SteeringTest, AConditionEndsItWithItsEventInTheFile) {
    conditions_ = {*parse_trigger("event(nothing)", "--stop-when"),
                   *parse_trigger("event(mark)", "--stop-when")};
    hits(3);
    step([this] { EXPECT_TRUE(live_->mark("enough")); });
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "stop-when");
    EXPECT_EQ(result->summary.stop_condition, "event(mark)");
    EXPECT_TRUE(result->summary.disagreements.empty());
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 3u);
    EXPECT_EQ(events_in(path("a.fxt"), "mark"), 1u);
}

TEST_F(SteeringTest, ResumeOpensWhatWaits) {
    options_.start = StartTime{.text = "--start-after 1h", .after = std::chrono::hours(1)};
    hits(10);
    step([this] {
        EXPECT_EQ(live_->status().waiting_for, "--start-after 1h");
        EXPECT_FALSE(live_->pause()->is_changed);
        EXPECT_TRUE(live_->resume()->is_changed);
        EXPECT_EQ(live_->status().waiting_for, "");
    });
    hits(2);
    stop();
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(events_in(path("a.fxt"), "hit"), 2u);
    EXPECT_EQ(result->summary.pauses, 0u);
    EXPECT_GT(result->summary.waited_seconds, 0);
    EXPECT_TRUE(result->summary.disagreements.empty());
}

TEST_F(SteeringTest, TheDurationGoesOnWhilePaused) {
    options_.duration = milliseconds(100);
    step([this] { EXPECT_TRUE(live_->pause()); });
    const auto result = run(path("a.fxt"));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->summary.ended_by, "duration");
    EXPECT_GE(result->summary.seconds + result->summary.paused_seconds, 0.1);
    EXPECT_LT(result->summary.seconds, result->summary.paused_seconds);
}

}  // namespace
}  // namespace tracer
