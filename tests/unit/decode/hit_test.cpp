// SPDX-License-Identifier: Apache-2.0
#include "decoder_fixture.h"

#include <bit>
#include <random>

namespace tracer {
namespace {

using test::At;
using testing::ElementsAre;
using testing::IsEmpty;

class DecoderHit : public DecoderTest {};

TEST_F(DecoderHit, BecomesAnInstantWithTypedValues) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 8}, kEvent,
                        {static_cast<uint64_t>(-5), UINT64_MAX}));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 instant event 8 [-5, 18446744073709551615]"));
    ASSERT_NE(writer_.find_thread(8), nullptr);
    EXPECT_EQ(writer_.find_thread(8)->pid, 7U);
    EXPECT_EQ(writer_.find_thread(8)->thread_name, "");
    EXPECT_EQ(decoder_->hits(kEvent), 1U);
    EXPECT_EQ(decoder_->first_ns(), 10U);
    EXPECT_EQ(decoder_->last_ns(), 10U);
}

TEST_F(DecoderHit, MayCarryMoreSlotsThanItsProbeHas) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 8}, kEvent, {1, 2, 0, 0, 0}));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 instant event 8 [1, 2]"));
}

TEST_F(DecoderHit, MarksArgumentsThatCouldNotBeRead) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kEvent, {0, 2}, 1));
    feed(test::make_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kBeginF, {0x1000, 0}, 2));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 instant event 7 [?, 2]", "11 begin f 7 [?]"));
    EXPECT_EQ(counters().arguments_missing, 2U);
}

TEST_F(DecoderHit, ASpanWithoutItsStackPointerIsMalformed) {
    feed(test::make_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kBeginF, {0, 0}, 1));
    EXPECT_THAT(writer_.lines(), IsEmpty());
    EXPECT_EQ(counters().malformed, 1U);
}

TEST_F(DecoderHit, OfACounterPointIsAValue) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kLevel,
                        {std::bit_cast<uint64_t>(0.5)}));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 counter level 7 [0.5]"));
}

TEST_F(DecoderHit, ReadsTheTrueLengthOfCutStrings) {
    const auto length = [](uint32_t bytes) { return bytes << TR_STRING_LENGTH_SHIFT; };
    for (const uint32_t flags :
         {TR_STRING_CUT | length(5000), TR_STRING_CUT | TR_STRING_AT_LEAST | length(65536),
          TR_STRING_CUT | length(2), length(5000)}) {
        feed(test::make_string_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kNamed, "hel", flags));
    }
    EXPECT_THAT(writer_.lines(), testing::ElementsAre(testing::EndsWith("['hel'...(5000)]"),
                                                      testing::EndsWith("['hel'...(65536+)]"),
                                                      testing::EndsWith("['hel'...]"),
                                                      testing::EndsWith("['hel']")));
}

TEST_F(DecoderHit, ReadsStringsAndTheirCutMark) {
    feed(test::make_string_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kNamed, "hello"));
    feed(test::make_string_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kNamed, "hel", TR_STRING_CUT));
    feed(test::make_string_hit({.time_ns = 12, .tgid = 7, .tid = 7}, kNamed, ""));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 instant named 7 ['hello']", "11 instant named 7 ['hel'...]",
                            "12 instant named 7 ['']"));
    EXPECT_EQ(counters().strings_cut, 1U);
}

TEST_F(DecoderHit, RefusesStringsOutsideTheRecord) {
    const auto slot = [](uint16_t offset, uint16_t bytes) {
        return std::bit_cast<uint64_t>(tr_string_slot{offset, bytes, 0});
    };
    const At at{.time_ns = 10, .tgid = 7, .tid = 7};
    feed(test::make_hit(at, kNamed, {slot(40, 9), 0}));
    feed(test::make_hit(at, kNamed, {slot(49, 0), 0}));
    feed(test::make_hit(at, kNamed, {slot(31, 1), 0}));
    feed(test::make_hit(at, kNamed, {slot(UINT16_MAX, UINT16_MAX), 0}));
    EXPECT_THAT(writer_.lines(), IsEmpty());
    EXPECT_EQ(counters().malformed, 4U);
    feed(test::make_hit(at, kNamed, {slot(48, 0), 0}));
    feed(test::make_hit(at, kNamed, {slot(40, 8), 0x4141414141414141}));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 instant named 7 ['']", "10 instant named 7 ['AAAAAAAA']"));
}

TEST_F(DecoderHit, OfAnUnknownProbeIsCounted) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, 18, {}));
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, UINT32_MAX, {}));
    EXPECT_THAT(writer_.lines(), IsEmpty());
    EXPECT_EQ(counters().unknown_probes, 2U);
    EXPECT_EQ(decoder_->hits(UINT32_MAX), 0U);
}

