// SPDX-License-Identifier: Apache-2.0
//
// Logs that are cut, go on after their end, or name events that their header does not have.
#include "support/eventlog_builder.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

TEST(EventlogDamage, UndeclaredEventStopsByName) {
    const auto file = parse_eventlog(EventlogBuilder()
                                         .declare({EventlogId::run_thread, EventlogId::gc_end})
                                         .end_header()
                                         .event(EventlogId::run_thread, 1, BigEndianBytes().u32(7))
                                         .event(EventlogId::gc_start, 2)
                                         .event(EventlogId::gc_end, 3)
                                         .bytes());
    EXPECT_EQ(file.events.size(), 1U);
    EXPECT_EQ(file.reader.fault(), EventlogFault::undeclared_event);
    EXPECT_EQ(file.reader.undeclared_id(), 9);
    EXPECT_NE(problems_text(file).find("undeclared event 9"), std::string::npos)
        << problems_text(file);
}

TEST(EventlogDamage, IdAboveAllDeclaredIsUndeclaredToo) {
    const auto file = parse_eventlog(EventlogBuilder()
                                         .declare({EventlogId::run_thread})
                                         .end_header()
                                         .event(EventlogId{65534}, 1)
                                         .bytes());
    EXPECT_EQ(file.reader.fault(), EventlogFault::undeclared_event);
    EXPECT_EQ(file.reader.undeclared_id(), 65534);
}

TEST(EventlogDamage, NothingIsReadAfterAFault) {
    const std::string bytes = EventlogBuilder().end_header().event(EventlogId::gc_start, 1).bytes();
    EventlogReader reader;
    EventlogEvent event;
    std::span<const std::byte> left = std::as_bytes(std::span(bytes));
    EXPECT_EQ(reader.next(left, event), EventlogReader::Step::stopped);
    const size_t size = left.size();
    EXPECT_EQ(reader.next(left, event), EventlogReader::Step::stopped);
    EXPECT_EQ(left.size(), size);
}

TEST(EventlogDamage, EndMarkerIsOptionalAndMayBeFollowed) {
    EventlogBuilder builder;
    builder.declare({EventlogId::gc_start, EventlogId::block_marker}).end_header();
    builder.block(0, 1, 0).event(EventlogId::gc_start, 1);
    EXPECT_TRUE(parse_eventlog(builder.bytes()).is_sound());
    builder.end();
    EXPECT_TRUE(parse_eventlog(builder.bytes()).is_sound());
    builder.end().event(EventlogId::gc_start, 2);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_EQ(file.reader.end_marker_count(), 2U);
    EXPECT_EQ(file.events.size(), 3U);
    EXPECT_EQ(file.events.back().capability, 0);
    EXPECT_EQ(file.reader.oddities().after_end_events, 1U);
}

TEST(EventlogDamage, CutInsideAnEventKeepsThoseBefore) {
    EventlogBuilder builder;
    builder.declare_all().end_header();
    const size_t header = builder.size();
    builder.block(0, 1, 0);
    const size_t first = builder.size();
    builder.event(EventlogId::user_msg, 2, BigEndianBytes().text("hello"));
    const size_t second = builder.size();
    builder.event(
        EventlogId::ipe, 3,
        BigEndianBytes().u64(1).c_text("a").c_text("2").c_text("").c_text("").c_text("").c_text(
            ""));
    for (size_t length = header; length <= builder.size(); ++length) {
        const auto file = parse_eventlog(builder.bytes().substr(0, length));
        const size_t whole = (length >= first) + (length >= second) + (length == builder.size());
        EXPECT_EQ(file.events.size(), whole) << length;
        EXPECT_TRUE(file.is_sound()) << problems_text(file);
        EXPECT_EQ(file.reader.offset() + file.reader.truncated_bytes(), length);
    }
}

TEST(EventlogDamage, MissingFileIsAnError) {
    const auto file = load_eventlog("/nonexistent/log.eventlog");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace tracer::test
