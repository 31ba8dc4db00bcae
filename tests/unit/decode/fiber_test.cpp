// SPDX-License-Identifier: Apache-2.0
//
// Spans of fibers: a line for each, whatever thread runs it and wherever its stack is.
#include "decode/task_table.h"
#include "decoder_fixture.h"

namespace tracer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DecoderFiber : public DecoderTest {
protected:
    void SetUp() override {
        auto definitions = standard_definitions();
        for (auto& probe : definitions.probes) {
            if (probe.role == HitRole::span_begin) probe.role = HitRole::fiber_span_begin;
            if (probe.role == HitRole::span_end) probe.role = HitRole::fiber_span_end;
        }
        start(std::move(definitions));
    }

    // A frame `depth` bytes below the end of the stack of fiber `g`.
    void enter(uint64_t time, uint32_t probe, uint64_t g, uint64_t depth, uint32_t tid = 7) {
        hit(time, probe, g, depth, tid, 0);
    }
    void leave(uint64_t time, uint32_t probe, uint64_t g, uint64_t depth, uint32_t tid = 7) {
        hit(time, probe, g, depth, tid, 8);
    }

    uint64_t stack_end = 0x10000;

private:
    void hit(
        uint64_t time, uint32_t probe, uint64_t g, uint64_t depth, uint32_t tid, uint64_t popped) {
        feed(test::make_hit({.time_ns = time, .tgid = 7, .tid = tid}, probe,
                            {stack_end - depth + popped, g, stack_end, 1}));
    }
};

TEST_F(DecoderFiber, SpansFollowItOverThreadsAndStacks) {
    enter(10, kBeginF, 0xa0, 100);
    enter(20, kBeginG, 0xa0, 200);
    stack_end = 0x80000;  // the stack has grown, elsewhere
    leave(30, kEndG, 0xa0, 200, 8);
    enter(40, kBeginG, 0xa0, 300, 9);
    leave(50, kEndG, 0xa0, 300, 9);
    leave(60, kEndF, 0xa0, 100);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 1#1022 [1]", "20 begin g 1#1022 [1]",
                            "30 end g 1#1022 returned [1]", "40 begin g 1#1022 [1]",
                            "50 end g 1#1022 returned [1]", "60 end f 1#1022 returned [1]"));
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
}

TEST_F(DecoderFiber, FibersOfOneThreadAreLinesOfTheirOwn) {
    enter(10, kBeginF, 0xa0, 100);
    enter(20, kBeginF, 0xb0, 100);
    leave(30, kEndF, 0xa0, 100);
    leave(40, kEndF, 0xb0, 100);
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
    EXPECT_EQ(writer_.open_spans(), 0U);
    size_t tracks = 0;
    for (const auto& [index, thread] : writer_.threads()) {
        if (!thread.is_track) continue;
        ++tracks;
        EXPECT_EQ(thread.pid, 7U);
        EXPECT_TRUE(thread.thread_name.starts_with("fiber 0x")) << thread.thread_name;
    }
    EXPECT_EQ(tracks, 2U);
}

TEST_F(DecoderFiber, AFrameLeftByAPanicEndsAtTheNextEntry) {
    enter(10, kBeginF, 0xa0, 100);
    enter(20, kBeginG, 0xa0, 200);
    enter(30, kBeginG, 0xa0, 150);
    leave(40, kEndG, 0xa0, 150);
    leave(50, kEndF, 0xa0, 100);
    EXPECT_EQ(counters().spans_unwound, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
}

TEST_F(DecoderFiber, OpenSpansEndWithTheProcess) {
    feed(test::make_task({.time_ns = 5, .tgid = 7, .tid = 7}, TR_KIND_task_info, {}));
    enter(10, kBeginF, 0xa0, 100);
    auto record = test::make_task({.time_ns = 20, .tgid = 7, .tid = 7}, TR_KIND_task_exit,
                                  {.task_flags = TR_TASK_GROUP_DEAD});
    feed(record);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(counters().spans_closed_at_exit, 1U);
    // A later fiber at the same address is another line.
    enter(30, kBeginF, 0xa0, 100);
    EXPECT_THAT(writer_.lines().back(), "30 begin f 2#1022 [1]");
    decoder_->finish(40);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderFiber, AStackPointerOutsideOfTheStackIsMalformed) {
    enter(10, kBeginF, 0xa0, (1ULL << 30) + 1);
    enter(20, kBeginF, 0xa0, UINT64_MAX);  // above the end
    EXPECT_THAT(writer_.lines(), IsEmpty());
    EXPECT_EQ(counters().malformed, 2U);
}

TEST_F(DecoderFiber, BeyondTheLimitNothingIsWritten) {
    for (uint64_t g = 0; g < kFibersMax; ++g) {
        enter(g + 1, kBeginF, g * 64, 100);
        leave(g + 1, kEndF, g * 64, 100);
    }
    EXPECT_EQ(writer_.lines().size(), 2 * size_t{kFibersMax});
    enter(100000, kBeginF, UINT64_MAX, 100);
    leave(100000, kEndF, UINT64_MAX, 100);
    EXPECT_EQ(writer_.lines().size(), 2 * size_t{kFibersMax});
    EXPECT_EQ(counters().spans_too_deep, 2U);
    // Those known go on.
    enter(100001, kBeginF, 0, 100);
    leave(100002, kEndF, 0, 100);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

}  // namespace
}  // namespace tracer