TEST_F(DecoderHit, OfTheRecorderItselfIsNotWritten) {
    auto definitions = standard_definitions();
    definitions.own_pid = 99;
    start(std::move(definitions));
    feed(test::make_hit({.time_ns = 10, .tgid = 99, .tid = 100}, kEvent, {1, 2}));
    EXPECT_THAT(writer_.lines(), IsEmpty());
    EXPECT_EQ(decoder_->hits(kEvent), 1U);
}

TEST_F(DecoderHit, OfAProbeAddedLaterIsKnown) {
    decoder_->add({{.index = model::PointIndex{5}, .category = "app", .name = "late"}},
                  {{.probe_id = 40, .point = model::PointIndex{5}}});
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, 40, {}));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 instant late 7 []"));
}

TEST_F(DecoderHit, UnknownKindsAreSkippedAndCounted) {
    feed(test::make_header_only({.time_ns = 5}, 0));
    feed(test::make_header_only({.time_ns = 5}, 1000));
    feed(test::make_header_only({.time_ns = 5}, 65535));
    EXPECT_EQ(counters().unknown_kinds, 3U);
    EXPECT_EQ(counters().malformed, 0U);
}

TEST_F(DecoderHit, EveryTruncationOfEveryKindIsMalformed) {
    for (const test::Record& whole : test::make_one_of_each_kind(kEvent)) {
        const uint16_t kind = test::header_of(whole).kind;
        for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
            start(standard_definitions());
            // As a source hands it out: cut, with a header that agrees or not.
            const test::Record cut(whole.begin(), whole.begin() + static_cast<long>(bytes));
            feed(cut);
            EXPECT_EQ(counters().malformed, 1U) << "kind " << kind << " bytes " << bytes;
            if (bytes < sizeof(tr_record_header)) continue;
            test::Record agreeing = cut;
            auto header = test::header_of(agreeing);
            header.size = static_cast<uint16_t>(bytes);
            test::set_header(agreeing, header);
            feed(agreeing);
            EXPECT_EQ(counters().malformed, 2U) << "kind " << kind << " bytes " << bytes;
            EXPECT_THAT(writer_.lines(), IsEmpty());
        }
        start(standard_definitions());
        feed(whole);
        EXPECT_EQ(counters().malformed, 0U) << "kind " << kind;
        EXPECT_EQ(counters().unknown_kinds, 0U) << "kind " << kind;
    }
}

TEST_F(DecoderHit, ClockReadingsPassThrough) {
    feed(test::make_clock(100, 90, 5000));
    EXPECT_THAT(writer_.lines(), ElementsAre("100 clock 90 5000"));
}

TEST_F(DecoderHit, OfPlainNumbersKeepsItsPlaceAmongOtherRecords) {
    const auto plain = [](uint64_t time_ns, uint32_t tid) {
        return test::make_hit({.time_ns = time_ns, .tgid = 7, .tid = tid}, kEvent, {1, 2});
    };
    feed_together(
        {plain(10, 7), test::make_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kBeginF, {0x1000, 1}),
         plain(12, 7), plain(13, 8),
         test::make_hit({.time_ns = 14, .tgid = 7, .tid = 7}, kEndF, {0x1008, 2}),
         test::make_hit({.time_ns = 15, .tgid = 7, .tid = 7}, kEvent, {0, 2}, 1), plain(16, 8)});
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 instant event 7 [1, 2]", "11 begin f 7 [1]", "12 instant event 7 [1, 2]",
                    "13 instant event 8 [1, 2]", "14 end f 7 returned [2]",
                    "15 instant event 7 [?, 2]", "16 instant event 8 [1, 2]"));
    EXPECT_EQ(decoder_->hits(kEvent), 5U);
    EXPECT_EQ(decoder_->first_ns(), 10U);
    EXPECT_EQ(decoder_->last_ns(), 16U);
    EXPECT_EQ(counters().records, 7U);
}

// A tid that changes hands ends what its earlier owner had open, in the right place.
TEST_F(DecoderHit, OfPlainNumbersMayBeginAnotherLife) {
    feed_together({test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kBeginF, {0x1000, 1}),
                   test::make_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kEvent, {1, 2}),
                   test::make_hit({.time_ns = 12, .tgid = 9, .tid = 7}, kEvent, {3, 4})});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "11 instant event 7 [1, 2]",
                            "12 end f 7 thread_exit []", "12 instant event 7#1 [3, 4]"));
}

