// SPDX-License-Identifier: Apache-2.0
//
// The header of an eventlog: what the grammar allows, and each way to break it.
#include "support/eventlog_builder.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

TEST(EventlogHeader, SmallestLegalLogIsEmpty) {
    const auto file = parse_eventlog(EventlogBuilder().end_header().end().bytes());
    EXPECT_EQ(file.bytes.size(), 22U);
    EXPECT_TRUE(file.is_sound()) << problems_text(file);
    EXPECT_TRUE(file.events.empty());
    EXPECT_EQ(file.reader.end_marker_count(), 1U);
}

TEST(EventlogHeader, TypesKeepWhatTheyDeclare) {
    const auto file = parse_eventlog(EventlogBuilder()
                                         .declare(19, 0xFFFF, "User message")
                                         .declare(65534, 3,
                                                  "Gr\xC3\xB6\xC3\x9F"
                                                  "e",
                                                  "extra")
                                         .end_header()
                                         .bytes());
    ASSERT_EQ(file.reader.types().size(), 2U);
    const EventlogType* message = file.reader.find_type(19);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->size, kEventlogVariableSize);
    EXPECT_EQ(message->description, "User message");
    EXPECT_NE(message->shape, nullptr);
    const EventlogType* other = file.reader.find_type(65534);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->size, 3);
    EXPECT_EQ(other->shape, nullptr);
    EXPECT_EQ(file.reader.find_type(18), nullptr);
    EXPECT_EQ(file.reader.find_type(65535), nullptr);
}

TEST(EventlogHeader, TheLastDeclarationOfAnIdCounts) {
    const auto file = parse_eventlog(EventlogBuilder()
                                         .declare(1, 5)
                                         .declare(1, 4)
                                         .end_header()
                                         .event(EventlogId::run_thread, 1, BigEndianBytes().u32(9))
                                         .bytes());
    EXPECT_EQ(file.reader.oddities().repeated_types, 1U);
    ASSERT_EQ(file.events.size(), 1U);
    EXPECT_EQ(file.events[0].number("thread"), 9U);
}

struct BadHeader {
    const char* name;
    std::string bytes;
    EventlogFault fault;
};

class BadEventlogHeader : public testing::TestWithParam<BadHeader> {};

TEST_P(BadEventlogHeader, IsRefusedByName) {
    const auto file = parse_eventlog(GetParam().bytes);
    EXPECT_EQ(file.reader.fault(), GetParam().fault) << name_of(file.reader.fault());
    EXPECT_FALSE(file.is_sound());
    EXPECT_TRUE(file.events.empty());
    EXPECT_NE(problems_text(file), "");
}

std::string one_type(const BigEndianBytes& type) {
    return "hdrbhetb" + type.bytes() + "hetehdredatb";
}

INSTANTIATE_TEST_SUITE_P(
    All,
    BadEventlogHeader,
    testing::Values(
        BadHeader{"Fxt", std::string("\x10\x00\x04\x46\x78\x54\x16\x00", 8),
                  EventlogFault::not_an_eventlog},
        BadHeader{"NoTypesBegin", "hdrbhete", EventlogFault::malformed_header},
        BadHeader{"NoType", "hdrbhetbxxxx", EventlogFault::malformed_header},
        BadHeader{"NoTypeEnd",
                  one_type(BigEndianBytes().c_text("etb").u16(1).u16(4).u32(0).u32(0).text("etb")),
                  EventlogFault::malformed_header},
        BadHeader{"TypeOfTheEndMarker", EventlogBuilder().declare(65535, 4).end_header().bytes(),
                  EventlogFault::malformed_header},
        BadHeader{"NoHeaderEnd", "hdrbhetbhetedatb", EventlogFault::malformed_header},
        BadHeader{"NoData", "hdrbhetbhetehdredata", EventlogFault::malformed_header},
        BadHeader{"DescriptionIsNotUtf8",
                  EventlogBuilder().declare(1, 4, "\xFF").end_header().bytes(),
                  EventlogFault::description_not_utf8},
        BadHeader{"HugeDescription",
                  one_type(BigEndianBytes().c_text("etb").u16(1).u16(4).u32(0xFFFFFFFF)),
                  EventlogFault::oversized_header},
        BadHeader{"HugeExtra",
                  one_type(BigEndianBytes().c_text("etb").u16(1).u16(4).u32(0).u32(0xFFFFFFFF)),
                  EventlogFault::oversized_header}),
    [](const auto& test) { return test.param.name; });

TEST(EventlogHeader, CutAnywhereIsCutAndNothingElse) {
    const std::string whole =
        EventlogBuilder().declare(1, 4).declare(19, 0xFFFF, "x", "y").end_header().bytes();
    for (size_t length = 0; length < whole.size(); ++length) {
        const auto file = parse_eventlog(whole.substr(0, length));
        EXPECT_EQ(file.reader.fault(), EventlogFault::none) << length;
        EXPECT_FALSE(file.reader.header_is_read()) << length;
        EXPECT_EQ(file.reader.offset() + file.reader.truncated_bytes(), length);
    }
}

TEST(EventlogHeader, ManyTypesStayWithinTheLimit) {
    EventlogBuilder builder;
    for (int i = 0; i < 100; ++i) builder.declare(5, 0, std::string(60'000, 'd'));
    const auto file = parse_eventlog(builder.end_header().bytes());
    EXPECT_EQ(file.reader.fault(), EventlogFault::oversized_header);
    EXPECT_LT(file.reader.types().size(), 70U);
}

}  // namespace
}  // namespace tracer::test
