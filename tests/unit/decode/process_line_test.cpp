// SPDX-License-Identifier: Apache-2.0
//
// Lines that the threads of a process share (track "..." of process), and events that give way to
// a ring which says the same.
#include "decoder_fixture.h"

namespace tracer {
namespace {

using model::ValueType;
using testing::ElementsAre;
using testing::IsEmpty;

// The points and probes of DecoderTest, and on lines of the process "domain {d}", unless there is
// a ring:
//   50/51 "phase" pair with a frame_key: begin (frame_key:u64, d:s64), end (frame_key, d)
//   52/53 "slice" pair without a key: begin (d:s64), end (d:s64)
//   54 "spawn" instant (d:s64)
class DecoderProcessLine : public DecoderTest {
protected:
    static constexpr uint32_t kPhase = 50;
    static constexpr uint32_t kPhaseEnd = 51;
    static constexpr uint32_t kSlice = 52;
    static constexpr uint32_t kSliceEnd = 53;
    static constexpr uint32_t kSpawn = 54;

    static RecordingDefinitions definitions() {
        auto all = standard_definitions();
        const model::Argument key{"frame_key", ValueType::u64};
        const model::Argument domain{"d", ValueType::s64};
        const auto point = [&](const char* name, model::PointKind kind,
                               std::vector<model::Argument> arguments,
                               std::vector<model::Argument> end_arguments) {
            const model::PointIndex index{static_cast<uint32_t>(all.points.size())};
            all.points.push_back({.index = index,
                                  .kind = kind,
                                  .category = "app",
                                  .name = name,
                                  .arguments = std::move(arguments),
                                  .end_arguments = std::move(end_arguments)});
            return index;
        };
        const auto probe = [&](uint32_t id, HitRole role, model::PointIndex at,
                               std::vector<ValueType> slots, uint8_t shown_slot) {
            ProbeDefinition it{.probe_id = id, .role = role, .point = at};
            if (slots.size() == 2) it.key = PairKey::frame;
            it.slots = std::move(slots);
            it.line = {{"domain ", NamePiece::kText}, {{}, shown_slot}};
            it.is_line_of_process = true;
            it.yields_to_ring = true;
            all.probes.push_back(std::move(it));
        };
        using Kind = model::PointKind;
        const std::vector keyed = {ValueType::u64, ValueType::s64};
        const auto phase = point("phase", Kind::span, {key, domain}, {domain});
        probe(kPhase, HitRole::pair_begin, phase, keyed, 1);
        probe(kPhaseEnd, HitRole::pair_end, phase, keyed, 0);
        const auto slice = point("slice", Kind::span, {domain}, {domain});
        probe(kSlice, HitRole::pair_begin, slice, {ValueType::s64}, 0);
        probe(kSliceEnd, HitRole::pair_end, slice, {ValueType::s64}, 0);
        const auto spawn = point("spawn", Kind::instant, {domain}, {});
        probe(kSpawn, HitRole::instant, spawn, {ValueType::s64}, 0);
        return all;
    }

    void SetUp() override { start(definitions()); }

    void hit(uint64_t time, uint32_t probe, const std::vector<uint64_t>& slots, uint32_t tid = 7) {
        feed(test::make_hit({.time_ns = time, .tgid = 7, .tid = tid}, probe, slots));
    }
};

TEST_F(DecoderProcessLine, OtherThreadsGoOnWhereOneLeftOff) {
    hit(10, kPhase, {1, 0}, 7);
    hit(20, kPhase, {1, 5}, 8);
    hit(30, kPhaseEnd, {1, 0}, 9);
    hit(40, kSpawn, {5}, 7);
    hit(50, kPhaseEnd, {1, 5}, 7);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin phase 1#1022 [1, 0]", "20 begin phase 2#1022 [1, 5]",
                            "30 end phase 1#1022 returned [0]", "40 instant spawn 2#1022 [5]",
                            "50 end phase 2#1022 returned [5]"));
    EXPECT_EQ(writer_.find_thread(1)->thread_name, "domain 0");
    EXPECT_EQ(writer_.find_thread(1)->pid, 7U);
    EXPECT_EQ(writer_.find_thread(2)->thread_name, "domain 5");
}

TEST_F(DecoderProcessLine, SpansNestAndRecurOnIt) {
    hit(10, kSlice, {0});
    hit(11, kPhase, {1, 0});
    hit(12, kPhase, {2, 0}, 8);
    hit(13, kPhase, {1, 0});
    hit(14, kPhaseEnd, {1, 0});
    hit(15, kPhaseEnd, {1, 0}, 8);  // which leaves 2
    hit(16, kSliceEnd, {0});
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(counters().spans_unwound, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    EXPECT_EQ(writer_.lines().back(), "16 end slice 1#1022 returned [0]");
}

TEST_F(DecoderProcessLine, AnEndOfALineThatHasNoneIsCounted) {
    hit(10, kPhase, {1, 0});
    hit(20, kPhaseEnd, {1, 3});
    hit(30, kPhaseEnd, {1, 0});
    hit(40, kPhaseEnd, {1, 0});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin phase 1#1022 [1, 0]", "30 end phase 1#1022 returned [0]"));
    EXPECT_EQ(counters().spans_begun_before + counters().spans_orphan_end, 2U);
}

TEST_F(DecoderProcessLine, OutlivesThreadsAndEndsWithItsProcess) {
    feed(test::make_task({.time_ns = 1, .tgid = 7, .tid = 7}, TR_KIND_task_info, {.start_ns = 1}));
    feed(test::make_task({.time_ns = 2, .tgid = 7, .tid = 8}, TR_KIND_task_new, {.start_ns = 2}));
    hit(10, kPhase, {1, 0}, 8);
    feed(test::make_task({.time_ns = 20, .tgid = 7, .tid = 8}, TR_KIND_task_exit, {}));
    EXPECT_EQ(writer_.open_spans(), 1U);
    feed(test::make_exec({.time_ns = 30, .tgid = 7, .tid = 7}, "next", "/bin/next"));
    EXPECT_EQ(writer_.open_spans(), 0U);
    hit(40, kPhase, {1, 0});
    decoder_->finish(50);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderProcessLine, GivesWayToARing) {
    hit(10, kPhase, {1, 0});
    feed(test::make_ring_point(0, TR_RING_POINT_span, TR_RING_VALUE_none, "minor"));
    feed(test::make_ring_track(20, 7, 0, "domain 0"));
    hit(21, kPhase, {2, 0});
    hit(22, kSpawn, {0});
    hit(23, kPhaseEnd, {2, 0});
    hit(24, kSliceEnd, {0});
    EXPECT_EQ(writer_.lines().size(), 1U);
    hit(30, kPhaseEnd, {1, 0});
    EXPECT_EQ(writer_.lines().back(), "30 end phase 1#1022 returned [0]") << "begun before";
    EXPECT_EQ(counters().spans_orphan_end + counters().spans_begun_before, 0U);
    feed(test::make_hit({.time_ns = 40, .tgid = 70, .tid = 70}, kSpawn, {0}));
    EXPECT_EQ(writer_.lines().size(), 3U) << "another process has none";
    feed(test::make_exec({.time_ns = 50, .tgid = 7, .tid = 7}, "next", "/bin/next"));
    hit(60, kSlice, {0});
    hit(61, kSliceEnd, {0});
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_GE(writer_.lines().size(), 5U) << "the ring went with its program";
}

}  // namespace
}  // namespace tracer
