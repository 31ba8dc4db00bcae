// SPDX-License-Identifier: Apache-2.0
//
// What programs write to rings of their own.
#include "decoder_fixture.h"

namespace tracer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kSpan = 0;
constexpr uint32_t kOther = 1;
constexpr uint32_t kCounter = 2;
constexpr uint32_t kText = 3;

class DecoderRing : public DecoderTest {
protected:
    void SetUp() override {
        DecoderTest::SetUp();
        feed(test::make_ring_point(kSpan, TR_RING_POINT_span, TR_RING_VALUE_none, "minor"));
        feed(test::make_ring_point(kOther, TR_RING_POINT_span, TR_RING_VALUE_none, "major"));
        feed(test::make_ring_point(kCounter, TR_RING_POINT_counter, TR_RING_VALUE_s64, "promoted"));
        feed(test::make_ring_point(kText, TR_RING_POINT_instant, TR_RING_VALUE_text, "mine"));
        feed(test::make_ring_track(5, 7, 2, "domain 2"));
    }
    void begin(uint64_t time_ns, uint32_t point = kSpan, uint32_t ring = 2) {
        feed(test::make_ring_event(time_ns, ring, point, TR_RING_ROLE_begin));
    }
    void end(uint64_t time_ns, uint32_t point = kSpan, uint32_t ring = 2) {
        feed(test::make_ring_event(time_ns, ring, point, TR_RING_ROLE_end));
    }
};

TEST_F(DecoderRing, EventsAreOnATrackOfTheirProcess) {
    begin(10);
    feed(test::make_ring_event(11, 2, kCounter, TR_RING_ROLE_instant, -8));
    feed(test::make_ring_event(12, 2, kText, TR_RING_ROLE_instant, {}, "00ff"));
    end(20);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin minor 1#1022 []", "11 counter promoted 1#1022 [-8]",
                            "12 instant mine 1#1022 ['00ff']", "20 end minor 1#1022 returned []"));
    EXPECT_EQ(writer_.find_thread(1)->thread_name, "domain 2");
    EXPECT_EQ(writer_.find_thread(1)->pid, 7U);
    EXPECT_EQ(decoder_->hits(TR_PROBE_ring), 4U);
}

TEST_F(DecoderRing, DefinitionsOfProbesMayFollow) {
    decoder_->add({{.index = model::PointIndex{5}, .category = "app", .name = "late"}},
                  {{.probe_id = 40, .point = model::PointIndex{5}}});
    begin(10);
    feed(test::make_hit({.time_ns = 11, .tgid = 7, .tid = 7}, 40, {}));
    end(12);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin minor 1#1022 []", "11 instant late 7 []",
                                             "12 end minor 1#1022 returned []"));
}

TEST_F(DecoderRing, WhatTheKernelLosesBreaksNoSpanOfARing) {
    begin(10);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 0, 0, 15));
    feed(test::make_gap(TR_KIND_gap_end, 30, 0, 3, 20));
    end(40);
    EXPECT_EQ(counters().spans_cut_by_loss, 0U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
}

TEST_F(DecoderRing, ALossOfOneRingBreaksItsOwnSpansAlone) {
    feed(test::make_ring_track(6, 7, 3, "domain 3"));
    begin(10);
    begin(11, kOther, 3);
    feed(test::make_ring_lost(20, 2, 5, TR_RING_LOST_EXACT));
    end(30, kOther, 3);
    EXPECT_EQ(counters().spans_cut_by_loss, 1U);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin minor 1#1022 []", "11 begin major 2#1022 []",
                                             "20 end minor 1#1022 lost_events []",
                                             "20 instant events lost 1#1022 [5, 10, true, 0]",
                                             "30 end major 2#1022 returned []"));
}

TEST_F(DecoderRing, ANewTrackEndsWhatTheOneBeforeHadOpen) {
    begin(10);
    feed(test::make_ring_track(20, 7, 2, "domain 2 (life 2)"));
    begin(30);
    end(40);
    EXPECT_EQ(counters().spans_closed_at_exit, 1U);
    EXPECT_EQ(writer_.find_thread(2)->thread_name, "domain 2 (life 2)");
}

TEST_F(DecoderRing, TheProcessesEndClosesItsTracks) {
    begin(10);
    feed(test::make_task({.time_ns = 20, .tgid = 7, .tid = 7}, TR_KIND_task_exit,
                         {.comm = "app", .task_flags = TR_TASK_GROUP_DEAD}));
    EXPECT_EQ(writer_.open_spans(), 0U);
    end(30);
    EXPECT_EQ(counters().lines_beyond_limit, 1U);
}

