// SPDX-License-Identifier: Apache-2.0
//
// Strings and threads by number: what stays, what is taken back, what a chunk says again.
#include "unit/write/fxt_stream_fixture.h"

namespace tracer::fxt {
namespace {

constexpr ThreadIds ids_of(uint64_t thread) {
    return {1, thread};
}

TEST(FxtLru, GivesFreeSlotsInOrderThenTheOneUsedLongestAgo) {
    LruSlots slots(3);
    const auto take = [&](uint64_t hash) {
        const uint32_t slot = slots.oldest();
        slots.take(slot, hash);
        return slot;
    };
    EXPECT_EQ(take(10), 0U);
    EXPECT_EQ(take(11), 1U);
    EXPECT_EQ(take(12), 2U);
    slots.touch(0);
    EXPECT_EQ(slots.oldest(), 1U);
    slots.pin(1);
    EXPECT_EQ(take(13), 2U);
    const auto any = [](uint32_t) { return true; };
    EXPECT_EQ(slots.find(12, any), LruSlots::kNone) << "taken back";
    EXPECT_EQ(slots.find(13, any), 2U);
    EXPECT_EQ(slots.find(13, [](uint32_t) { return false; }), LruSlots::kNone)
        << "a hash is not yet a name";
    slots.forget();
    EXPECT_EQ(slots.find(11, any), 1U) << "pinned";
    EXPECT_EQ(slots.find(13, any), LruSlots::kNone);
    EXPECT_EQ(take(14), 0U);
    EXPECT_EQ(take(15), 2U);
    slots.pin(0);
    slots.pin(2);
    EXPECT_EQ(slots.oldest(), LruSlots::kNone);
}

TEST(FxtTables, InternedStringsStayUntilTheTableIsFull) {
    OpenStream open({.string_slots = 10, .cached_strings = 20});
    const StringRef first = open.stream.intern("name 0").value();
    for (int i = 1; i < 0x7fff - 30; ++i) {
        ASSERT_TRUE(open.stream.intern("name " + std::to_string(i)).has_value());
    }
    EXPECT_EQ(open.stream.intern("one too many").error(), Fault::table_full);
    EXPECT_EQ(open.stream.intern("name 0").value().index(), first.index());
    EXPECT_EQ(open.stream.intern("").value().bits(), 0U);
    EXPECT_TRUE(open.stream.cached("one too many").has_value()) << "there is room in the cache";
}

TEST(FxtTables, TheCacheTakesBackTheStringUsedLongestAgo) {
    OpenStream open({.cached_strings = 2});
    const StringRef interned = open.stream.intern("interned").value();
    EXPECT_EQ(open.stream.cached("interned").value().index(), interned.index());
    const StringRef a = open.stream.cached("a").value();
    const StringRef b = open.stream.cached("b").value();
    EXPECT_TRUE(open.stream.instant({1, 2}, {}, a, 1)) << "a is used after b";
    static_cast<void>(open.taken());
    const StringRef c = open.stream.cached("c").value();
    EXPECT_EQ(c.index(), b.index());
    EXPECT_EQ(open.taken().front() & 0xffffffff, 0x20022U | c.index() << 16) << "re-defined";
    EXPECT_EQ(open.stream.instant({1, 2}, {}, b, 1).fault(), Fault::stale_reference);
    EXPECT_TRUE(open.stream.instant({1, 2}, a, c, 1));
    // One that pushes out another of the same record is found out too.
    const StringRef d = open.stream.cached("d").value();
    const StringRef e = open.stream.cached("e").value();
    const StringRef f = open.stream.cached("f").value();
    EXPECT_EQ(open.stream.instant({1, 2}, d, f, 1).fault(), Fault::stale_reference);
    EXPECT_TRUE(open.stream.instant({1, 2}, e, f, 1));
    EXPECT_EQ(OpenStream({.cached_strings = 0}).stream.cached("x").error(), Fault::table_full);
}

TEST(FxtTables, SlotsNameWhatTheyHoldNow) {
    OpenStream open({.string_slots = 2, .cached_strings = 0, .thread_slots = 1});
    EXPECT_TRUE(open.stream.define_string(0, "old"));
    EXPECT_TRUE(open.stream.define_string(0, "new"));
    EXPECT_EQ(open.taken(), (Words{0x000000037ffe0022, 0x646c6f, 0x000000037ffe0022, 0x77656e}));
    EXPECT_TRUE(open.stream.define_thread(1, {5, 6}));
    EXPECT_EQ(open.taken(), (Words{0x10033, 5, 6}));
    EXPECT_EQ(open.stream.thread({7, 8}).slot(), 2U) << "the cache has the slots above";
    EXPECT_EQ(open.stream.instant(ThreadRef::at(2), {}, {}, 1).fault(), Fault::not_defined)
        << "a slot of the cache is no slot of the caller's";
}

TEST(FxtTables, AThreadWhoseSlotWasTakenGetsAnotherOne) {
    OpenStream open;
    const ThreadRef first = open.stream.thread(ids_of(1));
    EXPECT_EQ(first.slot(), 1U);
    EXPECT_EQ(open.stream.thread(ids_of(1)).slot(), 1U);
    for (uint64_t i = 2; i <= 256; ++i) static_cast<void>(open.stream.thread(ids_of(i)));
    EXPECT_FALSE(open.stream.is_current(first));
    static_cast<void>(open.taken());
    EXPECT_TRUE(open.stream.instant(first, {}, {}, 9));
    EXPECT_EQ(open.taken(), (Words{0x20033, 1, 1, 0x0000000002000024, 9}));
}

TEST(FxtTables, PinnedThreadsKeepTheirSlotsAndThenOthersAreSpeltInFull) {
    OpenStream open;
    for (uint64_t i = 1; i <= 255; ++i) {
        ASSERT_TRUE(open.stream.pinned_thread(ids_of(i)).has_value());
    }
    EXPECT_EQ(open.stream.pinned_thread(ids_of(256)).error(), Fault::table_full);
    EXPECT_EQ(open.stream.pinned_thread(ids_of(255)).value().slot(), 255U);
    const ThreadRef other = open.stream.thread(ids_of(256));
    EXPECT_EQ(other.slot(), 0U);
    static_cast<void>(open.taken());
    EXPECT_TRUE(open.stream.instant(other, {}, {}, 9));
    EXPECT_EQ(open.taken(), (Words{0x44, 9, 1, 256}));
}

TEST(FxtTables, TwoThreadsOfOneRecordNeverShareTheLastSlot) {
    OpenStream open;
    for (uint64_t i = 1; i <= 254; ++i) {
        ASSERT_TRUE(open.stream.pinned_thread(ids_of(i)).has_value());
    }
    const ThreadRef out = open.stream.thread(ids_of(300));
    const ThreadRef in = open.stream.thread(ids_of(301));
    static_cast<void>(open.taken());
    EXPECT_TRUE(open.stream.legacy_switch({.out = out, .in = in}));
    const Words words = open.taken();
    const Words record(words.end() - 4, words.end());
    EXPECT_EQ(record[0] >> 28 & 0xff, 0U) << "in full";
    EXPECT_EQ(record[0] >> 36 & 0xff, 255U);
    EXPECT_EQ(record[3], 300U);
}

TEST(FxtTables, AChunkSaysEverythingLiveAgain) {
    OpenStream open({.string_slots = 1, .cached_strings = 1, .thread_slots = 1});
    Stream& stream = open.stream;
    const StringRef interned = stream.intern("i").value();
    const StringRef cached = stream.cached("c").value();
    EXPECT_TRUE(stream.define_string(0, "s"));
    EXPECT_TRUE(stream.define_thread(1, {5, 6}));
    const ThreadRef pinned = stream.pinned_thread({7, 8}).value();
    const ThreadRef thread = stream.thread({9, 10});
    static_cast<void>(open.taken());
    ASSERT_TRUE(stream.begin_chunk().has_value());
    EXPECT_EQ(open.taken(), (Words{0x0016547846040010, 0x0060000000110020, 0x0000726563617274, 0x21,
                                   1000000000, 0x0000000100010022, 'i', 0x000000017ffe0022, 'c',
                                   0x000000017fff0022, 's', 0x10033, 5, 6, 0x20033, 7, 8}));
    EXPECT_TRUE(stream.instant(ThreadRef::at(1), interned, cached, 1));
    EXPECT_TRUE(stream.instant(pinned, interned, stream.string_slot(0), 1));
    EXPECT_TRUE(stream.instant(thread, interned, cached, 1));
    EXPECT_EQ(open.taken(), (Words{0x7ffe000101000024, 1, 0x7fff000102000024, 1, 0x30033, 9, 10,
                                   0x7ffe000103000024, 1}));
}

}  // namespace
}  // namespace tracer::fxt
