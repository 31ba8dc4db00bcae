// SPDX-License-Identifier: Apache-2.0
//
// Every record of the format as the words it has in the file.
#include "unit/write/fxt_stream_fixture.h"

#include <array>
#include <cstdint>
#include <limits>

namespace tracer::fxt {
namespace {

constexpr int32_t kIdle = std::numeric_limits<int32_t>::min();

// The reference trace: 100/101 in slot 1, and the strings that its records name.
struct ReferenceStream : OpenStream {
    ReferenceStream() {
        for (const char* text : {"process", "ghc", "gc.major", "myapp", "worker", "gen",
                                 "incoming_weight", "outgoing_weight"}) {
            EXPECT_TRUE(stream.intern(text).has_value());
        }
        strings = taken();
        thread = stream.thread({100, 101});
        thread_record = taken();
    }
    [[nodiscard]] StringRef name(const char* text) { return stream.intern(text).value(); }

    Words strings;
    Words thread_record;
    ThreadRef thread{ThreadIds{}};
};

Words header_of(StreamOptions options) {
    TestSink sink;
    Stream stream(sink, options);
    EXPECT_TRUE(stream.open().has_value());
    stream.flush();
    return sink.words;
}

TEST(FxtStream, WritesTheHeaderInTwoOrFourWordForm) {
    EXPECT_EQ(
        header_of({.provider_name = "tracer"}),
        (Words{0x0016547846040010, 0x0060000000110020, 0x0000726563617274, 0x21, 1000000000}));
    EXPECT_EQ(header_of({.provider_id = 0,
                         .ticks_per_second = 1000,
                         .clock_base = ClockBase{.tick = 7, .wall_ns = -1}}),
              (Words{0x0016547846040010, 0x0000000000010010, 0x41, 1000, 7, UINT64_MAX}));
}

TEST(FxtStream, WritesTheStringsAndTheThreadOfTheReference) {
    const ReferenceStream reference;
    EXPECT_EQ(reference.strings,
              (Words{0x0000000700010022, 0x00737365636f7270,  //
                     0x0000000300020022, 0x0000000000636867,  //
                     0x0000000800030022, 0x726f6a616d2e6367,  //
                     0x0000000500040022, 0x000000707061796d,  //
                     0x0000000600050022, 0x000072656b726f77,  //
                     0x0000000300060022, 0x00000000006e6567,  //
                     0x0000000f00070032, 0x676e696d6f636e69, 0x007468676965775f, 0x0000000f00080032,
                     0x676e696f6774756f, 0x007468676965775f}));
    EXPECT_EQ(reference.thread_record, (Words{0x0000000000010033, 0x64, 0x65}));
}

TEST(FxtStream, WritesTheRecordsOfTheReference) {
    ReferenceStream reference;
    Stream& stream = reference.stream;
    EXPECT_TRUE(stream.provider_section(1));
    EXPECT_EQ(reference.taken().front(), 0x0000000000120010U);

    EXPECT_TRUE(stream.name_process(100, reference.name("myapp")));
    EXPECT_TRUE(stream.name_thread({100, 101}, reference.name("worker")));
    Words words = reference.taken();
    words.erase(words.begin(), words.end() - 6);  // the section made it say its strings again
    EXPECT_EQ(words, (Words{0x0000000004010027, 0x64, 0x0000010005020047, 0x65, 0x0000000000010028,
                            0x64}));

    const StringRef ghc = reference.name("ghc");
    const ThreadRef thread = stream.thread({100, 101});
    static_cast<void>(reference.taken());
    EXPECT_TRUE(stream.duration_complete(thread, ghc, reference.name("gc.major"), 1000, 5000,
                                         arg(reference.name("gen"), int32_t{2})));
    EXPECT_EQ(reference.taken(), (Words{0x0003000201140044, 0x3e8, 0x0000000200060011, 0x1388}));
    EXPECT_TRUE(stream.counter(thread, ghc, reference.name("gc.major"), 1500, 0,
                               arg(reference.name("gen"), int64_t{77})));
    EXPECT_EQ(reference.taken(), (Words{0x0003000201110054, 0x5dc, 0x0000000000060023, 0x4d, 0}));

    const Argument weights[] = {arg(reference.name("incoming_weight"), 120),
                                arg(reference.name("outgoing_weight"), kIdle)};
    EXPECT_TRUE(stream.context_switch({.cpu = 3, .time = 900, .out = 0, .in = 101}, weights));
    EXPECT_EQ(reference.taken(),
              (Words{0x1000001000320068, 0x384, 0, 0x65, 0x0000007800070011, 0x8000000000080011}));
    EXPECT_TRUE(stream.wakeup(3, 800, 101));
    EXPECT_EQ(reference.taken(), (Words{0x2000000000300038, 0x320, 0x65}));

    const std::array<std::byte, 2> packet{std::byte{0x0a}, std::byte{0}};
    EXPECT_TRUE(stream.blob(BlobType::perfetto, {}, packet));
    EXPECT_EQ(reference.taken(), (Words{0x0003000200000025, 0x0a}));
}

TEST(FxtStream, WritesAllElevenEventTypes) {
    OpenStream open;
    const ThreadRef thread = open.stream.thread({1, 2});
    const StringRef c = open.stream.intern("c").value();
    const StringRef n = open.stream.intern("n").value();
    static_cast<void>(open.taken());
    Stream& stream = open.stream;
    EXPECT_TRUE(stream.instant(thread, c, n, 10));
    EXPECT_EQ(open.taken(), (Words{0x0002000101000024, 10}));
    EXPECT_TRUE(stream.counter(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x0002000101010034, 10, 5}));
    EXPECT_TRUE(stream.duration_begin(thread, c, n, 10));
    EXPECT_EQ(open.taken(), (Words{0x0002000101020024, 10}));
    EXPECT_TRUE(stream.duration_end(thread, c, n, 10));
    EXPECT_EQ(open.taken(), (Words{0x0002000101030024, 10}));
    EXPECT_TRUE(stream.duration_complete(thread, c, n, 10, 10));
    EXPECT_EQ(open.taken(), (Words{0x0002000101040034, 10, 10}));
    EXPECT_TRUE(stream.async_begin(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x0002000101050034, 10, 5}));
    EXPECT_TRUE(stream.async_instant(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x0002000101060034, 10, 5}));
    EXPECT_TRUE(stream.async_end(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x0002000101070034, 10, 5}));
    EXPECT_TRUE(stream.flow_begin(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x0002000101080034, 10, 5}));
    EXPECT_TRUE(stream.flow_step(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x0002000101090034, 10, 5}));
    EXPECT_TRUE(stream.flow_end(thread, c, n, 10, 5));
    EXPECT_EQ(open.taken(), (Words{0x00020001010a0034, 10, 5}));
}

