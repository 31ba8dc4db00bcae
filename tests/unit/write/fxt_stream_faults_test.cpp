// SPDX-License-Identifier: Apache-2.0
//
// What a stream refuses, each at its boundary, and what it shortens where it was told to.
#include "unit/write/fxt_stream_fixture.h"

#include <vector>

namespace tracer::fxt {
namespace {

const ThreadRef kThread{1, 2};

TEST(FxtFaults, HaveNames) {
    EXPECT_EQ(name_of(Fault::none), "none");
    EXPECT_EQ(name_of(Fault::table_full), "table_full");
    EXPECT_EQ(name_of(static_cast<Fault>(255)), "unknown");
}

TEST(FxtFaults, SixteenArgumentsAreTooMany) {
    OpenStream open;
    const std::vector<Argument> arguments(16, arg("k", 1));
    const Stream::Event event{EventType::instant, kThread, "c", "n", 10};
    const std::span<const Argument> all(arguments);
    EXPECT_TRUE(open.stream.event(event, all.first(15)));
    EXPECT_EQ(open.taken().size(), 2U + 2 + 2 + 15 * 2);
    EXPECT_EQ(open.stream.event(event, all).fault(), Fault::too_many_arguments);
    EXPECT_EQ(open.stream.kernel_object(ObjectType::vmo, 1, {}, all).fault(),
              Fault::too_many_arguments);
    EXPECT_EQ(open.stream.userspace_object(kThread, 1, {}, all).fault(), Fault::too_many_arguments);
    EXPECT_EQ(open.stream.context_switch({}, all).fault(), Fault::too_many_arguments);
    EXPECT_EQ(open.stream.wakeup(0, 1, 2, all).fault(), Fault::too_many_arguments);
    EXPECT_EQ(open.stream.large_blob(event, {}, all).fault(), Fault::too_many_arguments);
    EXPECT_TRUE(open.taken().empty()) << "nothing of a refused record is written";
    EXPECT_EQ(open.stream.counters().refused, 6U);
    ArgumentList list;
    for (int i = 0; i < 15; ++i) EXPECT_TRUE(list.add(arguments[0]));
    EXPECT_FALSE(list.add(arguments[0]));
}

TEST(FxtFaults, AStringOf32001BytesIsTooLongWhereverItStands) {
    OpenStream open;
    Stream& stream = open.stream;
    const std::string longest(32000, 'a');
    const std::string too_long(32001, 'a');
    EXPECT_TRUE(stream.instant(kThread, longest, {}, 1));
    EXPECT_TRUE(stream.log(kThread, 1, longest));
    EXPECT_TRUE(stream.intern(longest).has_value());
    static_cast<void>(open.taken());
    EXPECT_EQ(stream.instant(kThread, too_long, {}, 1).fault(), Fault::string_too_long);
    EXPECT_EQ(stream.instant(kThread, {}, too_long, 1).fault(), Fault::string_too_long);
    EXPECT_EQ(stream.instant(kThread, {}, {}, 1, arg(too_long, 1)).fault(), Fault::string_too_long);
    EXPECT_EQ(stream.instant(kThread, {}, {}, 1, arg("k", too_long)).fault(),
              Fault::string_too_long);
    EXPECT_EQ(stream.log(kThread, 1, too_long).fault(), Fault::string_too_long);
    EXPECT_EQ(stream.blob(BlobType::raw, too_long, {}).fault(), Fault::string_too_long);
    EXPECT_EQ(stream.intern(too_long).error(), Fault::string_too_long);
    EXPECT_EQ(stream.cached(too_long).error(), Fault::string_too_long);
    EXPECT_EQ(stream.provider_info(2, std::string(256, 'p')).fault(), Fault::string_too_long);
    EXPECT_TRUE(open.taken().empty());
    EXPECT_TRUE(stream.provider_info(2, std::string(255, 'p')));
}

TEST(FxtFaults, IndicesSlotsAndCpusHaveARange) {
    OpenStream open({.string_slots = 1, .cached_strings = 0, .thread_slots = 1});
    Stream& stream = open.stream;
    const auto fault_of = [&](const StringRef& name) {
        return stream.instant(kThread, {}, name, 1).fault();
    };
    EXPECT_EQ(fault_of(StringRef::at(0x7fff)), Fault::not_defined);
    EXPECT_TRUE(stream.define_string(0, "last"));
    EXPECT_EQ(stream.string_slot(0).index(), 0x7fffU);
    EXPECT_EQ(fault_of(StringRef::at(0x7fff)), Fault::none);
    EXPECT_EQ(fault_of(StringRef::at(0x8000)), Fault::index_out_of_range);
    EXPECT_EQ(fault_of(StringRef::at(UINT32_MAX)), Fault::index_out_of_range);
    EXPECT_EQ(fault_of(StringRef::at(1)), Fault::not_defined);
    EXPECT_EQ(fault_of(stream.string_slot(1)), Fault::index_out_of_range);
    EXPECT_EQ(stream.define_string(1, "x").fault(), Fault::index_out_of_range);

    EXPECT_EQ(stream.instant(ThreadRef::at(1), {}, {}, 1).fault(), Fault::not_defined);
    EXPECT_EQ(stream.define_thread(0, {3, 4}).fault(), Fault::index_out_of_range);
    EXPECT_EQ(stream.define_thread(2, {3, 4}).fault(), Fault::index_out_of_range);
    EXPECT_TRUE(stream.define_thread(1, {3, 4}));
    EXPECT_TRUE(stream.instant(ThreadRef::at(1), {}, {}, 1));

    EXPECT_TRUE(stream.wakeup(4095, 1, 2));
    EXPECT_EQ(stream.wakeup(4096, 1, 2).fault(), Fault::index_out_of_range);
    EXPECT_EQ(stream.context_switch({.cpu = 4096}).fault(), Fault::index_out_of_range);
}

TEST(FxtFaults, AnEndIsNotBeforeItsStart) {
    OpenStream open;
    EXPECT_TRUE(open.stream.duration_complete(kThread, {}, {}, 5, 5));
    static_cast<void>(open.taken());
    EXPECT_EQ(open.stream.duration_complete(kThread, {}, {}, 5, 4).fault(),
              Fault::end_before_start);
    EXPECT_TRUE(open.taken().empty());
}

TEST(FxtFaults, CountersTakeNumbersOnly) {
    OpenStream open;
    const Argument text[] = {arg("k", "v")};
    EXPECT_EQ(open.stream.event({EventType::counter, kThread, {}, {}, 1}, text).fault(),
              Fault::wrong_type);
    EXPECT_EQ(open.stream.event({static_cast<EventType>(11), kThread, {}, {}, 1}).fault(),
              Fault::wrong_type);
    EXPECT_TRUE(open.taken().empty());
}

TEST(FxtFaults, BlobsAndRecordsHaveALargestSize) {
    OpenStream open;
    Stream& stream = open.stream;
    const std::vector<std::byte> bytes(65536);
    const Bytes all(bytes);
    EXPECT_TRUE(stream.blob(BlobType::raw, {}, all.first(32752)));
    EXPECT_EQ(open.taken().size(), 4095U);
    EXPECT_EQ(stream.blob(BlobType::raw, {}, all.first(32753)).fault(), Fault::record_too_long);
    EXPECT_EQ(stream.blob(BlobType::raw, {}, all.first(32767)).fault(), Fault::record_too_long);
    EXPECT_EQ(stream.blob(BlobType::raw, {}, all.first(32768)).fault(), Fault::blob_too_long);
    EXPECT_TRUE(stream.large_blob({}, {}, all.first(65536 - 24)));
    EXPECT_EQ(open.taken().size(), 8192U);
    EXPECT_EQ(stream.large_blob({}, {}, all.first(65536 - 23)).fault(), Fault::record_too_long);
    const std::vector<std::byte> more(65537);
    EXPECT_EQ(stream.large_blob({}, {}, Bytes(more)).fault(), Fault::blob_too_long);
    // 2 words of event, 4093 of argument: its header, the name, and what is left.
    const size_t left = size_t{4095 - 2 - 2} * 8;
    EXPECT_TRUE(stream.instant(kThread, {}, {}, 1, arg("k", all.first(left - 16))));
    EXPECT_EQ(open.taken().size(), 4095U);
    EXPECT_EQ(stream.instant(kThread, {}, {}, 1, arg("k", all.first(left - 15))).fault(),
              Fault::record_too_long);
    EXPECT_TRUE(open.taken().empty());
}

TEST(FxtFaults, OpenRefusesOptionsThatCannotBe) {
    TestSink sink;
    const std::string name(256, 'p');
    for (const StreamOptions& options : {
             StreamOptions{.provider_name = name},
             StreamOptions{.ticks_per_second = 0},
             StreamOptions{.string_slots = 0x7fff, .cached_strings = 1},
         }) {
        Stream stream(sink, options);
        const Status status = stream.open();
        ASSERT_FALSE(status.has_value());
        EXPECT_EQ(status.error().code, ErrorCode::usage);
        EXPECT_EQ(stream.instant(kThread, {}, {}, 1).fault(), Fault::no_room);
    }
    EXPECT_TRUE(sink.words.empty());
}

TEST(FxtFaults, CuttingKeepsWholeCharactersAndSaysSo) {
    OpenStream open({.cut_long_strings = true});
    // 31,999 bytes, then a character of three.
    const std::string text = std::string(31999, 'a') + "\xE2\x82\xAC" + "tail";
    const Outcome outcome = open.stream.instant(kThread, {}, {}, 1, arg("k", text));
    EXPECT_TRUE(outcome);
    EXPECT_TRUE(outcome.is_cut());
    EXPECT_EQ(open.stream.counters().strings_cut, 1U);
    const Words words = open.taken();
    ASSERT_EQ(words.size(), 2U + 2 + 1 + 1 + 4000);
    EXPECT_EQ(words[4] >> 32, 0x8000U | 31999U);
    EXPECT_EQ(words.back() >> 56, 0U) << "padding where the character began";

    EXPECT_FALSE(open.stream.instant(kThread, {}, {}, 1, arg("k", "short")).is_cut());
    ASSERT_TRUE(open.stream.intern(text).has_value());
    EXPECT_EQ(open.stream.counters().strings_cut, 2U);
}

TEST(FxtFaults, CuttingFitsARecordByItsLongestValues) {
    OpenStream open({.cut_long_strings = true});
    const std::string a(30000, 'a');
    const std::string b(20000, 'b');
    const Outcome outcome =
        open.stream.instant(kThread, {}, {}, 1, arg("a", a), arg("b", b), arg("c", "kept"));
    EXPECT_TRUE(outcome.is_cut());
    EXPECT_EQ(open.taken().size(), 4095U);
    // Nothing to shorten: two names that fill the record, or a blob.
    EXPECT_EQ(open.stream.instant(kThread, a, b, 1).fault(), Fault::record_too_long);
    EXPECT_EQ(open.stream.instant(kThread, StringRef::at(9), a + a, 1).fault(), Fault::not_defined);
    EXPECT_TRUE(open.taken().empty());
    EXPECT_EQ(open.stream.counters().strings_cut, 1U) << "only of what was written";
}

TEST(FxtFaults, AFullSinkIsNoRoomAndNothingIsLostOfTheNames) {
    OpenStream open;
    open.sink.is_full = true;
    const auto name = open.stream.intern("late");
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(open.stream.instant(kThread, {}, *name, 1).fault(), Fault::no_room);
    EXPECT_EQ(open.stream.cached("x").error(), Fault::no_room);
    EXPECT_EQ(open.stream.thread({7, 8}).slot(), 0U) << "in full, which is always right";
    EXPECT_EQ(open.stream.counters().no_room, 2U);
    const Status status = open.stream.close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::limit);
    open.sink.is_full = false;
    EXPECT_TRUE(open.stream.instant(kThread, {}, *name, 1));
    EXPECT_EQ(open.taken(), (Words{0x0000000400010022, 0x6574616c, 0x0001000000000044, 1, 1, 2}));
}

}  // namespace
}  // namespace tracer::fxt
