// SPDX-License-Identifier: Apache-2.0
//
// Fields of payloads: every type of field, forms of different GHC versions, sizes that are wrong,
// texts that are no text, and the length that GHC 9.10.3 writes one too large.
#include "support/eventlog_builder.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;

// One event of an id declared with this size, in an open-ended block.
EventlogFile read_one(EventlogId id, uint16_t declared_size, const BigEndianBytes& payload) {
    return parse_eventlog(EventlogBuilder()
                              .declare({EventlogId::block_marker})
                              .declare(static_cast<uint16_t>(id), declared_size)
                              .end_header()
                              .block(0, 1, 0)
                              .event(id, 2, payload)
                              .bytes());
}

EventlogFile read_variable(EventlogId id, const BigEndianBytes& payload) {
    return read_one(id, kEventlogVariableSize, payload);
}

TEST(EventlogPayload, NumbersOfEveryWidth) {
    const auto file = read_one(EventlogId::task_create, 18,
                               BigEndianBytes().u64(0x0102030405060708).u16(0x090A).u64(11));
    ASSERT_TRUE(file.is_sound()) << problems_text(file);
    const auto& event = file.events.back();
    EXPECT_EQ(event.number("task"), 0x0102030405060708U);
    EXPECT_EQ(event.number("cap"), 0x090AU);
    EXPECT_EQ(event.number("kernel_tid"), 11U);
    EXPECT_EQ(event.number("no such field"), 0U);
    EXPECT_EQ(event.time_ns, 2U);
}

