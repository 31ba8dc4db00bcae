// SPDX-License-Identifier: Apache-2.0
#include "decoder_fixture.h"

#include <bit>

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
    feed(test::make_header_only({.time_ns = 5}, 13));
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

}  // namespace
}  // namespace tracer