TEST_F(DecoderHit, OfPlainNumbersIsTheSameOneByOneAndTogether) {
    std::mt19937 random(3);
    std::vector<test::Record> records;
    for (uint64_t time_ns = 100; time_ns < 1100; ++time_ns) {
        const uint32_t tid = 7 + static_cast<uint32_t>(random() % 3);
        const At at{.time_ns = time_ns, .tgid = 7, .tid = tid};
        switch (random() % 16) {
            case 0:
                records.push_back(test::make_hit(at, kBeginF, {0x1000, 1}));
                break;
            case 1:
                records.push_back(test::make_hit(at, kEndF, {0x1008, 1}));
                break;
            case 2:
                records.push_back(test::make_string_hit(at, kNamed, "text"));
                break;
            case 3:
                records.push_back(test::make_hit(at, kEvent, {1}));  // too short
                break;
            case 4:
                records.push_back(test::make_hit(at, 18, {1, 2}));  // not defined
                break;
            default:
                records.push_back(test::make_hit(at, kEvent, {time_ns, random()}));
        }
    }
    for (const uint64_t room : {UINT64_MAX, uint64_t{333}, uint64_t{1}}) {
        start(standard_definitions());
        writer_.set_room(room);
        for (const auto& record : records) feed(record);
        decoder_->finish(2000);
        const auto lines = writer_.take_lines();
        const DecoderCounters one_by_one = counters();
        EXPECT_THAT(writer_.faults(), IsEmpty());

        start(standard_definitions());
        writer_.set_room(room);
        feed_together(records);
        decoder_->finish(2000);
        EXPECT_EQ(writer_.lines(), lines);
        EXPECT_EQ(counters().records, one_by_one.records);
        EXPECT_EQ(counters().malformed, one_by_one.malformed);
        EXPECT_EQ(counters().unknown_probes, one_by_one.unknown_probes);
        EXPECT_EQ(counters().lost_to_sink, one_by_one.lost_to_sink);
        EXPECT_GT(lines.size(), room == 1 ? 0U : 300U);
    }
}

TEST_F(DecoderHit, OfPlainNumbersThatFindsNoRoomIsPartOfTheHole) {
    const auto plain = [](uint64_t time_ns) {
        return test::make_hit({.time_ns = time_ns, .tgid = 7, .tid = 7}, kEvent, {1, 2});
    };
    feed(plain(5));
    writer_.set_room(1);
    feed_together({plain(10), plain(20), plain(30)});
    EXPECT_EQ(counters().lost_to_sink, 2U);
    writer_.set_room(UINT64_MAX);
    feed_together({plain(40), plain(50)});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("5 instant event 7 [1, 2]", "10 instant event 7 [1, 2]",
                            "40 loss sink_full cpu0 from 20 count 2", "40 instant event 7 [1, 2]",
                            "50 instant event 7 [1, 2]"));
}

class DecoderName : public DecoderTest {
protected:
    // Probe 16 with a name made of its slots, and the begin of f.
    void SetUp() override {
        auto definitions = standard_definitions();
        for (auto& probe : definitions.probes) {
            if (probe.probe_id == kEvent) {
                probe.name = {
                    {"a=", NamePiece::kText}, {"", 0}, {", b=", NamePiece::kText}, {"", 1}};
                auto& point = definitions.points.at(static_cast<size_t>(probe.point));
                point.arguments.at(1).names = {{9, "write"}};
            }
            if (probe.probe_id == kNamed || probe.probe_id == kBeginF) {
                probe.name = {{"<", NamePiece::kText}, {"", 0}, {">", NamePiece::kText}};
            }
        }
        start(std::move(definitions));
    }
};

TEST_F(DecoderName, ShowsValues) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kEvent,
                        {static_cast<uint64_t>(-5), 6}));
    feed(test::make_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kEvent, {0, 6}, 1));
    begin(12, kBeginF, 0x1000);
    end(13, kEndF, 0x1000);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 instant event=\"a=-5, b=6\" 7 [-5, 6]",
                            "11 instant event=\"a=?, b=6\" 7 [?, 6]", "12 begin f=\"<1>\" 7 [1]",
                            "13 end f 7 returned [2]"));
}

TEST_F(DecoderName, ShowsValuesByTheirNames) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kEvent, {1, 9}));
    ASSERT_EQ(writer_.lines().size(), 1U);
    EXPECT_THAT(writer_.lines()[0], testing::HasSubstr("event=\"a=1, b=write\""));
}

TEST_F(DecoderName, IsOneLineOfTextWithItsCutsMarked) {
    feed(test::make_string_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kNamed, "x\ny\xff"));
    feed(test::make_string_hit({.time_ns = 11, .tgid = 7, .tid = 7}, kNamed, "abc", TR_STRING_CUT));
    ASSERT_EQ(writer_.lines().size(), 2U);
    EXPECT_THAT(writer_.lines()[0], testing::HasSubstr("named=\"<x y\uFFFD>\""));
    EXPECT_THAT(writer_.lines()[1], testing::HasSubstr("named=\"<abc\u2026>\""));
    const std::string long_text(250, 'w');
    feed(test::make_string_hit({.time_ns = 12, .tgid = 7, .tid = 7}, kNamed, long_text));
    const std::string shown = "=\"<" + std::string(model::kEventNameBytesMax - 4, 'w') + "\u2026\"";
    EXPECT_THAT(writer_.lines()[2], testing::HasSubstr(shown));
}

}  // namespace
}  // namespace tracer
