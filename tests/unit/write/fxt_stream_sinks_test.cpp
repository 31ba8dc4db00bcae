// SPDX-License-Identifier: Apache-2.0
//
// Windows over sinks, and going on in another sink.
#include "support/fxt_reader.h"
#include "tracer/write/chunk_memory_sink.h"
#include "tracer/write/chunk_switch.h"
#include "tracer/write/formats.h"
#include "tracer/write/fxt/event_template.h"
#include "tracer/write/sinks.h"
#include "unit/write/fxt_stream_fixture.h"

namespace tracer::fxt {
namespace {

const ThreadRef kThread{1, 2};

TEST(FxtWindow, PutsManyRecordsIntoOneReservation) {
    OpenStream open;
    open.sink.commits = 0;
    for (uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(open.stream.instant({1, 2}, {}, {}, i));
    // 4 words a record, 512 in a window.
    EXPECT_EQ(open.sink.commits, 1000U * 4 / 512);
    const Words words = open.taken();
    ASSERT_EQ(words.size(), 4000U);
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(words[i * 4 + 1], i);
}

TEST(FxtWindow, OfNoBytesCommitsEachRecord) {
    OpenStream open({.window_bytes = 0});
    open.sink.commits = 0;
    for (uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(open.stream.instant({1, 2}, {}, {}, i));
    EXPECT_EQ(open.sink.commits, 10U);
    EXPECT_EQ(open.sink.words.size(), 40U);
}

TEST(FxtWindow, WorksOverASinkThatGivesExactlyWhatIsAsked) {
    TestSink sink(0);
    Stream stream(sink, {.provider_name = "tracer"});
    ASSERT_TRUE(stream.open().has_value());
    EXPECT_TRUE(stream.instant(kThread, "c", "n", 1, arg("k", 2)));
    const test::FxtFile file = test::parse_fxt(std::as_bytes(std::span(sink.words)));
    EXPECT_TRUE(file.problems.empty());
    ASSERT_EQ(file.events.size(), 1U);
    EXPECT_EQ(file.events[0].name, "n");
}

TEST(FxtWindow, HandsOverWhatItHoldsAtTheEndOfItsLife) {
    TestSink sink;
    {
        Stream stream(sink, {.provider_name = "tracer"});
        ASSERT_TRUE(stream.open().has_value());
        EXPECT_TRUE(sink.words.empty());
    }
    EXPECT_EQ(sink.words.size(), 5U);
}

// Ten records, the sink changed after each number of them in turn.
Words written_with_switch_after(size_t boundary, SinkStart start, Words& second) {
    TestSink first_sink;
    TestSink second_sink;
    Stream stream(first_sink, {.provider_name = "tracer"});
    EXPECT_TRUE(stream.open().has_value());
    const StringRef name = stream.intern("name").value();
    const ThreadRef thread = stream.thread({1, 2});
    for (uint64_t i = 0; i < 10; ++i) {
        if (i == boundary) {
            EXPECT_TRUE(stream.switch_sink(second_sink, start).has_value());
        }
        EXPECT_TRUE(stream.instant(thread, name, name, i, arg(name, i)));
    }
    EXPECT_TRUE(stream.close().has_value());
    second = second_sink.words;
    return first_sink.words;
}

test::FxtFile read(const Words& words) {
    return test::parse_fxt(std::as_bytes(std::span(words)));
}

TEST(FxtStream, GoesOnInAnotherSinkAtEveryRecord) {
    Words none;
    const Words whole = written_with_switch_after(10, SinkStart::goes_on, none);
    EXPECT_TRUE(none.empty());
    for (size_t boundary = 0; boundary < 10; ++boundary) {
        Words second;
        Words all = written_with_switch_after(boundary, SinkStart::goes_on, second);
        all.insert(all.end(), second.begin(), second.end());
        ASSERT_EQ(all, whole) << boundary;
    }
}

TEST(FxtStream, BeginsAChunkThatReadsAloneInAnotherSink) {
    for (size_t boundary = 0; boundary < 10; ++boundary) {
        Words second;
        const Words first = written_with_switch_after(boundary, SinkStart::reads_alone, second);
        const test::FxtFile before = read(first);
        const test::FxtFile after = read(second);
        ASSERT_TRUE(before.problems.empty()) << boundary;
        ASSERT_TRUE(after.problems.empty()) << boundary;
        ASSERT_EQ(before.events.size(), boundary);
        ASSERT_EQ(after.events.size(), 10 - boundary);
        EXPECT_EQ(after.events[0].name, "name");
        EXPECT_EQ(after.events[0].tid, 2U);
    }
}

TEST(FxtStream, SaysNamesOfProcessesAndThreadsAgainInEachChunk) {
    TestSink first;
    TestSink second;
    Stream stream(first, {.provider_name = "tracer"});
    ASSERT_TRUE(stream.open().has_value());
    EXPECT_TRUE(stream.name_process(1, "old"));
    EXPECT_TRUE(stream.name_process(1, stream.cached("app").value_or("")));
    EXPECT_TRUE(stream.name_thread({1, 2}, "worker"));
    EXPECT_TRUE(stream.name_thread({1, 3}, "ended"));
    stream.forget_thread(3);
    ASSERT_TRUE(stream.switch_sink(second, SinkStart::reads_alone).has_value());
    ASSERT_TRUE(stream.close().has_value());

    const test::FxtFile file = test::parse_fxt(std::as_bytes(std::span(second.words)));
    EXPECT_TRUE(file.problems.empty());
    EXPECT_EQ(file.objects.size(), 2U);
    EXPECT_EQ(file.process_name(1), "app");
    EXPECT_EQ(file.thread_name(2), "worker");
}

TEST(FxtStream, WritesChunksOfAChunkedSinkThatReadAlone) {
    ChunkMemorySink chunks({.limits = {.chunk_bytes = 100'000}});
    Stream stream(chunks, {.provider_name = "tracer"});
    ASSERT_TRUE(stream.open().has_value());
    EXPECT_TRUE(stream.name_process(1, "app"));
    constexpr uint64_t kEvents = 50'000;
    for (uint64_t i = 0; i < kEvents; ++i) {
        ASSERT_TRUE(begin_chunk_if_due(chunks, stream).has_value());
        EXPECT_TRUE(stream.instant(kThread, "c", "n", i));
    }
    ASSERT_TRUE(stream.close().has_value());
    ASSERT_TRUE(chunks.close().has_value());
    uint64_t events = 0;
    size_t chunk_count = 0;
    for (auto chunk = chunks.pop(); chunk; chunk = chunks.pop(), ++chunk_count) {
        const test::FxtFile file = test::parse_fxt(chunk->bytes());
        EXPECT_TRUE(file.problems.empty());
        EXPECT_EQ(file.process_name(1), "app");
        for (const test::FxtEvent& event : file.events) EXPECT_EQ(event.time, events++);
    }
    EXPECT_EQ(events, kEvents);
    EXPECT_GT(chunk_count, 10U);
}

TEST(FxtStream, SaysNamesThatFoundNoRoomBeforeTheNextRecord) {
    OpenStream open({.window_bytes = 0});
    EXPECT_TRUE(open.stream.name_process(1, "app"));
    open.sink.is_full = true;
    EXPECT_FALSE(open.stream.begin_chunk().has_value());
    open.sink.is_full = false;
    static_cast<void>(std::exchange(open.sink.words, {}));
    EXPECT_TRUE(open.stream.instant(kThread, "c", "n", 1));
    const test::FxtFile file = test::parse_fxt(std::as_bytes(std::span(open.sink.words)));
    EXPECT_TRUE(file.problems.empty());
    EXPECT_EQ(file.process_name(1), "app");
    EXPECT_EQ(file.events.size(), 1U);
}

TEST(FxtStream, RefreshesAStaleBufferWhenItIsDue) {
    OpenStream open({.clock_base = ClockBase{.tick = 100, .wall_ns = 5}, .refresh_ticks = 1000});
    EXPECT_TRUE(open.stream.instant(kThread, {}, {}, 1));
    EXPECT_FALSE(open.stream.refresh_if_due({.tick = 1099, .wall_ns = 6}));
    EXPECT_FALSE(open.stream.refresh_if_due({.tick = 50, .wall_ns = 6}));
    EXPECT_TRUE(open.sink.words.empty());
    const size_t flushes = open.sink.flushes;
    EXPECT_TRUE(open.stream.refresh_if_due({.tick = 1100, .wall_ns = 7}));
    EXPECT_EQ(open.sink.flushes, flushes + 1);
    EXPECT_EQ(open.sink.words, (Words{0x44, 1, 1, 2, 0x41, 1000000000, 1100, 7}));
    EXPECT_FALSE(open.stream.refresh_if_due({.tick = 2099, .wall_ns = 8}));
    OpenStream never;
    EXPECT_FALSE(never.stream.refresh_if_due({.tick = UINT64_MAX, .wall_ns = 8}));
}

TEST(FxtWriter, GoesOnInAnotherSink) {
    for (const SinkStart start : {SinkStart::goes_on, SinkStart::reads_alone}) {
        MemorySink first;
        MemorySink second;
        const auto writer = find_format_by_name("fxt")->make_writer(first);
        ASSERT_TRUE(writer->open().has_value());
        constexpr model::ThreadIndex thread{0};
        constexpr model::PointIndex point{0};
        writer->define(model::Thread{.index = thread, .pid = 1, .tid = 1, .thread_name = "t"});
        writer->define(model::Point{.index = point, .category = "c", .name = "n"});
        ASSERT_EQ(writer->write({1, model::SpanBegin{point, thread, {}}}), WriteStatus::ok);
        ASSERT_TRUE(writer->switch_sink(second, start).has_value());
        const size_t bytes = first.bytes().size();
        ASSERT_EQ(writer->write({2, model::SpanEnd{.point = point, .thread = thread}}),
                  WriteStatus::ok);
        EXPECT_EQ(first.bytes().size(), bytes);
        if (start == SinkStart::goes_on) {
            EXPECT_EQ(second.bytes().size(), 16U) << "one event of two words";
            continue;
        }
        const test::FxtFile file = test::parse_fxt(second.bytes());
        EXPECT_TRUE(file.problems.empty());
        EXPECT_EQ(file.events.size(), 2U) << "the open span begins again";
    }
}

}  // namespace
}  // namespace tracer::fxt
