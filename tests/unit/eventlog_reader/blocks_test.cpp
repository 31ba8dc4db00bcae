// SPDX-License-Identifier: Apache-2.0
//
// Which capability an event is said to be of: closed and open-ended blocks, and sizes that are
// wrong.
#include "support/eventlog_builder.h"
#include "support/eventlog_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr int kNone = -1;
constexpr uint32_t kMarkerBytes = 24;
constexpr uint32_t kRunBytes = 14;

EventlogBuilder make_builder() {
    EventlogBuilder builder;
    builder.declare({EventlogId::run_thread, EventlogId::block_marker}).end_header();
    return builder;
}

void add_runs(EventlogBuilder& builder, int count) {
    for (int i = 0; i < count; ++i) {
        builder.event(EventlogId::run_thread, 5, BigEndianBytes().u32(7));
    }
}

std::vector<int> capabilities_of(const EventlogFile& file) {
    std::vector<int> capabilities;
    for (const auto& event : file.events) {
        if (event.is(EventlogId::block_marker)) continue;
        capabilities.push_back(event.capability ? int{*event.capability} : kNone);
    }
    return capabilities;
}

TEST(EventlogBlocks, ClosedBlockGivesItsCapabilityToItsEventsOnly) {
    auto builder = make_builder();
    builder.block(3, 1, kMarkerBytes + 2 * kRunBytes);
    add_runs(builder, 3);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(3, 3, kNone));
    EXPECT_EQ(file.reader.oddities().outside_block_events, 1U);
    EXPECT_EQ(file.reader.block_count(), 1U);
    EXPECT_EQ(file.reader.open_ended_block_count(), 0U);
}

TEST(EventlogBlocks, BlockOfNoCapabilityIsABlockStill) {
    auto builder = make_builder();
    builder.block(0xFFFF, 1, kMarkerBytes + kRunBytes);
    add_runs(builder, 1);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(kNone));
    EXPECT_TRUE(file.events.back().is_in_block);
    EXPECT_TRUE(file.is_sound());
}

TEST(EventlogBlocks, EventsBeforeAnyBlockHaveNone) {
    auto builder = make_builder();
    add_runs(builder, 1);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(kNone));
    EXPECT_FALSE(file.events[0].is_in_block);
}

TEST(EventlogBlocks, EmptyBlockHasNoEvents) {
    auto builder = make_builder();
    builder.block(3, 1, kMarkerBytes);
    add_runs(builder, 1);
    EXPECT_THAT(capabilities_of(parse_eventlog(builder.bytes())), testing::ElementsAre(kNone));
}

class OpenEndedEventlogBlock : public testing::TestWithParam<uint32_t> {};

TEST_P(OpenEndedEventlogBlock, LastsToTheNextMarker) {
    auto builder = make_builder();
    builder.block(3, 1, GetParam());
    add_runs(builder, 4);
    builder.block(4, 2, kMarkerBytes + kRunBytes);
    add_runs(builder, 2);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(3, 3, 3, 3, 4, kNone));
    EXPECT_EQ(file.reader.open_ended_block_count(), 1U);
    EXPECT_EQ(file.reader.oddities().unfinished_blocks, 0U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OpenEndedEventlogBlock, testing::Values(0U, 1U, 23U, 0xFFFFFFFFU));

TEST(EventlogBlocks, SizeInsideAnEventTakesThatEventToo) {
    auto builder = make_builder();
    builder.block(3, 1, kMarkerBytes + kRunBytes + 1);
    add_runs(builder, 3);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(3, 3, kNone));
    EXPECT_EQ(file.reader.oddities().overrun_blocks, 1U);
}

TEST(EventlogBlocks, MarkerInsideABlockReplacesIt) {
    auto builder = make_builder();
    builder.block(3, 1, 1000);
    add_runs(builder, 1);
    builder.block(4, 1, kMarkerBytes + kRunBytes);
    add_runs(builder, 2);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(3, 4, kNone));
    EXPECT_EQ(file.reader.oddities().unfinished_blocks, 1U);
}

TEST(EventlogBlocks, SizeBeyondTheFileIsAnUnfinishedBlock) {
    auto builder = make_builder();
    builder.block(3, 1, 1000);
    add_runs(builder, 1);
    const auto file = parse_eventlog(builder.bytes());
    EXPECT_THAT(capabilities_of(file), testing::ElementsAre(3));
    EXPECT_EQ(file.reader.oddities().unfinished_blocks, 1U);
}

// GHC 9.10 counts the end marker to the last block.
TEST(EventlogBlocks, EndMarkerMayBePartOfTheLastBlock) {
    for (const uint32_t extra : {0U, 2U}) {
        auto builder = make_builder();
        builder.block(3, 1, kMarkerBytes + kRunBytes + extra);
        add_runs(builder, 1);
        EXPECT_TRUE(parse_eventlog(builder.end().bytes()).is_sound()) << extra;
    }
}

TEST(EventlogBlocks, MarkerSaysWhatItOpens) {
    auto builder = make_builder();
    builder.begin_block(9, 77);
    add_runs(builder, 2);
    const auto file = parse_eventlog(builder.end_block().bytes());
    ASSERT_EQ(file.events.size(), 3U);
    EXPECT_EQ(file.events[0].name, "BLOCK_MARKER");
    EXPECT_EQ(file.events[0].time_ns, 77U);
    EXPECT_EQ(file.events[0].number("size"), kMarkerBytes + 2 * kRunBytes);
    EXPECT_EQ(file.events[0].capability, 9);
    EXPECT_TRUE(file.is_sound());
}

}  // namespace
}  // namespace tracer::test
