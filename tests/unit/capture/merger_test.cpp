// SPDX-License-Identifier: Apache-2.0
#include "capture/merger.h"

#include "support/fake_source.h"
#include "support/record_builder.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::FakeSource;
using testing::ElementsAre;
using testing::IsEmpty;

// Keeps what it is given as "time", "begin time@ring seq" and "end time@ring count".
class Lines : public RecordHandler {
public:
    void on_record(std::span<const std::byte> record) override {
        tr_record_header header{};
        std::memcpy(&header, record.data(), sizeof(header));
        if (header.kind == TR_KIND_gap_begin || header.kind == TR_KIND_gap_end) {
            tr_gap gap{};
            ASSERT_EQ(record.size(), sizeof(gap));
            std::memcpy(&gap, record.data(), sizeof(gap));
            lines.push_back(
                header.kind == TR_KIND_gap_begin
                    ? fmt::format("begin {}@{} {}", header.time_ns, header.cpu, header.seq)
                    : fmt::format("end {}@{} {}", header.time_ns, header.cpu, gap.count));
        } else {
            lines.push_back(fmt::format("{}", header.time_ns));
        }
        times.push_back(header.time_ns);
    }

    std::vector<std::string> lines;
    std::vector<uint64_t> times;
};

void expect_exact_ledger(const FakeSource& source, const Merger& merger) {
    for (size_t i = 0; i < source.ring_count(); ++i) {
        const RingLedger& ring = merger.rings()[i];
        EXPECT_EQ(ring.records + ring.lost_in_gaps, source.attempts(i)) << "ring " << i;
        EXPECT_EQ(ring.lost_in_gaps, source.lost(i)) << "ring " << i;
    }
    EXPECT_TRUE(source.all_released());
}

TEST(Merger, DeliversInTimeOrder) {
    FakeSource source(3);
    for (const uint64_t time : {10, 40, 50}) source.write(0, time);
    for (const uint64_t time : {20, 30, 60}) source.write(2, time);
    Merger merger(source);
    Lines out;
    EXPECT_EQ(merger.drain(UINT64_MAX, out), 6U);
    EXPECT_THAT(out.lines, ElementsAre("10", "20", "30", "40", "50", "60"));
    EXPECT_EQ(merger.counters().late, 0U);
    expect_exact_ledger(source, merger);
}

TEST(Merger, AgreesWithASortOverRandomRings) {
    std::mt19937_64 random(1);
    for (const size_t ring_count : {1, 2, 3, 8, 64}) {
        FakeSource source(ring_count);
        std::vector<uint64_t> expected;
        for (size_t ring = 0; ring < ring_count; ++ring) {
            uint64_t time = 1;
            const size_t count = random() % 5000;
            for (size_t i = 0; i < count; ++i) {
                time += random() % 100;
                source.write(ring, time);
                expected.push_back(time);
            }
        }
        std::sort(expected.begin(), expected.end());
        Merger merger(source);
        Lines out;
        // In slices, as a live recording does.
        for (uint64_t watermark = 50'000; watermark < 300'000; watermark += 50'000) {
            merger.drain(watermark, out);
            EXPECT_TRUE(out.times.empty() || out.times.back() < watermark);
        }
        merger.drain(UINT64_MAX, out);
        merger.finish(1'000'000, out);
        EXPECT_EQ(out.times, expected) << ring_count << " rings";
        EXPECT_EQ(merger.counters().late, 0U);
        expect_exact_ledger(source, merger);
    }
}