TEST(EventlogPayload, TextMayBeEmptyAndHoldNul) {
    for (const std::string& text :
         {std::string(), std::string("a\0b", 3), std::string(65'531, 'x')}) {
        const auto file =
            read_variable(EventlogId::thread_label, BigEndianBytes().u32(5).text(text));
        ASSERT_TRUE(file.is_sound()) << problems_text(file);
        EXPECT_EQ(file.events.back().text("text"), text);
    }
}

TEST(EventlogPayload, TextBeforeAFixedField) {
    const auto file =
        read_variable(EventlogId::intern_string, BigEndianBytes().text("name").u32(77));
    EXPECT_EQ(file.events.back().text("text"), "name");
    EXPECT_EQ(file.events.back().number("string"), 77U);
}

TEST(EventlogPayload, StringsWithAndWithoutTheLastNul) {
    for (const bool has_last_nul : {false, true}) {
        BigEndianBytes payload;
        payload.u32(1).c_text("prog").c_text("").text("-x");
        if (has_last_nul) payload.u8(0);
        const auto file = read_variable(EventlogId::program_args, payload);
        ASSERT_TRUE(file.is_sound());
        const auto* value = file.events.back().find("strings");
        ASSERT_NE(value, nullptr);
        EXPECT_THAT(std::get<std::vector<std::string_view>>(*value), ElementsAre("prog", "", "-x"));
    }
}

TEST(EventlogPayload, StacksFromNoneToTheDeepest) {
    for (const uint32_t depth : {0U, 1U, 255U}) {
        BigEndianBytes payload;
        payload.u8(2).u64(4096).u8(depth);
        for (uint32_t i = 0; i < depth; ++i) payload.u32(i + 1);
        const auto file = read_variable(EventlogId::heap_prof_sample_cost_centre, payload);
        ASSERT_TRUE(file.is_sound());
        const auto* value = file.events.back().find("stack");
        ASSERT_NE(value, nullptr);
        EXPECT_EQ(std::get<std::vector<uint32_t>>(*value).size(), depth);
    }
}

TEST(EventlogPayload, OptionalFieldsOfTickyDefinitions) {
    BigEndianBytes payload;
    payload.u64(1).u16(2).c_text("kinds").c_text("name");
    auto file = read_variable(EventlogId::ticky_counter_def, payload);
    EXPECT_TRUE(file.is_sound());
    EXPECT_EQ(file.events.back().find("info"), nullptr);
    file = read_variable(EventlogId::ticky_counter_def, payload.u64(0xABC));
    EXPECT_TRUE(file.is_sound());
    EXPECT_EQ(file.events.back().number("info"), 0xABCU);
    EXPECT_EQ(file.events.back().find("json"), nullptr);
    file = read_variable(EventlogId::ticky_counter_def, payload.c_text("{}"));
    EXPECT_TRUE(file.is_sound());
    EXPECT_EQ(file.events.back().text("json"), "{}");
}

TEST(EventlogPayload, FormsAreChosenByTheDeclaredSize) {
    auto file = read_one(EventlogId::nonmoving_heap_census, 13,
                         BigEndianBytes().u8(5).u32(1).u32(2).u32(3));
    EXPECT_EQ(file.events.back().number("block_bytes"), 32U);
    file = read_one(EventlogId::nonmoving_heap_census, 14,
                    BigEndianBytes().u16(5).u32(1).u32(2).u32(3));
    EXPECT_EQ(file.events.back().number("block_bytes"), 5U);
    BigEndianBytes stats;
    stats.u32(0).u16(1).u64(2).u64(3).u64(4).u32(5).u64(6).u64(7);
    file = read_one(EventlogId::gc_stats_ghc, 50, stats);
    EXPECT_TRUE(file.is_sound());
    EXPECT_EQ(file.events.back().find("par_balanced_copied"), nullptr);
    file = read_one(EventlogId::gc_stats_ghc, 58, stats.u64(8));
    EXPECT_EQ(file.events.back().number("par_balanced_copied"), 8U);
}

TEST(EventlogPayload, LargerDeclaredSizeIsReadAndTheRestSkipped) {
    const auto file = read_one(EventlogId::run_thread, 6, BigEndianBytes().u32(7).u16(9));
    EXPECT_EQ(file.events.back().number("thread"), 7U);
    EXPECT_EQ(file.events.back().bytes, 16U);
    EXPECT_EQ(file.reader.oddities().extra_bytes_events, 1U);
}

TEST(EventlogPayload, SmallerDeclaredSizeIsAnUnknownForm) {
    const auto file = read_one(EventlogId::run_thread, 2, BigEndianBytes().u16(7));
    EXPECT_EQ(file.events.back().decoding, EventlogDecoding::unknown);
    EXPECT_EQ(file.reader.oddities().unknown_events, 1U);
}

TEST(EventlogPayload, FixedForVariableAndTheReverseAreUnknownForms) {
    auto file = read_one(EventlogId::user_msg, 4, BigEndianBytes().text("abcd"));
    EXPECT_EQ(file.events.back().decoding, EventlogDecoding::unknown);
    file = read_variable(EventlogId::run_thread, BigEndianBytes().u32(7));
    EXPECT_EQ(file.events.back().decoding, EventlogDecoding::unknown);
    EXPECT_TRUE(file.reader.fault() == EventlogFault::none);
}

TEST(EventlogPayload, UnknownIdsAreSkippedByTheirSize) {
    const auto file =
        parse_eventlog(EventlogBuilder()
                           .declare({EventlogId::run_thread})
                           .declare(300, 3)
                           .declare(301, kEventlogVariableSize)
                           .end_header()
                           .event(EventlogId{300}, 1, BigEndianBytes().text("abc"))
                           .event(EventlogId{301}, 2, BigEndianBytes().text("abcdefg"))
                           .event(EventlogId{301}, 3)
                           .event(EventlogId::run_thread, 4, BigEndianBytes().u32(7))
                           .bytes());
    ASSERT_EQ(file.events.size(), 4U);
    EXPECT_EQ(file.events[1].bytes, 19U);
    EXPECT_EQ(event_text(file.events[1]), "Unknown event type 301");
    EXPECT_EQ(file.events[3].number("thread"), 7U);
    EXPECT_EQ(file.reader.oddities().unknown_events, 3U);
}

// Each payload is cut by a byte, or has one too many, and does not disturb the event behind it.
TEST(EventlogPayload, WrongLengthsStayInTheirEvent) {
    const std::vector<std::pair<EventlogId, BigEndianBytes>> shortest = {
        {EventlogId::thread_label, BigEndianBytes().u32(1)},
        {EventlogId::program_args, BigEndianBytes().u32(1)},
        {EventlogId::perf_name, BigEndianBytes().u32(1)},
        {EventlogId::intern_string, BigEndianBytes().u32(1)},
        {EventlogId::heap_prof_sample_string, BigEndianBytes().u8(1).u64(2).c_text("abc")},
        {EventlogId::heap_prof_cost_centre,
         BigEndianBytes().u32(1).c_text("a").c_text("b").c_text("c").u8(1)},
        {EventlogId::heap_prof_sample_cost_centre, BigEndianBytes().u8(1).u64(2).u8(1).u32(3)},
        {EventlogId::prof_sample_cost_centre, BigEndianBytes().u32(1).u64(2).u8(1).u32(3)},
        {EventlogId::ticky_counter_def, BigEndianBytes().u64(1).u16(2).c_text("k").c_text("n")},
    };
    for (const auto& [id, payload] : shortest) {
        BigEndianBytes cut;
        cut.text(payload.bytes().substr(0, payload.size() - 1));
        const auto file = parse_eventlog(EventlogBuilder()
                                             .declare({id, EventlogId::gc_start})
                                             .end_header()
                                             .event(id, 1, cut)
                                             .event(EventlogId::gc_start, 2)
                                             .event(id, 3, payload)
                                             .bytes());
        ASSERT_EQ(file.events.size(), 3U) << static_cast<int>(id);
        EXPECT_EQ(file.events[0].decoding, EventlogDecoding::malformed) << file.events[0].name;
        EXPECT_EQ(event_text(file.events[0]).substr(0, 10), "malformed ");
        EXPECT_TRUE(file.events[1].is(EventlogId::gc_start));
        EXPECT_EQ(file.events[2].decoding, EventlogDecoding::decoded) << file.events[2].name;
        EXPECT_EQ(file.reader.oddities().malformed_events, 1U);
    }
}

TEST(EventlogPayload, ExtraBytesOfVariableEventsAreSkipped) {
    const auto file = read_variable(EventlogId::heap_prof_sample_string,
                                    BigEndianBytes().u8(1).u64(2).c_text("abc").u8(9));
    EXPECT_EQ(file.events.back().text("label"), "abc");
    EXPECT_EQ(file.reader.oddities().extra_bytes_events, 1U);
}

TEST(EventlogPayload, TextThatIsNotUtf8IsShownEscapedAndCounted) {
    const auto file =
        read_variable(EventlogId::user_msg, BigEndianBytes().text("a\xFF\xC3\xA9\xED\xA0\x80"));
    EXPECT_EQ(file.reader.oddities().texts_not_utf8, 1U);
    EXPECT_EQ(event_text(file.events.back()), "a\\xff\xC3\xA9\\xed\\xa0\\x80");
    EXPECT_EQ(fields_text(file.events.back()), "USER_MSG text=\"a\\xff\xC3\xA9\\xed\\xa0\\x80\"");
}

TEST(EventlogPayload, BinaryMessagesMayHoldAnything) {
    const auto file =
        read_variable(EventlogId::user_binary_msg, BigEndianBytes().text("\xFF\x01z"));
    EXPECT_TRUE(file.is_sound());
    EXPECT_EQ(event_text(file.events.back()), "binary message ..z");
}

BigEndianBytes make_ipe() {
    BigEndianBytes payload;
    payload.u64(0xABCD).c_text("table").c_text("21").c_text("type").c_text("label");
    return payload.c_text("Module").c_text("src.hs:1:2");
}

// An IPE event whose length says this much more than its texts, and one behind it.
EventlogFile read_ipe(int difference,
                      const BigEndianBytes& payload,
                      std::string_view padding = {}) {
    BigEndianBytes event;
    event.u16(169).u64(5).u16(payload.size() + difference).text(payload.bytes()).text(padding);
    return parse_eventlog(EventlogBuilder()
                              .declare({EventlogId::ipe, EventlogId::run_thread})
                              .end_header()
                              .raw(event.bytes())
                              .event(EventlogId::run_thread, 6, BigEndianBytes().u32(7))
                              .bytes());
}

TEST(EventlogIpe, RightLength) {
    const auto file = read_ipe(0, make_ipe());
    ASSERT_EQ(file.events.size(), 2U);
    EXPECT_EQ(file.events[0].number("info"), 0xABCDU);
    EXPECT_EQ(file.events[0].text("source"), "src.hs:1:2");
    EXPECT_EQ(file.events[1].number("thread"), 7U);
    EXPECT_EQ(file.reader.oddities().ipe_length_faults, 0U);
}

TEST(EventlogIpe, LengthOneTooLargeIsReadByItsTexts) {
    const auto file = read_ipe(1, make_ipe());
    ASSERT_EQ(file.events.size(), 2U) << problems_text(file);
    EXPECT_EQ(file.events[1].number("thread"), 7U);
    EXPECT_EQ(file.reader.oddities().ipe_length_faults, 1U);
    EXPECT_EQ(event_text(file.events[0]), "Info Table: abcd:21:table - src.hs:1:2");
}

TEST(EventlogIpe, LengthTooSmallIsReadByItsTexts) {
    const auto file = read_ipe(-9, make_ipe());
    ASSERT_EQ(file.events.size(), 2U) << problems_text(file);
    EXPECT_EQ(file.events[1].number("thread"), 7U);
    EXPECT_EQ(file.reader.oddities().ipe_length_faults, 1U);
}

TEST(EventlogIpe, FieldsOfALaterGhcAreSkippedByTheLength) {
    const auto file = read_ipe(3, make_ipe(), "abc");
    ASSERT_EQ(file.events.size(), 2U) << problems_text(file);
    EXPECT_EQ(file.events[1].number("thread"), 7U);
    EXPECT_EQ(file.reader.oddities().extra_bytes_events, 1U);
}

TEST(EventlogIpe, TextWithoutEndStopsTheReader) {
    BigEndianBytes payload;
    payload.u64(1).text(std::string(200'000, 'x'));
    const auto file = parse_eventlog(EventlogBuilder()
                                         .declare({EventlogId::ipe})
                                         .end_header()
                                         .event(EventlogId::ipe, 1, payload)
                                         .bytes());
    EXPECT_EQ(file.reader.fault(), EventlogFault::runaway_text);
}

}  // namespace
}  // namespace tracer::test
