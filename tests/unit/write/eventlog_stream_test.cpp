// SPDX-License-Identifier: Apache-2.0
//
// Blocks over sinks that run full, open-ended blocks, and the log that stays in memory until the
// program takes it.
#include "eventlog_fixture.h"
#include "eventlog_sinks.h"
#include "tracer/write/eventlog/block_stream.h"
#include "tracer/write/eventlog/chunk_queue.h"
#include "tracer/write/eventlog/log.h"
#include "tracer/write/sinks.h"

#include <numeric>

#include <gtest/gtest.h>

namespace tracer::eventlog {
namespace {

using test::SharedBytes;
using enum EventId;

TEST(EventlogStream, CompletesABlockThatWasTakenInPart) {
    SharedBytes bytes;
    const auto sink = bytes.make_sink();
    BlockStream stream(*sink);
    ASSERT_TRUE(stream.write_header({}));
    BlockBuffer buffer(0, stream, {});
    ASSERT_TRUE(buffer.open(0));
    const size_t header_bytes = bytes.get().size();
    bytes.allow(header_bytes + ByteSink::kReserveBytesMax);
    for (uint64_t count = 0; count < 10'000; ++count) buffer.post<run_thread>(count, uint32_t{1});
    buffer.flush();
    EXPECT_EQ(stream.owed_bytes(), kBlockMarkerBytes + 140'000 - ByteSink::kReserveBytesMax);
    buffer.post<gc_start>(20'000);
    buffer.flush();
    EXPECT_EQ(buffer.counters().lost_no_room, 1U) << "whole, because the rest comes first";
    EXPECT_FALSE(stream.write_end());
    bytes.allow(SIZE_MAX);
    stream.flush();
    EXPECT_EQ(stream.owed_bytes(), 0U);
    buffer.close();
    ASSERT_TRUE(stream.write_end());
    const auto read = test::read_log(bytes.get());
    EXPECT_EQ(read.fault, "");
    ASSERT_EQ(read.events.size(), 10'001U);
    EXPECT_EQ(read.events.back().text(), "lost 1 events: the output had no room");
}

TEST(EventlogStream, DropsABlockWholeThatFindsNoRoom) {
    SharedBytes bytes;
    Log log({.capabilities = 1, .base_ns = 0});
    ASSERT_TRUE(log.start(bytes.make_sink()));
    log.flush();
    const size_t before = bytes.get().size();
    bytes.allow(before + 30);
    log.capability(0).post_gc_start(1);
    log.capability(0).post_gc_end(2);
    log.flush();
    EXPECT_EQ(bytes.get().size(), before) << "not a byte of it";
    bytes.allow(SIZE_MAX);
    log.capability(0).post_gc_start(3);
    ASSERT_TRUE(log.end());
    const auto read = test::read_log(bytes.get());
    EXPECT_EQ(read.fault, "");
    ASSERT_EQ(read.events.size(), 3U);
    EXPECT_EQ(read.events[1].text(), "lost 2 events: the output had no room");
    EXPECT_EQ(read.events[2].id, gc_start);
}

TEST(EventlogStream, WritesOpenEndedBlocks) {
    SharedBytes bytes;
    Log log({.block_mode = BlockMode::open_ended, .capabilities = 2, .base_ns = 0});
    ASSERT_TRUE(log.start(bytes.make_sink()));
    log.flush();
    for (uint64_t time_ns = 1; time_ns <= 3; ++time_ns) {
        log.capability(0).post_gc_start(time_ns);
        log.capability(0).flush();
    }
    EXPECT_EQ(test::read_log(bytes.get()).blocks, 2U) << "one marker for three flushes";
    log.capability(1).post_gc_start(4);
    log.capability(1).flush();
    log.capability(0).post_gc_end(5);
    ASSERT_TRUE(log.end());
    const auto read = test::read_log(bytes.get());
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.blocks, 4U);
    EXPECT_EQ(read.open_ended_blocks, 4U);
    std::vector<int> caps;
    for (const auto& event : read.events) caps.push_back(event.cap ? *event.cap : -1);
    EXPECT_EQ(caps, (std::vector{-1, -1, 0, 0, 0, 1, 0}));
}

TEST(EventlogStream, KeepsTheCapabilityOfBlocksAfterALoss) {
    SharedBytes bytes;
    const auto sink = bytes.make_sink();
    BlockStream stream(*sink, BlockMode::open_ended);
    ASSERT_TRUE(stream.write_header({}));
    BlockBuffer zero(0, stream, {});
    BlockBuffer one(1, stream, {});
    ASSERT_TRUE(zero.open(0) && one.open(0));
    zero.post<gc_start>(1);
    zero.flush();
    bytes.allow(bytes.get().size() + kBlockMarkerBytes + 5);  // a marker, and no event
    one.post<gc_start>(2);
    one.flush();
    EXPECT_EQ(one.counters().lost_no_room, 1U);
    bytes.allow(SIZE_MAX);
    zero.post<gc_end>(3);
    zero.flush();
    one.flush();
    const auto read = test::read_log(bytes.get());
    EXPECT_EQ(read.fault, "");
    ASSERT_EQ(read.events.size(), 3U);
    EXPECT_EQ(read.events[1].cap, 0);
    EXPECT_EQ(read.events[2].cap, 1);
}

TEST(EventlogStream, WritesOverTheOrdinarySinks) {
    auto owned = std::make_unique<MemorySink>();
    const MemorySink& sink = *owned;
    Log log({.capabilities = 1, .base_ns = 0});
    ASSERT_TRUE(log.start(std::move(owned)));
    log.capability(0).post_gc_start(1);
    log.flush();
    EXPECT_EQ(test::read_log(sink.bytes()).events.size(), 2U);
    ASSERT_TRUE(log.replace_sink(make_null_sink()));
}

std::vector<std::byte> joined(const std::vector<std::vector<std::byte>>& chunks) {
    std::vector<std::byte> all;
    for (const auto& chunk : chunks) all.insert(all.end(), chunk.begin(), chunk.end());
    return all;
}

TEST(EventlogChunkQueue, HandsOverFullChunks) {
    ChunkQueue queue({.chunk_bytes = 8192, .bytes_max = 1 << 20});
    LogOptions options{.capabilities = 1, .base_ns = 0};
    options.buffers.capacity_bytes = kCapacityBytesMin;
    Log log(options);
    EXPECT_TRUE(queue.pop().empty());
    ASSERT_TRUE(log.start(queue.make_sink()));
    EXPECT_TRUE(queue.pop().empty()) << "a chunk is not full with a header";
    std::vector<std::vector<std::byte>> chunks;
    for (uint64_t count = 1; count <= 10'000; ++count) {
        log.capability(0).post_run_thread(count, static_cast<ThreadId>(count));
        auto chunk = queue.pop();
        if (chunk.empty()) continue;
        EXPECT_LE(chunk.size(), 8192U);
        EXPECT_GT(chunk.size(), 8192U - kCapacityBytesMin);
        chunks.push_back(std::move(chunk));
    }
    EXPECT_GT(chunks.size(), 15U);
    ASSERT_TRUE(log.end());
    for (auto chunk = queue.pop(); !chunk.empty(); chunk = queue.pop()) chunks.push_back(chunk);
    EXPECT_EQ(queue.bytes(), 0U);
    const auto read = test::read_log(joined(chunks));
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.end_markers, 1U);
    EXPECT_EQ(read.events.size(), 10'001U);
}

TEST(EventlogChunkQueue, BoundsItsMemoryAndCountsTheLoss) {
    constexpr size_t kBytesMax = 40'000;
    ChunkQueue queue({.chunk_bytes = 8192, .bytes_max = kBytesMax});
    LogOptions options{.capabilities = 1, .base_ns = 0};
    options.buffers.capacity_bytes = kCapacityBytesMin;
    Log log(options);
    ASSERT_TRUE(log.start(queue.make_sink()));
    uint64_t posted = 1;  // CAP_CREATE
    const auto post_until = [&](uint64_t last) {
        for (; posted <= last; ++posted) log.capability(0).post_run_thread(posted, 1);
        EXPECT_LE(queue.bytes(), kBytesMax);
    };
    post_until(20'000);
    log.flush();
    std::vector<std::vector<std::byte>> chunks;
    for (auto chunk = queue.pop(); !chunk.empty(); chunk = queue.pop()) chunks.push_back(chunk);
    EXPECT_EQ(queue.bytes(), 0U);
    EXPECT_GT(joined(chunks).size(), kBytesMax - kCapacityBytesMin);
    post_until(20'100);
    ASSERT_TRUE(log.end());
    for (auto chunk = queue.pop(); !chunk.empty(); chunk = queue.pop()) chunks.push_back(chunk);

    const auto read = test::read_log(joined(chunks));
    EXPECT_EQ(read.fault, "");
    const auto counters = log.counters().blocks;
    EXPECT_GT(counters.lost_no_room, 10'000U);
    EXPECT_EQ(counters.events + counters.lost_no_room, posted);
    EXPECT_EQ(read.events.size(), counters.events + 1) << "and one that tells of the loss";
    const std::string lost = std::to_string(counters.lost_no_room);
    const auto told = std::find_if(read.events.begin(), read.events.end(),
                                   [](const auto& event) { return event.id == log_message; });
    ASSERT_NE(told, read.events.end());
    EXPECT_EQ(told->text(), "lost " + lost + " events: the output had no room");
}

TEST(EventlogChunkQueue, MayEndBeforeTheLog) {
    auto queue = std::make_unique<ChunkQueue>();
    Log log({.capabilities = 1});
    ASSERT_TRUE(log.start(queue->make_sink()));
    queue.reset();
    log.capability(0).post_gc_start(log.now_ns());
    EXPECT_TRUE(log.end());
}

}  // namespace
}  // namespace tracer::eventlog
