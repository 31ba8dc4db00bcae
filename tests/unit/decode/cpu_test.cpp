// SPDX-License-Identifier: Apache-2.0
//
// On which CPU events happened, for formats that file them by CPU.
#include "decoder_fixture.h"

namespace tracer {
namespace {

using test::At;
using testing::ElementsAre;

class DecoderCpu : public DecoderTest {
protected:
    static At on(uint16_t cpu, uint64_t time_ns, uint32_t tid = 7) {
        return {.time_ns = time_ns, .tgid = tid, .tid = tid, .cpu = cpu};
    }
};

TEST_F(DecoderCpu, OfAHitIsThatOfItsRecord) {
    feed(test::make_hit(on(1, 10), kEvent, {1, 2}));
    feed(test::make_hit(on(2, 20), kBeginF, {0x1000, 1}));
    feed(test::make_hit(on(3, 30), kEndF, {0x1008, 1}));
    feed(test::make_hit(on(4, 40), kLevel, {0}));
    feed(test::make_string_hit(on(5, 50), kNamed, "text"));
    EXPECT_THAT(writer_.cpus(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(DecoderCpu, OfAHitAmongOthersIsThatOfItsRecord) {
    const std::vector<test::Record> records{test::make_hit(on(1, 10), kEvent, {1, 2}),
                                            test::make_hit(on(2, 20), kEvent, {1, 2})};
    feed_together(records);
    EXPECT_THAT(writer_.cpus(), ElementsAre(1, 2));
}

TEST_F(DecoderCpu, OfAnEndThatIsARepairIsNone) {
    feed(test::make_hit(on(2, 20), kBeginF, {0x1000, 1}));
    decoder_->finish(30);
    EXPECT_THAT(writer_.cpus(), ElementsAre(2, model::kNoCpu));
}

TEST_F(DecoderCpu, OfAWakeupIsTheWakers) {
    feed(test::make_switch(on(3, 10, 0), 7, 7, 0));
    feed(test::make_switch(on(3, 20), 0, 0, 1));
    feed(test::make_wakeup(on(1, 30, 8), 7, 7));
    EXPECT_THAT(writer_.cpus(), ElementsAre(3, 3, 1));
    // One that came before its thread was seen to sleep, and is written when it does.
    feed(test::make_switch(on(3, 40, 0), 7, 7, 0));
    feed(test::make_wakeup(on(1, 50, 8), 7, 7));
    feed(test::make_switch(on(3, 60), 0, 0, 1));
    EXPECT_THAT(writer_.cpus(), ElementsAre(3, 3, 1, 3, 3, 1));
}

TEST_F(DecoderCpu, OfALossIsTheRings) {
    feed(test::make_gap(TR_KIND_gap_begin, 10, 2, 0, 0));
    feed(test::make_gap(TR_KIND_gap_end, 20, 2, 5, 0));
    feed(test::make_gap(TR_KIND_gap_begin, 30, 0, 0, 0, TR_GAP_OUTPUT));
    feed(test::make_gap(TR_KIND_gap_end, 40, 0, 5, 0, TR_GAP_OUTPUT));
    EXPECT_THAT(writer_.cpus(), ElementsAre(2, model::kNoCpu));
}

TEST_F(DecoderCpu, OfALifeIsWhereItChanged) {
    feed(test::make_task(on(1, 10, 8), TR_KIND_task_new,
                         {.comm = "t", .parent_tgid = 7, .parent_tid = 7, .start_ns = 9}));
    feed(test::make_exec(on(2, 20, 8), "x", "/bin/x"));
    feed(test::make_task(on(3, 30, 8), TR_KIND_task_exit, {.start_ns = 9}));
    EXPECT_THAT(writer_.cpus(), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace tracer
