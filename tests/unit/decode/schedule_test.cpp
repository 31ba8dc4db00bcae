// SPDX-License-Identifier: Apache-2.0
#include "decoder_fixture.h"

namespace tracer {
namespace {

using test::At;
using testing::ElementsAre;
using testing::IsEmpty;

class DecoderSchedule : public DecoderTest {
protected:
    void run(uint64_t time, uint32_t tid, uint16_t cpu = 0) {
        feed(test::make_switch({.time_ns = time, .cpu = cpu}, 7, tid, 0));
    }
    void stop(uint64_t time, uint32_t tid, uint32_t state, uint16_t cpu = 0, uint16_t flags = 0) {
        feed(test::make_switch({.time_ns = time, .tgid = 7, .tid = tid, .cpu = cpu}, 0, 0, state,
                               flags));
    }
    void wake(uint64_t time, uint32_t tid, uint32_t waker = 0, uint16_t cpu = 0) {
        feed(test::make_wakeup(
            {.time_ns = time, .tgid = waker == 0 ? 0U : 7U, .tid = waker, .cpu = cpu}, 7, tid));
    }
    void record_only(uint32_t pid) {
        auto definitions = standard_definitions();
        definitions.record_all = false;
        definitions.pids = {pid};
        start(std::move(definitions));
    }
};

TEST_F(DecoderSchedule, SwitchesKeepTheirChain) {
    run(10, 7);
    feed(test::make_switch({.time_ns = 20, .tgid = 7, .tid = 7}, 7, 8, 1));
    stop(30, 8, 2);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(sleeping) -> 8",
                            "30 switch cpu0 8(uninterruptible) -> -"));
    EXPECT_EQ(counters().switches_repaired, 0U);
}

TEST_F(DecoderSchedule, NamesTheKernelsStates) {
    const std::vector<std::pair<uint32_t, std::string>> states{{0, "runnable"},
                                                               {1, "sleeping"},
                                                               {2, "uninterruptible"},
                                                               {0x402, "sleeping"},
                                                               {0x102, "uninterruptible"},
                                                               {4, "stopped"},
                                                               {8, "stopped"},
                                                               {0x10, "dead"},
                                                               {0x20, "dead"},
                                                               {0x80, "dead"},
                                                               {0x40, "sleeping"}};
    for (const auto& [bits, name] : states) {
        start(standard_definitions());
        run(10, 7);
        stop(20, 7, bits);
        EXPECT_EQ(writer_.lines().back(), "20 switch cpu0 7(" + name + ") -> -") << bits;
    }
    start(standard_definitions());
    run(10, 7);
    stop(20, 7, 1, 0, TR_SWITCH_PREEMPTED);
    EXPECT_EQ(writer_.lines().back(), "20 switch cpu0 7(runnable) -> -");
}

TEST_F(DecoderSchedule, OthersAreIdle) {
    record_only(7);
    feed(test::make_switch({.time_ns = 10, .tgid = 9, .tid = 9}, 7, 7, 1));
    feed(test::make_switch({.time_ns = 20, .tgid = 7, .tid = 7}, 9, 9, 1));
    feed(test::make_switch({.time_ns = 30, .tgid = 9, .tid = 9}, 5, 5, 1));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(sleeping) -> -"));
    EXPECT_EQ(writer_.threads().size(), 1U) << "others are not defined either";
}

TEST_F(DecoderSchedule, AMissingSwitchOutIsMadeUp) {
    run(10, 7);
    feed(test::make_switch({.time_ns = 20, .tgid = 7, .tid = 8}, 7, 9, 1));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(unknown) -> -",
                            "20 switch cpu0 8(sleeping) -> 9"));
    EXPECT_EQ(counters().switches_repaired, 1U);
    run(30, 7);
    EXPECT_EQ(writer_.lines().size(), 5U);
    EXPECT_EQ(writer_.lines()[3], "30 switch cpu0 9(unknown) -> -");
}

TEST_F(DecoderSchedule, AMissingSwitchOutBeforeIdleIsMadeUp) {
    record_only(7);
    run(10, 7);
    feed(test::make_switch({.time_ns = 20}, 9, 9, 1));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(unknown) -> -"));
}

TEST_F(DecoderSchedule, AThreadRunsOnOneCpuAtATime) {
    run(10, 7, 0);
    run(20, 7, 1);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "20 switch cpu0 7(unknown) -> -",
                            "20 switch cpu1 - -> 7"));
    stop(30, 7, 1, 2);
    EXPECT_EQ(writer_.lines()[3], "30 switch cpu1 7(unknown) -> -");
}

TEST_F(DecoderSchedule, AGapEmptiesItsCpuAlone) {
    run(10, 7, 0);
    run(11, 8, 1);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 1, 0, 11));
    feed(test::make_gap(TR_KIND_gap_end, 30, 1, 2, 11));
    feed(test::make_gap(TR_KIND_gap_begin, 40, 77, 0, 11));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 switch cpu0 - -> 7", "11 switch cpu1 - -> 8",
                                             "20 switch cpu1 8(unknown) -> -",
                                             "30 loss ring_full cpu1 from 20 count 2"));
}

TEST_F(DecoderSchedule, AnOutputsGapEmptiesAllCpus) {
    run(10, 7, 0);
    run(11, 8, 1);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 0, 0, 11, TR_GAP_OUTPUT));
    feed(test::make_gap(TR_KIND_gap_end, 30, 0, 2, 11, TR_GAP_OUTPUT));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "11 switch cpu1 - -> 8",
                            "20 switch cpu0 7(unknown) -> -", "20 switch cpu1 8(unknown) -> -",
                            "30 loss sink_full cpu0 from 20 count 2"));
}

