// SPDX-License-Identifier: Apache-2.0
#include "decoder_fixture.h"

namespace tracer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DecoderSpan : public DecoderTest {};

TEST_F(DecoderSpan, NestsByTheStackPointer) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00);
    end(30, kEndG, 0x0f00);
    end(40, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 begin g 7 [1]",
                                             "30 end g 7 returned [2]", "40 end f 7 returned [2]"));
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
}

TEST_F(DecoderSpan, FollowsRecursion) {
    for (uint64_t depth = 0; depth < 100; ++depth) begin(depth, kBeginF, 0x10000 - depth * 64);
    for (uint64_t depth = 100; depth-- > 0;) end(200 - depth, kEndF, 0x10000 - depth * 64);
    EXPECT_EQ(writer_.lines().size(), 200U);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
}

TEST_F(DecoderSpan, KeepsThreadsApart) {
    begin(10, kBeginF, 0x1000, 7);
    begin(11, kBeginF, 0x1000, 8);
    end(12, kEndF, 0x1000, 7);
    end(13, kEndF, 0x1000, 8);
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderSpan, AFrameLeftByLongjmpEndsAtTheNextEntry) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00);
    begin(30, kBeginG, 0x0f80);  // above the first g: that one is gone
    end(40, kEndG, 0x0f80);
    end(50, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 begin g 7 [1]",
                                             "30 end g 7 unwound []", "30 begin g 7 [1]",
                                             "40 end g 7 returned [2]", "50 end f 7 returned [2]"));
    EXPECT_EQ(counters().spans_unwound, 1U);
}

TEST_F(DecoderSpan, AnEntryAtTheSameDepthSaysThatTheEarlierOneWasLeft) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginF, 0x1000);
    end(30, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 end f 7 unwound []",
                                             "20 begin f 7 [1]", "30 end f 7 returned [2]"));
}

// A user's probe and a pack's on one function: two begins at one stack pointer are no sign that the
// first was left, but where that comes again.
TEST_F(DecoderSpan, ProbesAtOnePlaceAreOfOneCall) {
    auto definitions = standard_definitions();
    for (ProbeDefinition& probe : definitions.probes) {
        if (probe.role == HitRole::span_begin) probe.place = kBeginF;
    }
    start(std::move(definitions));
    begin(10, kBeginF, 0x1000);
    begin(11, kBeginG, 0x1000);
    end(20, kEndG, 0x1000);
    end(21, kEndF, 0x1000);
    EXPECT_THAT(writer_.take_lines(),
                ElementsAre("10 begin f 7 [1]", "11 begin g 7 [1]", "20 end g 7 returned [2]",
                            "21 end f 7 returned [2]"));
    begin(30, kBeginF, 0x1000);
    begin(31, kBeginG, 0x1000);
    begin(40, kBeginF, 0x1000);
    begin(41, kBeginG, 0x1000);
    EXPECT_THAT(writer_.take_lines(),
                ElementsAre("30 begin f 7 [1]", "31 begin g 7 [1]", "40 end g 7 unwound []",
                            "40 end f 7 unwound []", "40 begin f 7 [1]", "41 begin g 7 [1]"));
}

// Armed when the library was loaded, in the middle of what it does first.
TEST_F(DecoderSpan, WhatComesLateMayHaveBegunBefore) {
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 8}, TR_KIND_task_new, {.comm = "t"}));
    const auto index =
        model::PointIndex{static_cast<uint32_t>(standard_definitions().points.size())};
    ProbeDefinition late{.probe_id = 90,
                         .role = HitRole::span_end,
                         .point = index,
                         .slots = {model::ValueType::s64},
                         .spec = "late"};
    decoder_->add({{.index = index,
                    .kind = model::PointKind::span,
                    .category = "app",
                    .name = "late",
                    .end_arguments = {{"r", model::ValueType::s64}}}},
                  {late});
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 8}, 90, {0x1008, 2}));
    EXPECT_EQ(counters().spans_begun_before, 1U);
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 8}, kEndF, {0x1008, 2}));
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderSpan, AReturnEndsTheFramesBelowIt) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00);
    begin(30, kBeginG, 0x0e00);
    end(40, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 begin g 7 [1]",
                                             "30 begin g 7 [1]", "40 end g 7 unwound []",
                                             "40 end g 7 unwound []", "40 end f 7 returned [2]"));
}

TEST_F(DecoderSpan, AReturnWithoutAnEntryIsOfBeforeOrAnOrphan) {
    end(10, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(), IsEmpty());
    begin(20, kBeginF, 0x1000);
    end(25, kEndG, 0x0f00);  // a frame below whose begin was not seen
    begin(30, kBeginG, 0x0f00);
    end(40, kEndG, 0x1100);  // a frame around all that are known
    EXPECT_EQ(counters().spans_orphan_end, 1U);
    EXPECT_EQ(counters().spans_begun_before, 2U);
    EXPECT_THAT(writer_.lines(), ElementsAre("20 begin f 7 [1]", "30 begin g 7 [1]",
                                             "40 end g 7 unwound []", "40 end f 7 unwound []"));
}

