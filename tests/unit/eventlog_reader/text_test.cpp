// SPDX-License-Identifier: Apache-2.0
//
// The words for events where they are more than a pattern. That they are the library's is tested in
// agreement_test.cpp, where there is a GHC.
#include "support/eventlog_builder.h"
#include "support/eventlog_text.h"
#include "support/eventlog_utf8.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

std::string text_of(EventlogId id, const BigEndianBytes& payload) {
    const auto file =
        parse_eventlog(EventlogBuilder().declare({id}).end_header().event(id, 1, payload).bytes());
    return file.events.size() == 1 ? event_text(file.events[0]) : problems_text(file);
}

TEST(EventlogText, EveryEventHasWords) {
    for (const EventlogId id : ghc_eventlog_ids()) {
        if (id == EventlogId::block_marker) continue;  // never shown
        const EventlogShape* shape = newest_eventlog_shape(static_cast<uint16_t>(id));
        ASSERT_NE(shape, nullptr);
        // 64 zero bytes are enough for the fields of every form.
        BigEndianBytes payload;
        payload.text(std::string(shape->is_variable() ? 64 : shape->size, '\0'));
        const std::string text = text_of(id, payload);
        const bool library_knows =
            id != EventlogId::nonmoving_pruned_segments && id != EventlogId::hack_bug_t9003;
        EXPECT_EQ(text.find("Unknown event") == std::string::npos, library_knows) << shape->name;
        EXPECT_EQ(text.find("malformed"), std::string::npos) << shape->name;
    }
}

TEST(EventlogText, StopStatuses) {
    const auto stop = [](int status, int info) {
        return text_of(EventlogId::stop_thread, BigEndianBytes().u32(7).u16(status).u32(info));
    };
    EXPECT_EQ(stop(0, 0), "stopping thread 7 (No stop thread status)");
    EXPECT_EQ(stop(8, 9), "stopping thread 7 (blocked on black hole owned by thread 9)");
    EXPECT_EQ(stop(20, 0), "stopping thread 7 (blocked reading an MVar)");
    EXPECT_EQ(stop(21, 0), "stopping thread 7 (No stop thread status)");
}

TEST(EventlogText, ArgumentsAsHaskellShowsThem) {
    BigEndianBytes payload;
    payload.u32(1)
        .c_text("a\"b\\c")
        .c_text("\n\x0EH\x0EI\x7F")
        .c_text(
            "\xCE\xBB"
            "1\xCE\xBBx")
        .text("last");
    EXPECT_EQ(
        text_of(EventlogId::program_args, payload),
        "capset 1: args: [\"a\\\"b\\\\c\",\"\\n\\SO\\&H\\SOI\\DEL\",\"\\955\\&1\\955x\",\"last\"]");
}

TEST(EventlogText, NoArgumentsAreOneEmptyOne) {
    EXPECT_EQ(text_of(EventlogId::program_args, BigEndianBytes().u32(1)), "capset 1: args: [\"\"]");
}

TEST(EventlogText, HeapProfilesWithFilters) {
    BigEndianBytes payload;
    payload.u8(3)
        .u64(100)
        .u32(2)
        .c_text("M")
        .c_text("")
        .c_text("")
        .c_text("CC")
        .c_text("")
        .c_text("")
        .c_text("");
    EXPECT_EQ(
        text_of(EventlogId::heap_prof_begin, payload),
        "start heap profiling 3 at sampling period 100 broken down by module filtered by M, CC, ");
}

TEST(EventlogText, LinesCarryTimeAndCapability) {
    const auto file = parse_eventlog(EventlogBuilder()
                                         .declare({EventlogId::gc_start, EventlogId::block_marker})
                                         .end_header()
                                         .event(EventlogId::gc_start, 18446744073709551615U)
                                         .block(65534, 1, 0)
                                         .event(EventlogId::gc_start, 0)
                                         .bytes());
    EXPECT_EQ(event_lines(file),
              "18446744073709551615 cap=- starting GC\n0 cap=65534 starting GC\n");
    EXPECT_EQ(fields_text(file.events[1]), "BLOCK_MARKER size=0 end_time=1 cap=65534");
}

TEST(EventlogText, FieldsStayOnOneLine) {
    const auto file = parse_eventlog(
        EventlogBuilder()
            .declare({EventlogId::user_msg})
            .end_header()
            .event(EventlogId::user_msg, 1, BigEndianBytes().text("a\n\"b\"\xC2\x85"))
            .bytes());
    EXPECT_EQ(fields_text(file.events[0]), "USER_MSG text=\"a\\x0a\\\"b\\\"\\xc2\\x85\"");
}

TEST(EventlogUtf8, KnowsValidFromInvalid) {
    for (const std::string_view good : {"", "a", "\xC2\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
        EXPECT_TRUE(is_valid_utf8(good)) << good;
    }
    for (const std::string_view bad :
         {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
          "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xC2G"}) {
        EXPECT_FALSE(is_valid_utf8(bad)) << bad;
    }
}

TEST(EventlogUtf8, WritesWhatItReads) {
    for (const uint32_t code : {0U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
        std::string text;
        append_utf8(text, code);
        const auto character = first_utf8_character(text);
        ASSERT_TRUE(character);
        EXPECT_EQ(character->code_point, code);
        EXPECT_EQ(character->bytes, text.size());
    }
}

}  // namespace
}  // namespace tracer::test
