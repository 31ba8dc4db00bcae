// SPDX-License-Identifier: Apache-2.0
//
// Blocks: their markers, when they leave, what becomes of those that find no room; times; texts at
// the limits of the format.
#include "eventlog_fixture.h"
#include "tracer/write/eventlog/poster.h"

#include <string>

#include <gtest/gtest.h>

namespace tracer::eventlog {
namespace {

using std::string_view_literals::operator""sv;

class EventlogBuffer : public testing::Test {
protected:
    // A buffer that is open from 1000 on.
    BlockBuffer& open(const BufferOptions& options, CapNo cap = 3) {
        buffer_ = std::make_unique<BlockBuffer>(cap, keeper_, options);
        EXPECT_TRUE(buffer_->open(1000));
        return *buffer_;
    }
    test::ReadLog read() {
        buffer_->flush();
        test::ReadLog log = test::read_blocks(keeper_.bytes);
        EXPECT_EQ(log.fault, "");
        return log;
    }
    uint64_t faults(Fault fault) { return buffer_->counters().faults[static_cast<size_t>(fault)]; }

    test::BlockKeeper keeper_;
    std::unique_ptr<BlockBuffer> buffer_;
};

TEST_F(EventlogBuffer, ClosesBlocksWithTheirSizeEndAndOwner) {
    BlockBuffer& buffer = open({}, 0x0102);
    EXPECT_EQ(buffer.post<EventId::gc_start>(1005), Fault::none);
    EXPECT_EQ(buffer.post<EventId::gc_end>(1009), Fault::none);
    EXPECT_EQ(buffer.used_bytes(), 44U);
    buffer.flush();
    EXPECT_EQ(test::to_hex(keeper_.bytes),
              "0012"              // block marker
              "0000000000000005"  // begins with its first event, relative to the log's start
              "0000002c"          // 24 + 10 + 10
              "0000000000000009"
              "0102"
              "00090000000000000005"
              "000a0000000000000009");
    ASSERT_EQ(keeper_.infos.size(), 1U);
    EXPECT_EQ(keeper_.infos[0].events, 2U);
    EXPECT_EQ(buffer.counters().events, 2U);
    EXPECT_EQ(buffer.counters().bytes, 44U);
    buffer.flush();
    EXPECT_EQ(keeper_.infos.size(), 1U) << "nothing to say, no block";
}

TEST_F(EventlogBuffer, FillsToTheLastByteAndNoFurther) {
    BlockBuffer& buffer = open({.capacity_bytes = kCapacityBytesMin});
    const size_t fit = (kCapacityBytesMin - kBlockMarkerBytes) / 14;
    for (size_t count = 0; count < fit; ++count) {
        ASSERT_EQ(buffer.post<EventId::run_thread>(1000 + count, uint32_t{1}), Fault::none);
    }
    EXPECT_TRUE(keeper_.infos.empty());
    EXPECT_EQ(buffer.post<EventId::run_thread>(9000, uint32_t{2}), Fault::none);
    ASSERT_EQ(keeper_.infos.size(), 1U);
    EXPECT_EQ(keeper_.infos[0].events, fit);
    EXPECT_EQ(keeper_.bytes.size(), kBlockMarkerBytes + fit * 14);
    EXPECT_EQ(read().events.size(), fit + 1);
}

TEST_F(EventlogBuffer, RefusesWhatLiesBeforeTheStart) {
    BlockBuffer& buffer = open({});
    EXPECT_EQ(buffer.post<EventId::gc_start>(999), Fault::before_start);
    EXPECT_EQ(buffer.post<EventId::gc_start>(1000), Fault::none);
    EXPECT_EQ(faults(Fault::before_start), 1U);
    EXPECT_EQ(read().events.at(0).time_ns, 0U);
}

TEST_F(EventlogBuffer, RaisesTimesThatGoBack) {
    BlockBuffer& buffer = open({});
    EXPECT_EQ(buffer.post<EventId::gc_start>(1500), Fault::none);
    EXPECT_EQ(buffer.post<EventId::gc_end>(1400), Fault::none);
    EXPECT_EQ(Poster(buffer).post_user_message(1300, "late"), Fault::none);
    EXPECT_EQ(buffer.counters().times_raised, 2U);
    const auto log = read();
    EXPECT_EQ(log.events.at(1).time_ns, 500U);
    EXPECT_EQ(log.events.at(2).time_ns, 500U);
}

TEST_F(EventlogBuffer, RefusesTimesThatGoBackWhenTold) {
    BlockBuffer& buffer = open({.backward_time = BackwardTime::refuse});
    EXPECT_EQ(buffer.post<EventId::gc_start>(1500), Fault::none);
    EXPECT_EQ(buffer.post<EventId::gc_end>(1499), Fault::backward_time);
    EXPECT_EQ(Poster(buffer).post_user_message(1499, "late"), Fault::backward_time);
    buffer.flush();
    EXPECT_EQ(buffer.post<EventId::gc_end>(1499), Fault::backward_time) << "over blocks too";
    EXPECT_EQ(read().events.size(), 1U);
}

TEST_F(EventlogBuffer, RefusesEverythingWhenClosed) {
    BlockBuffer buffer(0, keeper_, {});
    EXPECT_EQ(buffer.post<EventId::gc_start>(1), Fault::closed);
    EXPECT_EQ(Poster(buffer).post_user_message(1, "x"), Fault::closed);
    buffer.flush();
    ASSERT_TRUE(buffer.open(0));
    EXPECT_EQ(buffer.post<EventId::gc_start>(1), Fault::none);
    buffer.close();
    EXPECT_EQ(keeper_.infos.size(), 1U);
    EXPECT_EQ(buffer.post<EventId::gc_start>(2), Fault::closed);
    EXPECT_EQ(buffer.counters().faults[static_cast<size_t>(Fault::closed)], 3U);
    EXPECT_TRUE(keeper_.infos.size() == 1);
}

TEST_F(EventlogBuffer, ChangesItsCapacityWhileLogging) {
    BlockBuffer& buffer = open({.capacity_bytes = kCapacityBytesMin});
    EXPECT_EQ(buffer.post<EventId::gc_start>(1001), Fault::none);
    ASSERT_TRUE(buffer.set_capacity(1 << 16));
    EXPECT_EQ(buffer.capacity_bytes(), 1U << 16);
    for (uint64_t count = 0; count < 1000; ++count) {
        ASSERT_EQ(buffer.post<EventId::gc_end>(2000 + count), Fault::none);
    }
    EXPECT_EQ(keeper_.infos.size(), 1U) << "only what the small one held";
    EXPECT_FALSE(buffer.set_capacity(kCapacityBytesMin - 1));
    EXPECT_FALSE(buffer.set_capacity(kCapacityBytesMax + 1));
    EXPECT_EQ(buffer.capacity_bytes(), 1U << 16);
    EXPECT_EQ(read().events.size(), 1001U);
}

TEST_F(EventlogBuffer, TellsOfBlocksThatFoundNoRoom) {
    BlockBuffer& buffer = open({});
    keeper_.fate = BlockFate::no_room;
    for (uint64_t count = 0; count < 5; ++count) {
        ASSERT_EQ(buffer.post<EventId::gc_start>(1100 + count), Fault::none);
    }
    buffer.flush();
    EXPECT_EQ(buffer.post<EventId::gc_end>(1200), Fault::none);
    buffer.flush();
    EXPECT_EQ(buffer.counters().lost_no_room, 6U);
    keeper_.fate = BlockFate::taken;
    const auto log = read();
    ASSERT_EQ(log.events.size(), 1U) << "the message leaves with nothing else to say";
    EXPECT_EQ(log.events[0].id, EventId::log_message);
    EXPECT_EQ(log.events[0].text(), "lost 6 events: the output had no room");
    EXPECT_EQ(log.events[0].time_ns, 200U);
    EXPECT_EQ(log.events[0].cap, 3);

    EXPECT_EQ(buffer.post<EventId::gc_start>(1300), Fault::none);
    EXPECT_EQ(read().events.size(), 2U) << "and is told once";
    EXPECT_EQ(buffer.counters().events, 1U);
}

TEST_F(EventlogBuffer, CountsBlocksForAFailedDestinationApart) {
    BlockBuffer& buffer = open({});
    keeper_.fate = BlockFate::sink_failed;
    EXPECT_EQ(buffer.post<EventId::gc_start>(1100), Fault::none);
    buffer.close();
    EXPECT_EQ(buffer.counters().lost_sink_failed, 1U);
    EXPECT_EQ(buffer.counters().lost_no_room, 0U);
}

TEST_F(EventlogBuffer, TakesPayloadsUpTo65535Bytes) {
    BlockBuffer& buffer = open({.invalid = Invalid::refuse});
    Poster poster(buffer);
    const std::string largest(65'535, 'x');
    EXPECT_EQ(poster.post_user_message(1001, largest), Fault::none);
    EXPECT_EQ(poster.post_user_message(1002, largest + "x"), Fault::too_large);
    const std::string label(65'531, 'x');  // and four bytes of thread id
    EXPECT_EQ(poster.post_thread_label(1003, 1, label), Fault::none);
    EXPECT_EQ(poster.post_thread_label(1004, 1, label + "x"), Fault::too_large);
    const std::vector<std::byte> bytes(65'536);
    EXPECT_EQ(poster.post_user_binary_message(1005, bytes), Fault::too_large);
    EXPECT_EQ(poster.post_user_binary_message(1006, std::span(bytes).first(65'535)), Fault::none);
    const std::string_view strings[] = {largest, ""};
    EXPECT_EQ(poster.post_program_args(1007, 0, strings), Fault::too_large);
    const auto log = read();
    ASSERT_EQ(log.events.size(), 3U);
    for (const auto& event : log.events) EXPECT_EQ(event.payload.size(), 65'535U);
    EXPECT_EQ(faults(Fault::too_large), 4U);
}

TEST_F(EventlogBuffer, CutsLargePayloadsBetweenCharacters) {
    BlockBuffer& buffer = open({});
    Poster poster(buffer);
    // 65,534 bytes of one-byte characters, then one of three that does not fit any more.
    EXPECT_EQ(poster.post_user_message(1001, std::string(65'534, 'x') + "\xE2\x82\xAC tail"),
              Fault::none);
    const std::string_view arguments[] = {"prog"sv, std::string_view(), "rest"sv};
    const std::string long_argument(70'000, 'y');
    const std::string_view with_long[] = {arguments[0], long_argument, arguments[2]};
    EXPECT_EQ(poster.post_program_args(1002, 0, with_long), Fault::none);
    EXPECT_EQ(poster.post_heap_prof_cost_centre(1003, {7, long_argument, "m", "s", true}),
              Fault::none);
    const auto log = read();
    ASSERT_EQ(log.events.size(), 3U);
    EXPECT_EQ(log.events[0].text(), std::string(65'534, 'x'));
    EXPECT_EQ(log.events[1].text().substr(4, 6), "prog\0y"sv);
    EXPECT_EQ(log.events[1].payload.size(), 65'535U);
    EXPECT_EQ(log.events[1].payload.back(), std::byte{0});
    EXPECT_EQ(log.events[2].payload.size(), 65'535U)
        << "what follows the long label keeps its place";
    EXPECT_EQ(log.events[2].payload.back(), std::byte{1}) << "the flags";
    EXPECT_EQ(buffer.counters().texts_cut, 5U) << "module and source lost all of theirs";
    EXPECT_EQ(buffer.counters().texts_repaired, 0U);
}

TEST_F(EventlogBuffer, FitsTextsIntoASmallBuffer) {
    BlockBuffer& buffer = open({.capacity_bytes = kCapacityBytesMin});
    EXPECT_EQ(Poster(buffer).post_user_message(1001, std::string(5000, 'x')), Fault::none);
    keeper_.fate = BlockFate::no_room;
    buffer.flush();
    keeper_.fate = BlockFate::taken;
    EXPECT_EQ(Poster(buffer).post_user_message(1002, std::string(5000, 'x')), Fault::none);
    const auto log = read();
    ASSERT_EQ(log.events.size(), 2U) << "with the message of the loss before it";
    EXPECT_EQ(log.events[1].payload.size(), kCapacityBytesMin - 24 - 96 - 12);
    EXPECT_EQ(buffer.counters().texts_cut, 2U);
}

TEST_F(EventlogBuffer, RefusesTextThatReadersStopAt) {
    BlockBuffer& buffer = open({.invalid = Invalid::refuse});
    Poster poster(buffer);
    EXPECT_EQ(poster.post_user_message(1001, "caf\xE9"), Fault::not_utf8);
    EXPECT_EQ(poster.post_thread_label(1001, 1, "\xED\xA0\x80"), Fault::not_utf8) << "a surrogate";
    EXPECT_EQ(poster.post_heap_prof_sample_string(1001, 0, 1, "a\0b"sv), Fault::nul_inside);
    EXPECT_EQ(poster.post_user_marker(1001, "a\0b"sv), Fault::none) << "its length is given";
    const std::string_view arguments[] = {"a\0b"sv};
    EXPECT_EQ(poster.post_program_args(1001, 0, arguments), Fault::nul_inside);
    const std::vector<uint32_t> deep(256, 1);
    EXPECT_EQ(poster.post_prof_sample_cost_centre(1001, 0, 0, deep), Fault::stack_too_deep);
    EXPECT_EQ(poster.post_prof_sample_cost_centre(1001, 0, 0, std::span(deep).first(255)),
              Fault::none);
    EXPECT_EQ(read().events.size(), 2U);
    EXPECT_EQ(faults(Fault::not_utf8), 2U);
}

TEST_F(EventlogBuffer, RepairsText) {
    BlockBuffer& buffer = open({});
    Poster poster(buffer);
    EXPECT_EQ(poster.post_user_message(1001, "caf\xE9!"), Fault::none);
    EXPECT_EQ(poster.post_heap_prof_sample_string(1001, 0, 1, "a\0b"sv), Fault::none);
    std::vector<uint32_t> deep(300);
    for (uint32_t index = 0; index < deep.size(); ++index) deep[index] = index;
    EXPECT_EQ(poster.post_heap_prof_sample_cost_centre(1001, 0, 1, deep), Fault::none);
    EXPECT_EQ(poster.post_user_message(1001, std::string(40'000, '\xFF')), Fault::none);
    const auto log = read();
    ASSERT_EQ(log.events.size(), 4U);
    EXPECT_EQ(log.events[0].text(), "caf\xEF\xBF\xBD!");
    EXPECT_EQ(log.events[1].text().substr(9), "a\0"sv);
    EXPECT_EQ(log.events[2].number(9, 1), 255U);
    EXPECT_EQ(log.events[2].payload.size(), 10U + 255 * 4);
    EXPECT_EQ(log.events[2].number(10 + 254 * 4, 4), 254U) << "the innermost stay";
    EXPECT_EQ(log.events[3].payload.size(), 65'535U);
    EXPECT_EQ(buffer.counters().texts_repaired, 2U);
    EXPECT_EQ(buffer.counters().texts_cut, 3U);
}

TEST_F(EventlogBuffer, DropsWhatIsNotYetOnItsWay) {
    BlockBuffer& buffer = open({});
    EXPECT_EQ(buffer.post<EventId::gc_start>(1100), Fault::none);
    buffer.drop();
    EXPECT_EQ(buffer.post<EventId::gc_end>(1200), Fault::none);
    const auto log = read();
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_EQ(log.events[0].id, EventId::gc_end);
    EXPECT_EQ(buffer.counters().lost_dropped, 1U);
}

TEST_F(EventlogBuffer, HasANameForEveryFault) {
    for (size_t fault = 0; fault < kFaultCount; ++fault) {
        EXPECT_NE(name_of(Fault{static_cast<uint8_t>(fault)}), "unknown");
    }
}

}  // namespace
}  // namespace tracer::eventlog
