// SPDX-License-Identifier: Apache-2.0
//
// Pairs matched by thread: slices of the thread's track as long as they nest.
#include "pair_fixture.h"

namespace tracer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DecoderPair : public PairTest {};

TEST_F(DecoderPair, NestsOnTheThreadsTrackWithRecursion) {
    pair(10, kP);
    pair(20, kQ);
    pair(30, kP);
    pair(40, kP + kEnd);
    pair(50, kQ + kEnd);
    pair(60, kP + kEnd);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin p 7 [1]", "20 begin q 7 [1]",
                                             "30 begin p 7 [1]", "40 end p 7 returned [1]",
                                             "50 end q 7 returned [1]", "60 end p 7 returned [1]"));
    EXPECT_EQ(tally("p").durations.count(), 2U);
    EXPECT_EQ(tally("p").durations.max_ns(), 50U);
    EXPECT_EQ(tally("q").durations.max_ns(), 30U);
}

TEST_F(DecoderPair, NestsWithFunctions) {
    begin(10, kBeginF, 0x1000);
    pair(20, kP);
    begin(30, kBeginG, 0x0f00);
    end(40, kEndG, 0x0f00);
    pair(50, kP + kEnd);
    end(60, kEndF, 0x1000);
    EXPECT_EQ(counters().spans_crossed + counters().spans_unwound + counters().spans_orphan_end,
              0U);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(tally("f").durations.max_ns(), 50U);
    EXPECT_EQ(tally("g").durations.max_ns(), 10U);
}

TEST_F(DecoderPair, KeepsThreadsApart) {
    pair(10, kP, 7);
    pair(20, kP, 8);
    pair(30, kP + kEnd, 7);
    pair(50, kP + kEnd, 8);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(tally("p").durations.max_ns(), 30U);
}

TEST_F(DecoderPair, ACrossingPairIsClosedOnceAndThenHasATrackOfItsOwn) {
    pair(10, kP);
    pair(20, kQ);
    pair(30, kP + kEnd);
    pair(40, kQ + kEnd);  // proves that q crosses
    EXPECT_THAT(writer_.take_lines(),
                ElementsAre("10 begin p 7 [1]", "20 begin q 7 [1]", "30 end q 7 crossed []",
                            "30 end p 7 returned [1]"));
    EXPECT_EQ(counters().spans_crossed, 1U);
    EXPECT_EQ(tally("q").durations.max_ns(), 20U) << "its true length, not that of its slice";
    pair(50, kP);
    pair(60, kQ);
    pair(70, kP + kEnd);
    pair(80, kQ + kEnd);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("50 begin p 7 [1]", "60 async_begin q 7 #1 [1]",
                            "70 end p 7 returned [1]", "80 async_end q 7 #1 returned [1]"));
    EXPECT_EQ(counters().spans_crossed, 1U);
    EXPECT_EQ(tally("q").durations.count(), 2U);
}

TEST_F(DecoderPair, AMissingEndInsideTeachesNothing) {
    pair(10, kP);
    pair(20, kQ);
    pair(30, kP + kEnd);
    pair(40, kP);
    pair(50, kQ);
    pair(60, kQ + kEnd);
    pair(70, kP + kEnd);
    decoder_->finish(100);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin p 7 [1]", "20 begin q 7 [1]", "30 end q 7 crossed []",
                            "30 end p 7 returned [1]", "40 begin p 7 [1]", "50 begin q 7 [1]",
                            "60 end q 7 returned [1]", "70 end p 7 returned [1]"));
    EXPECT_EQ(counters().spans_crossed, 0U);
    EXPECT_EQ(counters().spans_closed_at_end, 1U);
}

TEST_F(DecoderPair, APairThatEndsInsideAFunctionCrossesIt) {
    pair(10, kP);
    begin(20, kBeginF, 0x1000);
    pair(30, kP + kEnd);
    end(40, kEndF, 0x1000);
    EXPECT_THAT(writer_.take_lines(),
                ElementsAre("10 begin p 7 [1]", "20 begin f 7 [1]", "30 end f 7 crossed []",
                            "30 end p 7 returned [1]"));
    EXPECT_EQ(tally("f").durations.max_ns(), 20U);
    // A function stays where it is: the pair moves.
    pair(50, kP);
    begin(60, kBeginF, 0x1000);
    pair(70, kP + kEnd);
    end(80, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("50 async_begin p 7 #1 [1]", "60 begin f 7 [1]",
                            "70 async_end p 7 #1 returned [1]", "80 end f 7 returned [2]"));
}

TEST_F(DecoderPair, AFunctionLeftByLongjmpLeavesThePairInsideToItsEnd) {
    begin(10, kBeginF, 0x1000);
    begin(20, kBeginG, 0x0f00);
    pair(30, kP);
    end(40, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(), ElementsAre("10 begin f 7 [1]", "20 begin g 7 [1]",
                                             "30 begin p 7 [1]", "40 end p 7 unwound []",
                                             "40 end g 7 unwound []", "40 end f 7 returned [2]"));
    pair(50, kP + kEnd);
    EXPECT_EQ(counters().spans_crossed, 1U);
    EXPECT_EQ(tally("p").durations.max_ns(), 20U);
}

