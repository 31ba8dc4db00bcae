// SPDX-License-Identifier: Apache-2.0
//
// What the two marks of a pause do to everything that is open.
#include "pair_fixture.h"

namespace tracer {
namespace {

using testing::ElementsAre;

constexpr uint32_t kRecorder = 99;

class DecoderPause : public PairTest {
protected:
    void SetUp() override {
        RecordingDefinitions definitions = pair_definitions();
        definitions.own_pid = kRecorder;
        for (const uint32_t id : {TR_PROBE_paused, TR_PROBE_resumed}) {
            const auto index = static_cast<uint32_t>(definitions.points.size());
            definitions.points.push_back({.index = model::PointIndex{index},
                                          .category = "tracer",
                                          .name = id == TR_PROBE_paused ? "paused" : "resumed",
                                          .arguments = {{"reason", model::ValueType::string}}});
            definitions.probes.push_back({.probe_id = id,
                                          .point = model::PointIndex{index},
                                          .slots = {model::ValueType::string},
                                          .spec = "test"});
        }
        start(std::move(definitions));
    }
    void pause(uint64_t time, uint32_t tgid = kRecorder) {
        feed(test::make_string_hit({.time_ns = time, .tgid = tgid, .tid = tgid}, TR_PROBE_paused,
                                   "why"));
    }
    void resume(uint64_t time) {
        feed(test::make_string_hit({.time_ns = time, .tgid = kRecorder, .tid = kRecorder},
                                   TR_PROBE_resumed, "why"));
    }
    void run(uint64_t time, uint32_t tid) { feed(test::make_switch({.time_ns = time}, 7, tid, 0)); }
};

TEST_F(DecoderPause, ClosesWhatIsOpenAndIsNoFault) {
    begin(10, kBeginF, 0x1000);
    pair(20, kP);
    keyed(30, kK, 5);
    pause(40);
    resume(90);
    keyed(100, kK + kEnd, 5);
    pair(110, kP + kEnd);
    end(120, kEndF, 0x1000);
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 begin f 7 [1]", "20 begin p 7 [1]", "30 async_begin k 7 #1 [5]",
                    "40 end p 7 paused []", "40 end f 7 paused []", "40 async_end k 7 #1 paused []",
                    "40 instant paused 99 ['why']", "90 instant resumed 99 ['why']"));
    EXPECT_EQ(counters().spans_closed_at_pause, 3U);
    EXPECT_EQ(counters().spans_begun_before, 3U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    EXPECT_EQ(tally("p").durations.count(), 0U);
}

TEST_F(DecoderPause, EndsOfWhatBeganMeanwhileAreNoFault) {
    // Lengths and begins that would tell an orphan from an older span are seen before.
    pair(10, kP);
    pair(11, kP + kEnd);
    keyed(12, kK, 5);
    keyed(13, kK + kEnd, 5);
    begin(14, kBeginF, 0x1000);
    end(15, kEndF, 0x1000);
    pause(40);
    resume(90);
    keyed(1000, kK + kEnd, 6);
    pair(1010, kP + kEnd);
    end(1020, kEndF, 0x0800);
    EXPECT_EQ(counters().spans_begun_before, 3U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
}

TEST_F(DecoderPause, AnEndWithoutABeginAfterItIsStillAnOrphan) {
    pause(40);
    resume(90);
    pair(100, kP);
    pair(110, kP + kEnd);
    pair(120, kP + kEnd);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderPause, ThreadsRunAsAtTheStartAfterIt) {
    run(10, 7);
    pause(40);
    resume(90);
    feed(test::make_task({.time_ns = 91, .tgid = 7, .tid = 7}, TR_KIND_task_info,
                         {.comm = "app", .task_flags = TR_TASK_RUNNING}));
    feed(test::make_switch({.time_ns = 100, .tgid = 7, .tid = 7}, 0, 0, 1));
    const auto lines = writer_.lines();
    ASSERT_GE(lines.size(), 4U);
    EXPECT_EQ(lines[0], "10 switch cpu0 - -> 7");
    EXPECT_EQ(lines[1], "40 switch cpu0 7(unknown) -> -");
    EXPECT_EQ(lines.back(), "100 switch cpu0 7(sleeping) -> -");
}

TEST_F(DecoderPause, AProgramCannotPauseIt) {
    pair(10, kP);
    pause(20, 7);
    pair(30, kP + kEnd);
    EXPECT_EQ(counters().spans_closed_at_pause, 0U);
    EXPECT_EQ(tally("p").durations.count(), 1U);
}

}  // namespace
}  // namespace tracer