TEST_F(DecoderSpan, AThreadThatBeganInTheRecordingHasNoOlderFrames) {
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 8}, TR_KIND_task_new, {.comm = "t"}));
    end(10, kEndF, 0x1000, 8);
    feed(test::make_exec({.time_ns = 11, .tgid = 7, .tid = 7}, "new", "/bin/new"));
    end(20, kEndF, 0x1000);
    EXPECT_EQ(counters().spans_orphan_end, 2U);
    // A forked process goes on in the frames of its parent.
    feed(test::make_task({.time_ns = 30, .tgid = 9, .tid = 9}, TR_KIND_task_new, {.comm = "c"}));
    feed(test::make_hit({.time_ns = 40, .tgid = 9, .tid = 9}, kEndF, {0x1008, 2}));
    EXPECT_EQ(counters().spans_orphan_end, 2U);
    EXPECT_EQ(counters().spans_begun_before, 1U);
}

TEST_F(DecoderSpan, AfterALossAnEndAloneIsAnOrphan) {
    feed(test::make_gap(TR_KIND_gap_begin, 20, 1, 0, 20));
    feed(test::make_gap(TR_KIND_gap_end, 40, 1, 5, 20));
    end(50, kEndF, 0x1000);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderSpan, TwoStacksOfOneThreadDoNotUnwindEachOther) {
    const uint64_t main_stack = 0x7fff'0000'0000;
    const uint64_t other_stack = 0x5555'0000'0000;
    begin(10, kBeginF, main_stack);
    begin(20, kBeginG, other_stack);         // a coroutine
    begin(30, kBeginG, main_stack - 0x100);  // back on the main stack
    end(40, kEndG, main_stack - 0x100);
    end(50, kEndG, other_stack);
    end(60, kEndF, main_stack);
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderSpan, DeeperThanTheLimitIsCountedAndLeftOut) {
    constexpr uint64_t kDepth = kSpanDepthMax + 10;
    for (uint64_t i = 0; i < kDepth; ++i) begin(i, kBeginF, 0x100000 - i * 16);
    EXPECT_EQ(writer_.open_spans(), kSpanDepthMax);
    EXPECT_EQ(counters().spans_too_deep, 10U);
    for (uint64_t i = kDepth; i-- > 0;) end(10000 - i, kEndF, 0x100000 - i * 16);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    EXPECT_EQ(counters().spans_unwound, 0U);
    EXPECT_EQ(writer_.lines().size(), 2 * kSpanDepthMax);
}

TEST_F(DecoderSpan, TimesOfOneThreadNeverGoBack) {
    begin(20, kBeginF, 0x1000);
    begin(10, kBeginG, 0x0f00);
    end(15, kEndG, 0x0f00);
    begin(19, kBeginG, 0x0f00, 8);
    EXPECT_THAT(writer_.lines(), ElementsAre("20 begin f 7 [1]", "20 begin g 7 [1]",
                                             "20 end g 7 returned [2]", "19 begin g 8 [1]"));
}

TEST_F(DecoderSpan, NoSpanCrossesAGap) {
    begin(10, kBeginF, 0x1000);
    begin(11, kBeginF, 0x1000, 8);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 1, 0, 20));
    begin(30, kBeginG, 0x0f00);
    feed(test::make_gap(TR_KIND_gap_end, 40, 1, 5, 20));
    end(50, kEndF, 0x1000);
    begin(60, kBeginG, 0x0f00);
    end(70, kEndG, 0x0f00);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "11 begin f 8 [1]", "20 end f 8 lost_events []",
                            "20 end f 7 lost_events []", "30 begin g 7 [1]",
                            "40 end g 7 lost_events []", "40 loss ring_full cpu1 from 20 count 5",
                            "60 begin g 7 [1]", "70 end g 7 returned [2]"));
    EXPECT_EQ(counters().spans_cut_by_loss, 3U);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
    EXPECT_EQ(counters().lost_events, 5U);
}

TEST_F(DecoderSpan, AThreadsExitEndsItsSpans) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00);
    feed(test::make_task({.time_ns = 30, .tgid = 7, .tid = 7}, TR_KIND_task_exit,
                         {.comm = "x", .exit_code = 3 << 8}));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "20 begin g 7 [1]", "30 end g 7 thread_exit []",
                            "30 end f 7 thread_exit []", "30 exit 7 code 3"));
    EXPECT_EQ(counters().spans_closed_at_exit, 2U);
}

TEST_F(DecoderSpan, TheEndOfTheRecordingEndsAll) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00, 8);
    decoder_->finish(15);  // an earlier time than the last record's is not taken
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "20 begin g 8 [1]", "20 end g 8 recording_end []",
                            "20 end f 7 recording_end []"));
    EXPECT_EQ(counters().spans_closed_at_end, 2U);
}

class DecoderFullSink : public DecoderTest {};