// Names in full, so that each argument stands alone; the same by index.
TEST(FxtStream, WritesEveryArgumentType) {
    OpenStream open;
    const ThreadRef thread = open.stream.thread({1, 2});
    const StringRef n = open.stream.intern("n").value();
    static_cast<void>(open.taken());
    const auto words_of_one = [&](const auto& argument) {
        EXPECT_TRUE(open.stream.instant(thread, n, n, 0, argument));
        const Words typed = open.taken();
        // The same as data goes another way.
        const Argument list[] = {argument};
        EXPECT_TRUE(open.stream.event({EventType::instant, thread, n, n, 0}, list));
        EXPECT_EQ(open.taken(), typed);
        return Words(typed.begin() + 2, typed.end());
    };
    EXPECT_EQ(words_of_one(arg(n, nullptr)), (Words{0x10010}));
    EXPECT_EQ(words_of_one(arg(n, int32_t{-2})), (Words{0xfffffffe00010011}));
    EXPECT_EQ(words_of_one(arg(n, int8_t{-2})), (Words{0xfffffffe00010011}));
    EXPECT_EQ(words_of_one(arg(n, uint32_t{0xfffffffe})), (Words{0xfffffffe00010012}));
    EXPECT_EQ(words_of_one(arg(n, int64_t{-2})), (Words{0x10023, 0xfffffffffffffffe}));
    EXPECT_EQ(words_of_one(arg(n, 3ULL)), (Words{0x10024, 3}));
    EXPECT_EQ(words_of_one(arg(n, 1.0)), (Words{0x10025, 0x3ff0000000000000}));
    EXPECT_EQ(words_of_one(arg(n, "abc")), (Words{0x0000800300010026, 0x636261}));
    EXPECT_EQ(words_of_one(arg(n, n)), (Words{0x0000000100010016}));
    EXPECT_EQ(words_of_one(arg(n, "")), (Words{0x10016}));
    EXPECT_EQ(words_of_one(arg(n, Pointer{9})), (Words{0x10027, 9}));
    EXPECT_EQ(words_of_one(arg(n, Koid{9})), (Words{0x10028, 9}));
    EXPECT_EQ(words_of_one(arg(n, true)), (Words{0x0000000100010019}));
    const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
    EXPECT_EQ(words_of_one(arg(n, Bytes(bytes))), (Words{0x000000030001002a, 0x030201}));
    EXPECT_EQ(words_of_one(arg("xy", int64_t{4})), (Words{0x80020033, 0x7978, 4}));
}

TEST(FxtStream, WritesNamesAndThreadsInFull) {
    OpenStream open;
    EXPECT_TRUE(open.stream.async_begin({1, 2}, "cat", "nine char", 10, 5, arg("k", "v")));
    EXPECT_EQ(open.taken(), (Words{0x80098003001500b4, 0xa, 0x1, 0x2, 0x746163, 0x61686320656e696e,
                                   0x72, 0x800180010036, 0x6b, 0x76, 0x5}));
}

