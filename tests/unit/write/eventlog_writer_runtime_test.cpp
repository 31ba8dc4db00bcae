// SPDX-License-Identifier: Apache-2.0
//
// Logs of a program whose own runtime tells of its threads and collections: its capabilities and
// threads, whatever the kernel runs.
#include "unit/write/eventlog_writer_fixture.h"

#include <algorithm>

namespace tracer::test {
namespace {

using model::PointRole;
using model::ValueType;
using testing::ElementsAre;

constexpr uint32_t kPid = 100;

class EventlogRuntime : public EventlogWriterTest {
protected:
    void SetUp() override {
        start({.pid = kPid});
        run_ = role(PointRole::run, {"capability", "thread"}, {"code", "why", "stack"});
        gc_ = role(PointRole::gc, {"generation"},
                   {"capability", "copied", "live", "slop", "threads", "most_copied_words",
                    "balanced_words", "heap_mib", "blocks", "allocated_words"});
        create_ = role(PointRole::create, {"capability", "thread"});
        wakeup_ = role(PointRole::wakeup, {"capability", "thread", "other"});
        label_ = role(PointRole::label, {"thread", "text"});
        message_ = role(PointRole::message, {"text"});
        marker_ = role(PointRole::marker, {"text"});
    }

    model::PointIndex role(PointRole role,
                           const std::vector<std::string>& names,
                           const std::vector<std::string>& end_names = {}) {
        const auto arguments = [](const std::vector<std::string>& of) {
            std::vector<model::Argument> list;
            list.reserve(of.size());
            for (const std::string& name : of) {
                list.push_back({name, name == "text" ? ValueType::string : ValueType::u64});
            }
            return list;
        };
        const model::PointIndex index{next_point_++};
        const bool is_span = !end_names.empty();
        writer_->define(
            model::Point{.index = index,
                         .kind = is_span ? model::PointKind::span : model::PointKind::instant,
                         .category = "app",
                         .name = "it",
                         .arguments = arguments(names),
                         .end_arguments = arguments(end_names),
                         .role = role});
        return index;
    }

    void runs(uint64_t ns, uint64_t cap, uint64_t thread, model::ThreadIndex on = kMain) {
        EXPECT_EQ(begin(ns, 3, run_, on, {u64(cap), u64(thread)}), WriteStatus::ok);
    }
    void stops(uint64_t ns, uint64_t code, uint64_t why = 0, model::ThreadIndex on = kMain) {
        EXPECT_EQ(end(ns, 3, run_, on, {u64(code), u64(why), u64(77)}), WriteStatus::ok);
    }