TEST(Merger, HoldsBackWhatTheWatermarkDoesNotCover) {
    FakeSource source(2);
    source.write(0, 10);
    source.write(0, 20);
    source.write(1, 15);
    Merger merger(source);
    Lines out;
    EXPECT_EQ(merger.drain(20, out), 2U);
    EXPECT_THAT(out.lines, ElementsAre("10", "15"));
    EXPECT_EQ(merger.drain(20, out), 0U);
    EXPECT_EQ(merger.drain(0, out), 0U);
    source.write(1, 18);
    EXPECT_EQ(merger.drain(21, out), 2U);
    EXPECT_THAT(out.lines, ElementsAre("10", "15", "18", "20"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, CountsWhatComesAfterItsTime) {
    FakeSource source(2);
    source.write(0, 100);
    Merger merger(source);
    Lines out;
    merger.drain(200, out);
    source.write(1, 50);
    merger.drain(200, out);
    EXPECT_THAT(out.lines, ElementsAre("100", "50"));
    EXPECT_EQ(merger.counters().late, 1U);
}

TEST(Merger, ReleasesBatchByBatch) {
    FakeSource source(1);
    for (uint64_t time = 1; time <= 100'000; ++time) source.write(0, time);
    Merger merger(source);
    Lines out;
    EXPECT_EQ(merger.drain(UINT64_MAX, out), 100'000U);
    EXPECT_LE(source.peeked_max(), 2048U);
    EXPECT_TRUE(source.all_released());
}

TEST(Merger, TellsOfAGapInTheMiddle) {
    FakeSource source(2);
    source.write(0, 10);
    source.lose(0, 7);
    source.write(0, 40);
    source.write(1, 20);
    source.write(1, 50);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("10", "begin 10@0 1", "20", "end 40@0 7", "40", "50"))
        << "the gap begins before anything later of another ring";
    EXPECT_EQ(merger.counters().gaps, 1U);
    EXPECT_EQ(merger.counters().records, 4U);
    expect_exact_ledger(source, merger);
}

TEST(Merger, TellsOfAGapBeforeTheFirstRecord) {
    FakeSource source(2);
    source.lose(0, 3);
    source.write(0, 30);
    source.write(1, 20);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("20", "begin 20@0 0", "end 30@0 3", "30"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, TellsOfAGapBeforeEverything) {
    FakeSource source(1);
    source.lose(0, 3);
    source.write(0, 30);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("begin 30@0 0", "end 30@0 3", "30"));
}

TEST(Merger, BeginsAGapAsSoonAsItsRingIsEmpty) {
    FakeSource source(2);
    source.write(0, 10);
    source.lose(0, 2);
    source.write(1, 20);
    Merger merger(source);
    Lines out;
    merger.drain(100, out);
    EXPECT_THAT(out.lines, ElementsAre("10", "begin 10@0 1", "20"));
    source.lose(0, 3);
    merger.drain(200, out);
    source.write(0, 210);
    source.write(1, 205);
    merger.drain(300, out);
    EXPECT_THAT(out.lines, ElementsAre("10", "begin 10@0 1", "20", "205", "end 210@0 5", "210"));
    merger.finish(400, out);
    EXPECT_EQ(merger.counters().gaps, 1U);
    expect_exact_ledger(source, merger);
}

TEST(Merger, ALossSeenLaterBeginsAfterWhatWasDelivered) {
    FakeSource source(2);
    source.write(0, 10);
    source.write(1, 50);
    Merger merger(source);
    Lines out;
    merger.drain(100, out);
    source.lose(0, 1);
    merger.drain(200, out);
    EXPECT_THAT(out.lines, ElementsAre("10", "50", "begin 50@0 1"));
}

TEST(Merger, ClosesTheGapAtTheEndOfTheRecording) {
    FakeSource source(2);
    source.write(0, 10);
    source.lose(0, 4);
    source.write(1, 20);
    source.lose(1, 1);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    source.lose(0, 2);
    merger.finish(99, out);
    EXPECT_THAT(out.lines, ElementsAre("10", "begin 10@0 1", "20", "begin 20@1 1", "end 99@0 6",
                                       "end 99@1 1"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, ARingThatOnlyLostIsToldAtTheEnd) {
    FakeSource source(1);
    source.lose(0, 9);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    merger.finish(99, out);
    EXPECT_THAT(out.lines, ElementsAre("begin 99@0 0", "end 99@0 9"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, TellsOfSeveralGapsOfOneRing) {
    FakeSource source(1);
    source.write(0, 10);
    source.lose(0, 1);
    source.write(0, 20);
    source.write(0, 30);
    source.lose(0, 2);
    source.write(0, 40);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("10", "begin 10@0 1", "end 20@0 1", "20", "30",
                                       "begin 30@0 4", "end 40@0 2", "40"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, FindsGapsAtEveryPlaceOfABatch) {
    for (uint64_t place = 1000; place < 1060; ++place) {
        FakeSource source(1);
        for (uint64_t time = 1; time <= 1100; ++time) {
            if (time == place) source.lose(0, 5);
            source.write(0, time);
        }
        Merger merger(source);
        Lines out;
        merger.drain(UINT64_MAX, out);
        merger.finish(2000, out);
        ASSERT_EQ(out.lines.size(), 1102U);
        EXPECT_EQ(out.lines[place - 1], fmt::format("begin {}@0 {}", place - 1, place - 1));
        EXPECT_EQ(out.lines[place], fmt::format("end {}@0 5", place));
        expect_exact_ledger(source, merger);
    }
}

TEST(Merger, AnOvertakenRecordIsNoGap) {
    for (uint64_t before = 1; before < 1060; before += 13) {
        FakeSource source(1);
        for (uint64_t time = 1; time <= before; ++time) source.write(0, time);
        const uint32_t outer = source.take_seq(0);
        source.write(0, before + 2);
        source.write(0, before + 3);
        source.write_as(0, outer, test::make_hit({.time_ns = before + 4}, 16, {}));
        source.write(0, before + 5);
        Merger merger(source);
        Lines out;
        merger.drain(UINT64_MAX, out);
        merger.finish(9999, out);
        EXPECT_EQ(merger.counters().gaps, 0U);
        EXPECT_EQ(merger.rings()[0].out_of_order, 1U);
        expect_exact_ledger(source, merger);
    }
}

TEST(Merger, AnOvertakenRecordIsNoGapEvenWhileTheRingLosesOthers) {
    FakeSource source(1);
    source.write(0, 1);
    const uint32_t outer = source.take_seq(0);
    source.write(0, 2);
    source.write_as(0, outer, test::make_hit({.time_ns = 3}, 16, {}));
    source.lose(0, 1);
    source.write(0, 9);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("1", "2", "3", "begin 3@0 3", "end 9@0 1", "9"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, AJumpThatTheCounterDoesNotConfirmIsAwaited) {
    FakeSource source(1);
    source.write(0, 1);
    const uint32_t outer = source.take_seq(0);
    source.write(0, 2);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("1", "2"));
    source.write_as(0, outer, test::make_hit({.time_ns = 3}, 16, {}));
    merger.drain(UINT64_MAX, out);
    merger.finish(10, out);
    EXPECT_THAT(out.lines, ElementsAre("1", "2", "3"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, SequenceNumbersWrap) {
    FakeSource source(1);
    Merger merger(source);
    Lines out;
    // Up to the wrap by loss, which is also the largest single gap a test can afford.
    source.write(0, 1);
    source.lose(0, 0xfffffffdULL);
    source.write(0, 2);
    source.write(0, 3);
    source.lose(0, 4);
    source.write(0, 4);
    merger.drain(UINT64_MAX, out);
    merger.finish(5, out);
    EXPECT_THAT(out.lines, ElementsAre("1", "begin 1@0 1", "end 2@0 4294967293", "2", "3",
                                       "begin 3@0 0", "end 4@0 4", "4"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, AGapMayBeLongerThanTheSequenceNumbers) {
    FakeSource source(1);
    source.write(0, 1);
    source.lose(0, (uint64_t{3} << 32) + 5);
    source.write(0, 2);
    Merger merger(source);
    Lines out;
    merger.drain(UINT64_MAX, out);
    EXPECT_THAT(out.lines, ElementsAre("1", "begin 1@0 1", "end 2@0 12884901893", "2"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, KindNoneKeepsTheSequenceWholeAndGoesNoFurther) {
    FakeSource source(1);
    source.write(0, 1);
    source.write(0, test::make_header_only({.time_ns = 2}, TR_KIND_none));
    source.write(0, 3);
    Merger merger(source);
    Lines out;
    EXPECT_EQ(merger.drain(UINT64_MAX, out), 3U);
    merger.finish(9, out);
    EXPECT_THAT(out.lines, ElementsAre("1", "3"));
    expect_exact_ledger(source, merger);
}

TEST(Merger, RefusesSizesThatDoNotFitTheRecord) {
    for (const int size : {0, 8, 24, 31, 36, 72, 8200, 65528}) {
        FakeSource source(1);
        auto record = test::make_hit({.time_ns = 5}, 16, {1, 2, 3, 4});
        auto header = test::header_of(record);
        header.size = static_cast<uint16_t>(size);
        test::set_header(record, header);
        source.write(0, std::move(record));
        source.write(0, 6);
        Merger merger(source);
        Lines out;
        merger.drain(UINT64_MAX, out);
        EXPECT_THAT(out.lines, ElementsAre("6")) << size;
        EXPECT_EQ(merger.counters().malformed, 1U);
        expect_exact_ledger(source, merger);
    }
}

TEST(Merger, LedgerIsExactOverRandomLossAndReordering) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 40; ++round) {
        FakeSource source(1 + random() % 5);
        Merger merger(source);
        Lines out;
        uint64_t now = 1;
        for (int step = 0; step < 2000; ++step) {
            const size_t ring = random() % source.ring_count();
            now += random() % 10;
            switch (random() % 8) {
                case 0:
                    source.lose(ring, 1 + random() % 20);
                    break;
                case 1: {
                    const uint32_t outer = source.take_seq(ring);
                    for (uint64_t i = random() % 4; i > 0; --i) source.write(ring, now);
                    source.write_as(ring, outer, test::make_hit({.time_ns = now}, 16, {}));
                    break;
                }
                case 2:
                    merger.drain(now, out);
                    break;
                default:
                    source.write(ring, now);
            }
        }
        merger.drain(UINT64_MAX, out);
        merger.finish(now + 1, out);
        EXPECT_TRUE(std::is_sorted(out.times.begin(), out.times.end()));
        expect_exact_ledger(source, merger);
    }
}

TEST(Merger, NothingFromNoRings) {
    FakeSource source(0);
    Merger merger(source);
    Lines out;
    EXPECT_EQ(merger.drain(UINT64_MAX, out), 0U);
    merger.finish(1, out);
    EXPECT_THAT(out.lines, IsEmpty());
}

}  // namespace
}  // namespace tracer