TEST(FxtStream, WritesObjectsLogsAndProviders) {
    OpenStream open;
    Stream& stream = open.stream;
    EXPECT_TRUE(stream.kernel_object(ObjectType::vmo, 7, "ab"));
    EXPECT_EQ(open.taken(), (Words{0x0000008002030037, 7, 0x6261}));
    // A process in full is one word.
    EXPECT_TRUE(stream.userspace_object({5, 0}, 0x1000, "ab"));
    EXPECT_EQ(open.taken(), (Words{0x0000008002000046, 0x1000, 5, 0x6261}));
    const ThreadRef thread = stream.thread({5, 6});
    static_cast<void>(open.taken());
    const Argument arguments[] = {arg("k", true)};
    EXPECT_TRUE(stream.userspace_object(thread, 0x1000, {}, arguments));
    EXPECT_EQ(open.taken(), (Words{0x0000010000010046, 0x1000, 0x0000000180010029, 0x6b}));
    EXPECT_TRUE(stream.log(thread, 10, "hello"));
    EXPECT_EQ(open.taken(), (Words{0x0000000100050039, 10, 0x6f6c6c6568}));
    EXPECT_TRUE(stream.log({5, 6}, 10, "hello"));
    EXPECT_EQ(open.taken(), (Words{0x0000000000050059, 10, 5, 6, 0x6f6c6c6568}));
    EXPECT_TRUE(stream.provider_event(1, ProviderEvent::buffer_full));
    EXPECT_EQ(open.taken(), (Words{0x0000000000130010}));
    EXPECT_TRUE(stream.initialization({}));
    EXPECT_EQ(open.taken(), (Words{0x21, 1000000000}));
}

TEST(FxtStream, WritesLegacySwitchesWithThreadsBySlotOrInFull) {
    OpenStream open;
    const ThreadRef thread = open.stream.thread({5, 6});
    static_cast<void>(open.taken());
    EXPECT_TRUE(open.stream.legacy_switch({.cpu = 2,
                                           .time = 10,
                                           .out = {7, 8},
                                           .out_state = OutgoingState::blocked,
                                           .out_priority = 3,
                                           .in = thread,
                                           .in_priority = 4}));
    EXPECT_EQ(open.taken(), (Words{0x0040301003020048, 10, 7, 8}));
}

TEST(FxtStream, WritesBlobsOfEveryKind) {
    OpenStream open;
    const std::array<std::byte, 2> bytes{std::byte{1}, std::byte{2}};
    EXPECT_TRUE(open.stream.blob(BlobType::raw, "ab", bytes));
    EXPECT_EQ(open.taken(), (Words{0x0001000280020035, 0x6261, 0x0201}));
    EXPECT_TRUE(open.stream.blob(BlobType::last_branch, {}, {}));
    EXPECT_EQ(open.taken(), (Words{0x0002000000000015}));
    EXPECT_TRUE(open.stream.large_blob({}, "ab", bytes));
    EXPECT_EQ(open.taken(), (Words{0x000001000000005f, 0x80020000, 0x6261, 2, 0x0201}));
    const Argument arguments[] = {arg("k", true)};
    EXPECT_TRUE(
        open.stream.large_blob({EventType::instant, {1, 2}, {}, "ab", 10}, bytes, arguments));
    EXPECT_EQ(open.taken(), (Words{0x00000000000000af, 0x0000000180020000, 0x6261, 10, 1, 2,
                                   0x0000000180010029, 0x6b, 2, 0x0201}));
}

TEST(FxtStream, AnotherProviderHasItsOwnNames) {
    OpenStream open;
    const StringRef n = open.stream.intern("n").value();
    static_cast<void>(open.taken());
    EXPECT_TRUE(open.stream.provider_info(2, "ab"));
    EXPECT_TRUE(open.stream.instant({1, 2}, n, n, 10));
    const Words words = open.taken();
    const Words before{0x0020000000210020, 0x6261, 0x21, 1000000000, 0x0000000100010022, 0x6e};
    ASSERT_EQ(words.size(), before.size() + 4);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), words.begin()));
    EXPECT_EQ(open.stream.provider_section(3).fault(), Fault::not_defined);
    EXPECT_TRUE(open.stream.provider_section(1));
    EXPECT_TRUE(open.stream.begin_chunk().has_value());
    // Both, each with its clock, the current one last.
    const Words chunk = open.taken();
    const Words providers{0x0016547846040010, 0x0020000000210020, 0x6261, 0x21,      1000000000,
                          0x0060000000110020, 0x0000726563617274, 0x21,   1000000000};
    const auto begin = std::search(chunk.begin(), chunk.end(), providers.begin(), providers.end());
    EXPECT_NE(begin, chunk.end());
}

}  // namespace
}  // namespace tracer::fxt