TEST_F(DecoderSchedule, ASwitchToTheSameTidOfAnotherProcessIsMalformed) {
    feed(test::make_switch({.time_ns = 10, .tgid = 7, .tid = 8}, 9, 8, 1));
    EXPECT_EQ(counters().malformed, 1U);
}

TEST_F(DecoderSchedule, AWakeupOfASleeperIsWritten) {
    run(10, 7);
    stop(20, 7, 1);
    run(25, 8, 1);
    wake(30, 7, 8, 1);
    wake(31, 7, 8, 1);
    EXPECT_EQ(writer_.lines().back(), "30 wakeup cpu1 7 by 8");
    EXPECT_EQ(counters().wakeups_dropped, 1U) << "the second found it runnable";
}

TEST_F(DecoderSchedule, AWakeupOfAPreemptedThreadIsDropped) {
    run(10, 7);
    stop(20, 7, 0);
    wake(30, 7);
    EXPECT_EQ(writer_.lines().size(), 2U);
    EXPECT_EQ(counters().wakeups_dropped, 1U);
}

TEST_F(DecoderSchedule, TheSnapshotSaysWhoSleeps) {
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 7}, TR_KIND_task_info, {.start_ns = 1}));
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 8}, TR_KIND_task_info,
                         {.start_ns = 1, .task_flags = TR_TASK_RUNNING}));
    wake(10, 7);
    wake(10, 8);
    wake(10, 9);  // of whom nothing is known
    EXPECT_THAT(writer_.lines(), ElementsAre("10 wakeup cpu0 7 by -"));
    EXPECT_EQ(counters().wakeups_dropped, 2U);
}

TEST_F(DecoderSchedule, ANewThreadsFirstWakeupIsWritten) {
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 8}, TR_KIND_task_new, {.start_ns = 1}));
    wake(2, 8);
    EXPECT_THAT(writer_.lines(), ElementsAre("2 wakeup cpu0 8 by -"));
}

TEST_F(DecoderSchedule, AWakeupThatOvertookTheSwitchFollowsIt) {
    run(10, 7);
    wake(20, 7);
    stop(30, 7, 1);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 switch cpu0 - -> 7", "30 switch cpu0 7(sleeping) -> -",
                            "30 wakeup cpu0 7 by -"));
    EXPECT_EQ(counters().wakeups_dropped, 0U);
}

TEST_F(DecoderSchedule, AWakeupLongBeforeTheSwitchIsDropped) {
    run(10, 7);
    wake(20, 7);
    stop(20 + 1'000'001, 7, 1);
    EXPECT_EQ(writer_.lines().size(), 2U);
    EXPECT_EQ(counters().wakeups_dropped, 1U);
}

TEST_F(DecoderSchedule, AWakeupBeforeAPreemptionOrDeathIsDropped) {
    run(10, 7);
    wake(20, 7);
    stop(30, 7, 0);
    run(40, 7);
    wake(50, 7);
    stop(60, 7, 0x80);
    EXPECT_EQ(writer_.lines().size(), 4U);
    EXPECT_EQ(counters().wakeups_dropped, 2U);
}

TEST_F(DecoderSchedule, AWakeupStillWaitingAtTheEndIsCounted) {
    run(10, 7);
    wake(20, 7);
    wake(21, 7);
    decoder_->finish(30);
    EXPECT_EQ(writer_.lines().size(), 1U);
    EXPECT_EQ(counters().wakeups_dropped, 2U);
}

TEST_F(DecoderSchedule, WakeupsOfOthersAndOfTheRecorderAreLeftOut) {
    auto definitions = standard_definitions();
    definitions.own_pid = 7;
    start(std::move(definitions));
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 7}, TR_KIND_task_info, {.start_ns = 1}));
    wake(10, 7);
    wake(10, 0);
    run(20, 7);
    EXPECT_THAT(writer_.lines(), ElementsAre("20 switch cpu0 - -> 7"));
    record_only(8);
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 7}, TR_KIND_task_info, {.start_ns = 1}));
    wake(10, 7);
    EXPECT_THAT(writer_.lines(), IsEmpty());
}

TEST_F(DecoderSchedule, AWakerThatIsNotRecordedIsNamedAllTheSame) {
    record_only(7);
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 7}, TR_KIND_task_info, {.start_ns = 1}));
    feed(test::make_task({.time_ns = 1, .tgid = 9, .tid = 9}, TR_KIND_task_info, {.start_ns = 1}));
    feed(test::make_wakeup({.time_ns = 10, .tgid = 9, .tid = 9}, 7, 7));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 wakeup cpu0 7 by 9"));
}

TEST_F(DecoderSchedule, BuiltInSourcesAreCounted) {
    run(10, 7);
    wake(20, 7);
    feed(test::make_task({.time_ns = 30, .tgid = 7, .tid = 7}, TR_KIND_task_rename, {.comm = "x"}));
    EXPECT_EQ(decoder_->hits(TR_PROBE_sched_switch), 1U);
    EXPECT_EQ(decoder_->hits(TR_PROBE_sched_wakeup), 1U);
    EXPECT_EQ(decoder_->hits(TR_PROBE_task), 1U);
    EXPECT_EQ(counters().records, 3U);
}

}  // namespace
}  // namespace tracer