TEST_F(DecoderPair, UntilEndsAllOfItsThreadAndWhatIsInside) {
    pair(10, kP);
    pair(11, kP);
    pair(12, kQ);
    pair(15, kP, 8);
    pair(20, kP + kUntil);
    pair(21, kQ + kUntil);
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 begin p 7 [1]", "11 begin p 7 [1]", "12 begin q 7 [1]", "15 begin p 8 [1]",
                    "20 end q 7 until []", "20 end p 7 until []", "20 end p 7 until []"));
    EXPECT_EQ(counters().spans_ended_by_until, 3U);
    EXPECT_EQ(counters().spans_crossed, 0U);
    EXPECT_EQ(tally("p").durations.count(), 2U) << "an until is a true end";
    pair(30, kP + kUntil);  // nothing is open: nothing to tell
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    pair(40, kP + kEnd, 8);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

// Of sampled begins most ends come alone; that is no fault, unless events were lost.
TEST_F(DecoderPair, AnEndWhoseBeginWasKeptOutIsNoOrphan) {
    auto definitions = pair_definitions();
    for (ProbeDefinition& probe : definitions.probes) {
        probe.may_lack_begin = probe.role == HitRole::pair_end;
    }
    start(std::move(definitions));
    pair(10, kP);
    pair(20, kP + kEnd);
    pair(30, kP + kEnd);
    keyed(40, kK, 1);
    keyed(50, kK + kEnd, 1);
    keyed(70, kK + kEnd, 2);
    EXPECT_EQ(counters().spans_begin_kept_out, 2U);
    EXPECT_EQ(tally("p").begin_kept_out, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    feed(test::make_gap(TR_KIND_gap_begin, 80, 1, 0, 20));
    feed(test::make_gap(TR_KIND_gap_end, 90, 1, 5, 20));
    pair(100, kP + kEnd);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderPair, AnEndBeforeAnyBeginOfItsThreadIsOfBeforeTheRecording) {
    pair(10, kP + kEnd);
    pair(11, kP + kEnd);
    pair(20, kP);
    pair(30, kQ + kEnd);
    pair(40, kP + kEnd);
    pair(50, kP + kEnd);
    EXPECT_EQ(counters().spans_begun_before, 3U);
    EXPECT_EQ(tally("p").begun_before, 2U);
    EXPECT_EQ(tally("q").begun_before, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
    EXPECT_EQ(tally("p").orphan_ends, 1U);
    EXPECT_THAT(writer_.lines(), ElementsAre("20 begin p 7 [1]", "40 end p 7 returned [1]"));
}

TEST_F(DecoderPair, NoneCrossesAGapNorAnExitNorTheEnd) {
    pair(10, kP);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 1, 0, 20));
    feed(test::make_gap(TR_KIND_gap_end, 40, 1, 5, 20));
    pair(50, kP + kEnd);
    pair(60, kP);
    exit(70, 7, 7, true);
    pair(80, kP, 9, 9);
    decoder_->finish(90);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin p 7 [1]", "20 end p 7 lost_events []",
                            "40 loss ring_full cpu1 from 20 count 5", "60 begin p 7 [1]",
                            "70 end p 7 thread_exit []", "70 exit 7 code 0", "80 begin p 9 [1]",
                            "90 end p 9 recording_end []"));
    EXPECT_EQ(counters().spans_orphan_end, 1U);
    EXPECT_EQ(tally("p").durations.count(), 0U) << "how long they took is not known";
}

TEST_F(DecoderPair, EndsThatNeverComeDoNotFillTheStack) {
    // An outer span that ends, around an inner one whose end is always missing.
    for (uint64_t i = 0; i < 2000; ++i) {
        pair(10 * i, kP);
        pair(10 * i + 1, kQ);
        pair(10 * i + 2, kP + kEnd);
    }
    EXPECT_EQ(counters().spans_too_deep, 0U);
    EXPECT_EQ(tally("p").durations.count(), 2000U);
    decoder_->finish(30000);
    EXPECT_EQ(counters().spans_unwound + counters().spans_closed_at_end, 2000U);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderPair, AFullSinkOwesTheEndsOfBothKinds) {
    pair(10, kP);
    pair(20, kQ);
    pair(30, kP + kEnd);
    pair(40, kQ + kEnd);  // q has tracks of its own now
    pair(50, kP);
    pair(60, kQ);
    static_cast<void>(writer_.take_lines());
    writer_.set_room(0);
    pair(70, kP);
    writer_.set_room(UINT64_MAX);
    pair(80, kP + kEnd);
    pair(90, kP);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("70 async_end q 7 #1 lost_events []", "70 end p 7 lost_events []",
                            "90 loss sink_full cpu0 from 70 count 1", "90 begin p 7 [1]"));
    EXPECT_EQ(counters().spans_cut_by_loss, 2U);
}

TEST_F(DecoderPair, AnAsyncEndThatFindsNoRoomIsOwed) {
    keyed(10, kK, 5);
    static_cast<void>(writer_.take_lines());
    writer_.set_room(0);
    keyed(20, kK + kEnd, 5);
    writer_.set_room(UINT64_MAX);
    keyed(30, kK, 6);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("20 async_end k 7 #1 lost_events []",
                            "30 loss sink_full cpu0 from 20 count 1", "30 async_begin k 7 #2 [6]"));
}

}  // namespace
}  // namespace tracer
