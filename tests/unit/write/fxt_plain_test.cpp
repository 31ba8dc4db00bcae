// SPDX-License-Identifier: Apache-2.0
//
// Plain instants take a way of their own through the writer: it must lead to the same bytes.
#include "unit/write/fxt_fixture.h"

#include <array>
#include <deque>

namespace tracer::test {
namespace {

using model::ValueType;

// Plain instants, and what they borrow.
class PlainList {
public:
    void add(uint64_t time_ns,
             model::PointIndex point,
             model::ThreadIndex thread,
             std::vector<ValueType> types,
             std::vector<uint64_t> words) {
        types_.push_back(std::move(types));
        words_.push_back(std::move(words));
        list.push_back(
            {time_ns, point, thread, types_.back(), std::as_bytes(std::span(words_.back()))});
    }

    std::vector<PlainInstant> list;

private:
    std::deque<std::vector<ValueType>> types_;  // addresses stay
    std::deque<std::vector<uint64_t>> words_;
};

struct Points {
    explicit Points(Recording& recording)
        : two(recording.point("app", "two", {{"a", ValueType::s32}, {"b", ValueType::u64}})),
          small(
              recording.point("app", "small", {{"c", ValueType::u32}, {"p", ValueType::pointer}})),
          none(recording.point("app", "none")) {}
    model::PointIndex two;
    model::PointIndex small;
    model::PointIndex none;
};

// More than one call's worth, of all points and three threads, one of which nobody defined.
PlainList mixed(const Points& points) {
    PlainList plain;
    for (uint64_t i = 0; i < 300; ++i) {
        const uint64_t time_ns = 1000 + i;
        const model::ThreadIndex thread = i % 50 == 49 ? model::ThreadIndex{7}
                                          : i % 3 == 0 ? kWorker
                                                       : kMain;
        if (i % 7 == 0) {
            plain.add(time_ns, points.none, thread, {}, {});
        } else if (i % 5 == 0) {
            plain.add(time_ns, points.small, thread, {ValueType::u32, ValueType::pointer},
                      {i, UINT64_MAX - i});
        } else {
            plain.add(time_ns, points.two, thread, {ValueType::s32, ValueType::u64},
                      {static_cast<uint64_t>(-5), i * 3});
        }
    }
    plain.add(5000, model::PointIndex{99}, kMain, {}, {});
    plain.add(5001, points.none, model::kIdleThread, {}, {});
    plain.add(5002, points.none, kMain, {}, {});
    return plain;
}

TEST(FxtPlainInstants, AreTheSameBytesAsTheirEvents) {
    Recording one;
    one.start();
    const PlainList plain = mixed(Points(one));
    for (const PlainInstant& instant : plain.list) {
        static_cast<void>(one.writer->write(ExpandedInstant(instant).event()));
    }
    Recording together;
    together.start();
    static_cast<void>(Points(together));
    EXPECT_EQ(together.writer->write_plain(plain.list), plain.list.size());

    EXPECT_EQ(together.words(), one.words());
    EXPECT_EQ(together.writer->counters().events, one.writer->counters().events);
    EXPECT_EQ(together.writer->counters().refused, one.writer->counters().refused);
    EXPECT_EQ(together.writer->counters().events, plain.list.size() - 7);
}

TEST(FxtPlainInstants, EndAtTheFirstWithoutRoomAtEverySize) {
    size_t whole = 0;
    size_t cut = 0;
    for (size_t bytes_max = 104; bytes_max < 16000; bytes_max += 104) {
        Recording recording(bytes_max);
        static_cast<void>(recording.writer->open());
        recording.thread(kMain, 100, 100, "main");
        recording.thread(kWorker, 100, 101, "worker");
        const PlainList plain = mixed(Points(recording));
        const size_t done = recording.writer->write_plain(plain.list);
        const WriterCounters counters = recording.writer->counters();
        EXPECT_EQ(done, counters.events + counters.refused) << bytes_max;
        EXPECT_EQ(counters.no_room, done == plain.list.size() ? 0U : 1U) << bytes_max;
        const FxtFile file = recording.read();
        EXPECT_TRUE(file.problems.empty()) << bytes_max;
        EXPECT_EQ(file.events.size(), counters.events) << bytes_max;
        ++(done == plain.list.size() ? whole : cut);
    }
    EXPECT_GT(whole, 0U);
    EXPECT_GT(cut, 10U);
}

// Readers must find an indexed thread's record before its events, also when its slot went to
// another thread in between.
TEST(FxtPlainInstants, GetSlotsAgainWhenThereAreMoreThreadsThanSlots) {
    Recording recording;
    ASSERT_TRUE(recording.writer->open().has_value());
    const Points points(recording);
    PlainList plain;
    for (uint32_t i = 0; i < 1200; ++i) {
        const uint32_t thread = i % 300;
        if (i < 300) recording.thread(model::ThreadIndex{thread}, 100, 1000 + thread, "t");
        plain.add(1000 + i, points.none, model::ThreadIndex{thread}, {}, {});
    }
    EXPECT_EQ(recording.writer->write_plain(plain.list), plain.list.size());
    const FxtFile file = recording.read();
    EXPECT_TRUE(file.problems.empty());
    ASSERT_EQ(file.events.size(), plain.list.size());
    for (size_t i = 0; i < file.events.size(); ++i) {
        ASSERT_EQ(file.events[i].tid, 1000 + i % 300) << i;
    }
}

}  // namespace
}  // namespace tracer::test