    model::PointIndex run_{}, gc_{}, create_{}, wakeup_{}, label_{}, message_{}, marker_{};
};

TEST_F(EventlogRuntime, RefusesAThreadThatDoesNotLeadBackToItsCapability) {
    run_ = role(PointRole::run, {"capability", "thread", "home"}, {"code", "why", "stack"});
    EXPECT_EQ(begin(10, 3, run_, kMain, {u64(0), u64(5), u64(0)}), WriteStatus::ok);
    stops(20, 3);
    EXPECT_EQ(begin(30, 3, run_, kMain, {u64(0), u64(5), u64(77)}), WriteStatus::refused);
    EXPECT_EQ(begin(40, 3, run_, kMain, {u64(0), u64(5), model::Value{}}), WriteStatus::refused);
    const EventlogFile file = read();
    size_t runs = 0;
    size_t told = 0;
    for (const EventlogEvent& event : file.events) {
        if (event.is(EventlogId::run_thread)) ++runs;
        if (event.is(EventlogId::log_msg) && event.text("text").starts_with("threads are left out"))
            ++told;
    }
    EXPECT_EQ(runs, 1U);
    EXPECT_EQ(told, 1U);
}

TEST_F(EventlogRuntime, ThreadsRunOnTheRuntimesCapabilities) {
    runs(10, 0, 5);
    stops(20, 3);
    runs(30, 0, 5);
    stops(40, 4, 1);
    runs(50, 0, 5);
    stops(60, 2);
    runs(70, 0, 5);
    stops(80, 5);
    EXPECT_THAT(lines(0),
                ElementsAre("10 creating thread 5", "10 running thread 5",
                            "20 stopping thread 5 (thread yielding)", "30 running thread 5",
                            "40 stopping thread 5 (blocked on an MVar)", "50 running thread 5",
                            "60 stopping thread 5 (stack overflow)", "70 running thread 5",
                            "80 stopping thread 5 (thread finished)"));
    const EventlogFile file = read();
    const auto overflow = std::ranges::find_if(file.events, [](const EventlogEvent& event) {
        return event.is(EventlogId::stop_thread) && event.number("status") == 2;
    });
    ASSERT_NE(overflow, file.events.end());
    EXPECT_EQ(overflow->number("info"), 77u);
}

TEST_F(EventlogRuntime, WhatTheKernelRunsIsLeftOut) {
    EXPECT_EQ(run(5, 3, kIdle, kMain), WriteStatus::ok);
    EXPECT_EQ(wake(6, 3, kWorker, 2), WriteStatus::ok);
    runs(10, 0, 1);
    EXPECT_EQ(run(15, 3, kMain, kWorker), WriteStatus::ok);
    stops(20, 1);
    EXPECT_THAT(lines(0), ElementsAre("10 creating thread 1", "10 running thread 1",
                                      "20 stopping thread 1 (heap overflow)"));
}

TEST_F(EventlogRuntime, ARunEndsAtASafeForeignCallAndGoesOnElsewhere) {
    runs(10, 0, 1);
    EXPECT_EQ(end(20, 3, run_, kMain, {}, model::SpanEndCause::until), WriteStatus::ok);
    runs(25, 0, 2, kWorker);
    stops(30, 3, 0, kWorker);
    runs(40, 1, 1);
    stops(50, 5);
    EXPECT_THAT(lines(0),
                ElementsAre("10 creating thread 1", "10 running thread 1",
                            "20 stopping thread 1 (making a foreign call)", "25 creating thread 2",
                            "25 running thread 2", "30 stopping thread 2 (thread yielding)"));
    EXPECT_THAT(lines(1),
                ElementsAre("40 running thread 1", "50 stopping thread 1 (thread finished)"));
}

TEST_F(EventlogRuntime, AReasonThatNoReaderKnowsIsNone) {
    runs(10, 0, 1);
    stops(20, 4, 10);
    runs(30, 0, 1);
    stops(40, 99);
    EXPECT_THAT(lines(0),
                ElementsAre("10 creating thread 1", "10 running thread 1",
                            "20 stopping thread 1 (No stop thread status)", "30 running thread 1",
                            "40 stopping thread 1 (No stop thread status)"));
}

TEST_F(EventlogRuntime, CollectionsHaveTheEventsOfGhc) {
    EXPECT_EQ(begin(10, 3, gc_, kMain, {u64(1)}), WriteStatus::ok);
    EXPECT_EQ(end(90, 3, gc_, kMain,
                  {u64(0), u64(4096), u64(8192), u64(64), u64(2), u64(300), u64(100), u64(2),
                   u64(500), u64(1000)}),
              WriteStatus::ok);
    EXPECT_THAT(
        lines(0),
        ElementsAre("10 starting GC", "90 allocated on heap capset 0: 8000 total bytes till now",
                    "90 all caps stopped for GC",
                    "90 GC stats for heap capset 0: generation 1, 4096 bytes copied, 64 bytes "
                    "slop, 16384 bytes fragmentation, 2 par threads, 2400 bytes max par copied, "
                    "4096 bytes total par copied, 800 bytes balanced par copied",
                    "90 finished GC", "90 live data in heap capset 0: 8192 bytes",
                    "90 size of heap capset 0: 2097152 bytes"));
}

TEST_F(EventlogRuntime, LabelsMessagesAndMarkersArePut) {
    EXPECT_EQ(instant(5, 3, label_, kMain, {u64(7), text("wor\xffker")}), WriteStatus::ok);
    EXPECT_EQ(instant(6, 3, create_, kMain, {u64(0), u64(7)}), WriteStatus::ok);
    // Said once: one that ran before its maker told of it is no loss.
    EXPECT_EQ(instant(6, 3, create_, kMain, {u64(0), u64(7)}), WriteStatus::ok);
    EXPECT_EQ(instant(7, 3, wakeup_, kMain, {u64(0), u64(7), u64(1)}), WriteStatus::ok);
    runs(10, 1, 7);
    EXPECT_EQ(instant(11, 3, message_, kMain, {text("half")}), WriteStatus::ok);
    EXPECT_EQ(instant(12, 3, marker_, kMain, {text("way")}), WriteStatus::ok);
    EXPECT_EQ(instant(13, 3, wakeup_, kMain, {u64(0), u64(7), u64(1)}), WriteStatus::ok)
        << "it runs: nobody was woken";
    stops(20, 5);
    EXPECT_THAT(lines(0),
                ElementsAre("6 creating thread 7", "6 thread 7 has label \"wor\xef\xbf\xbdker\"",
                            "7 waking up thread 7 on cap 1"));
    EXPECT_THAT(lines(1), ElementsAre("10 running thread 7", "11 half", "12 marker: way",
                                      "20 stopping thread 7 (thread finished)"));
}

TEST_F(EventlogRuntime, MisreadNumbersAreRefused) {
    EXPECT_EQ(begin(10, 3, run_, kMain, {u64(1ULL << 40), u64(1)}), WriteStatus::refused);
    EXPECT_EQ(begin(11, 3, run_, kMain, {model::Value{}, u64(1)}), WriteStatus::refused);
    EXPECT_EQ(end(12, 3, run_, kMain, {u64(3), u64(0), u64(0)}), WriteStatus::refused);
    EXPECT_EQ(end(13, 3, gc_, kMain, {}, model::SpanEndCause::lost_events), WriteStatus::refused);
}

TEST_F(EventlogRuntime, ALossStopsWhatRuns) {
    runs(10, 0, 1);
    EXPECT_EQ(write(40, model::Loss{model::LossCause::ring_full, 3, kBegin + 20, 5}),
              WriteStatus::ok);
    runs(50, 0, 1);
    stops(60, 5);
    EXPECT_THAT(lines(0),
                ElementsAre("10 creating thread 1", "10 running thread 1",
                            "20 stopping thread 1 (No stop thread status)", "50 running thread 1",
                            "60 stopping thread 1 (thread finished)"));
}

TEST_F(EventlogRuntime, AnotherProcessIsToldInMessages) {
    const model::ThreadIndex child{2};
    thread(child, 200, 200, "child");
    EXPECT_EQ(instant(5, 3, marker_, child, {text("from the child")}), WriteStatus::ok);
    EXPECT_THAT(lines(std::nullopt), testing::Contains(testing::HasSubstr("from the child\"")));
}

TEST_F(EventlogRuntime, AChunkBeginsWithWhatRuns) {
    runs(10, 0, 5);
    writer_->end_chunk();
    const size_t before = sink_.bytes().size();
    ASSERT_TRUE(writer_->begin_chunk());
    stops(30, 3);
    ASSERT_TRUE(writer_->close());
    is_closed_ = is_judged_ = true;
    const auto both = text_of(sink_.bytes());
    expect_valid(both.substr(0, before));
    expect_valid(both.substr(before));
    const EventlogFile file = parse_eventlog(both.substr(before));
    std::vector<std::string> told;
    for (const EventlogEvent& event : file.events) {
        if (event.capability == 0 && !event.is(EventlogId::block_marker)) {
            told.push_back(event_text(event));
        }
    }
    EXPECT_THAT(told, ElementsAre("creating thread 5", "running thread 5",
                                  "stopping thread 5 (thread yielding)"));
}

}  // namespace
}  // namespace tracer::test