TEST_F(DecoderFullSink, TheHoleIsToldAndNoSpanCrossesIt) {
    begin(10, kBeginF, 0x1000);
    writer_.set_room(0);
    begin(20, kBeginG, 0x0f00);
    end(30, kEndG, 0x0f00);
    writer_.set_room(UINT64_MAX);
    end(40, kEndF, 0x1000);  // its span was ended at the hole: an orphan
    begin(50, kBeginG, 0x0f00);
    end(60, kEndG, 0x0f00);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 end f 7 lost_events []",
                                             "50 loss sink_full cpu0 from 20 count 1",
                                             "50 begin g 7 [1]", "60 end g 7 returned [2]"));
    EXPECT_EQ(counters().lost_to_sink, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 2U);
}

// What was lost before us while nothing could be written is told too, by cause and CPU.
TEST_F(DecoderFullSink, LossesWithinTheHoleAreToldAtItsEnd) {
    const auto gap = [&](uint64_t time, uint64_t count, uint16_t cpu) {
        feed(test::make_gap(TR_KIND_gap_begin, time, cpu, 0, 0));
        feed(test::make_gap(TR_KIND_gap_end, time + 5, cpu, count, time));
    };
    begin(10, kBeginF, 0x1000);
    writer_.set_room(0);
    begin(20, kBeginG, 0x0f00);
    gap(30, 100, 1);
    gap(40, 20, 1);
    gap(50, 3, 0);
    writer_.set_room(UINT64_MAX);
    begin(70, kBeginG, 0x0f00);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "20 end f 7 lost_events []",
                            "70 loss ring_full cpu0 from 50 count 3",
                            "70 loss ring_full cpu1 from 30 count 120",
                            "70 loss sink_full cpu0 from 20 count 1", "70 begin g 7 [1]"));
    // Each is counted where it was lost.
    EXPECT_EQ(counters().lost_to_sink, 1U);
    EXPECT_EQ(counters().lost_events, 123U);
}

TEST_F(DecoderFullSink, AnEndThatFindsNoRoomIsPaidFirst) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00);
    writer_.set_room(0);
    end(30, kEndG, 0x0f00);
    writer_.set_room(UINT64_MAX);
    begin(40, kBeginG, 0x0f00);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "20 begin g 7 [1]", "30 end g 7 lost_events []",
                            "30 end f 7 lost_events []", "40 loss sink_full cpu0 from 30 count 1",
                            "40 begin g 7 [1]"));
}

TEST_F(DecoderFullSink, RoomThatGivesOutAgainAtAnyPointLeavesEndsMatching) {
    for (uint64_t first = 0; first < 14; ++first) {
        for (uint64_t second = 0; second < 8; ++second) {
            start(standard_definitions());
            writer_.set_room(first);
            uint64_t time = 1;
            for (int round = 0; round < 3; ++round) {
                if (round == 2) writer_.set_room(second);
                for (uint64_t i = 0; i < 4; ++i) begin(time++, kBeginF, 0x1000 - i * 64);
                feed(test::make_switch({.time_ns = time++, .tgid = 7, .tid = 7}, 7, 8, 1));
                end(time++, kEndF, 0x1000 - 2 * 64);
                begin(time++, kBeginG, 0x1000);
            }
            writer_.set_room(UINT64_MAX);
            begin(time++, kBeginF, 0x2000);
            decoder_->finish(time);
            EXPECT_EQ(writer_.open_spans(), 0U) << first << " " << second;
            EXPECT_THAT(writer_.faults(), IsEmpty()) << first << " " << second;
        }
    }
}

TEST_F(DecoderFullSink, AHoleUpToTheEndIsToldAtFinish) {
    begin(10, kBeginF, 0x1000);
    writer_.set_room(0);
    begin(20, kBeginG, 0x0f00);
    writer_.set_room(UINT64_MAX);
    decoder_->finish(90);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 end f 7 lost_events []",
                                             "90 loss sink_full cpu0 from 20 count 1"));
}

TEST_F(DecoderFullSink, ARunningThreadIsTakenOffItsCpuAtTheHole) {
    feed(test::make_switch({.time_ns = 10}, 7, 7, 0));
    writer_.set_room(0);
    feed(test::make_switch({.time_ns = 20, .tgid = 7, .tid = 7}, 7, 8, 1));
    writer_.set_room(UINT64_MAX);
    feed(test::make_switch({.time_ns = 30, .tgid = 7, .tid = 8}, 0, 0, 1));
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(unknown) -> -",
                    "30 loss sink_full cpu0 from 20 count 1", "30 switch cpu0 8(sleeping) -> -"));
}

TEST_F(DecoderFullSink, AMadeUpSwitchOutThatFindsNoRoomIsOwed) {
    feed(test::make_switch({.time_ns = 10}, 7, 7, 0));
    writer_.set_room(0);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 0, 0, 10));
    writer_.set_room(UINT64_MAX);
    feed(test::make_switch({.time_ns = 30}, 7, 8, 0));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(unknown) -> -",
                            "30 loss sink_full cpu0 from 20 count 1", "30 switch cpu0 - -> 8"));
}

}  // namespace
}  // namespace tracer