class DecoderThreadRing : public DecoderRing {
protected:
    void SetUp() override {
        DecoderRing::SetUp();
        feed(test::make_ring_track(6, 7, 2, "events of thread 8", 8));
    }
};

TEST_F(DecoderThreadRing, EventsAreOnTheThreadsOwnTrackAmongItsProbes) {
    decoder_->add({{.index = model::PointIndex{5},
                    .kind = model::PointKind::span,
                    .category = "app",
                    .name = "call"}},
                  {{.probe_id = 40, .role = HitRole::pair_begin, .point = model::PointIndex{5}},
                   {.probe_id = 41, .role = HitRole::pair_end, .point = model::PointIndex{5}}});
    begin(10);
    feed(test::make_hit({.time_ns = 11, .tgid = 7, .tid = 8}, 40, {}));
    feed(test::make_ring_event(12, 2, kCounter, TR_RING_ROLE_instant, 3));
    feed(test::make_hit({.time_ns = 13, .tgid = 7, .tid = 8}, 41, {}));
    end(20);
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 begin minor 8 []", "11 begin call 8 []", "12 counter promoted 8 [3]",
                    "13 end call 8 returned []", "20 end minor 8 returned []"));
}

TEST_F(DecoderThreadRing, LossesOfTheKernelAndOfTheRingBreakTheirOwnSpansAlone) {
    decoder_->add({{.index = model::PointIndex{5},
                    .kind = model::PointKind::span,
                    .category = "app",
                    .name = "call"}},
                  {{.probe_id = 40, .role = HitRole::pair_begin, .point = model::PointIndex{5}},
                   {.probe_id = 41, .role = HitRole::pair_end, .point = model::PointIndex{5}}});
    feed(test::make_hit({.time_ns = 9, .tgid = 7, .tid = 8}, 40, {}));
    begin(10);
    feed(test::make_ring_lost(20, 2, 5, TR_RING_LOST_EXACT));
    EXPECT_EQ(counters().spans_cut_by_loss, 1U);
    feed(test::make_hit({.time_ns = 21, .tgid = 7, .tid = 8}, 41, {}));
    begin(22);
    feed(test::make_gap(TR_KIND_gap_begin, 30, 0, 0, 25));
    feed(test::make_gap(TR_KIND_gap_end, 40, 0, 3, 30));
    end(50);
    EXPECT_EQ(counters().spans_cut_by_loss, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
}

TEST_F(DecoderThreadRing, TheRingsNextThreadHasAnotherTrack) {
    begin(10);
    feed(test::make_ring_track(20, 7, 2, "events of thread 9", 9));
    begin(30);
    end(40);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin minor 8 []", "20 end minor 8 thread_exit []",
                                             "30 begin minor 9 []", "40 end minor 9 returned []"));
}

TEST_F(DecoderThreadRing, AThreadOfAnotherProcessIsNotTaken) {
    feed(test::make_task({.time_ns = 12, .tgid = 30, .tid = 31}, TR_KIND_task_rename,
                         {.comm = "other"}));
    feed(test::make_ring_track(20, 7, 2, "events of thread 31", 31));
    begin(30);
    end(40);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("30 begin minor 2#1022 []", "40 end minor 2#1022 returned []"));
}

TEST_F(DecoderRing, RefusesWhatMakesNoSense) {
    feed(test::make_ring_event(10, 2, 99));     // no such point
    feed(test::make_ring_event(10, 2, kSpan));  // a span neither begins nor ends
    feed(test::make_ring_event(10, 2, kCounter, TR_RING_ROLE_begin));  // a counter does not begin
    feed(test::make_ring_event(10, 2, kCounter));                      // nor is it without a value
    feed(test::make_ring_point(9, TR_RING_POINT_span, TR_RING_VALUE_none, "not the next"));
    feed(test::make_ring_point(4, TR_RING_POINT_span, TR_RING_VALUE_s64, "span with a value"));
    feed(test::make_ring_track(10, 0, 5, "of no process"));
    EXPECT_EQ(counters().malformed, 7U);
    EXPECT_THAT(writer_.lines(), IsEmpty());
    feed(test::make_ring_event(10, 77, kSpan, TR_RING_ROLE_begin));
    EXPECT_EQ(counters().lines_beyond_limit, 1U);
}

}  // namespace
}  // namespace tracer
