// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/chunk_memory_sink.h"

#include "tracer/write/chunk_switch.h"
#include "unit/session/wait_until.h"
#include "unit/sink/sink_test_support.h"

#include <atomic>
#include <iterator>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::event_at;
using test::kBufferBytes;
using test::put;
using test::read_records;
using test::RecordKind;
using test::RecordWriter;
using test::text_of;
using test::wait_until;

ChunkMemoryOptions every(uint64_t chunk_bytes, size_t bytes_max = 64 << 20) {
    return {.limits = {.chunk_bytes = chunk_bytes}, .bytes_max = bytes_max};
}

TEST(ChunkMemorySink, PopsFullChunksOldestFirstAndNothingElse) {
    ChunkMemorySink sink(every(1000));
    RecordWriter writer(sink);
    ASSERT_TRUE(writer.open().has_value());
    EXPECT_FALSE(sink.pop().has_value()) << "the current one is not full";
    for (uint64_t i = 0; i < 100; ++i) {
        ASSERT_TRUE(begin_chunk_if_due(sink, writer).has_value());
        ASSERT_EQ(writer.write(event_at(i)), WriteStatus::ok);
    }
    const size_t waiting = sink.waiting_count();
    EXPECT_EQ(waiting + 1, writer.openings);
    ASSERT_TRUE(sink.close().has_value());
    EXPECT_EQ(sink.waiting_count(), waiting + 1) << "close hands over the last";
    uint64_t openings = 0;
    uint64_t events = 0;
    unsigned long long bytes = 0;
    while (auto chunk = sink.pop()) {
        bytes += chunk->size;
        const auto records = read_records(text_of(chunk->bytes()));
        ASSERT_GT(records.size(), 1U);
        EXPECT_EQ(records[0].kind, RecordKind::opening);
        EXPECT_EQ(records[0].number, openings++);
        for (size_t i = 1; i < records.size(); ++i) EXPECT_EQ(records[i].number, events++);
    }
    EXPECT_EQ(openings, waiting + 1);
    EXPECT_EQ(events, 100U);
    EXPECT_EQ(bytes, sink.bytes_committed());
    EXPECT_EQ(sink.loss().refused_reservations, 0U);
}

TEST(ChunkMemorySink, TheOwnerMayEndAChunkAtAnyBoundary) {
    ChunkMemorySink sink(every(0));
    ASSERT_TRUE(sink.next_chunk().has_value());
    EXPECT_FALSE(sink.pop().has_value()) << "nothing was in it";
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(put(sink, 'a'));
    EXPECT_FALSE(sink.chunk_is_due());
    ASSERT_TRUE(sink.next_chunk().has_value());
    ASSERT_TRUE(put(sink, 'b', 8));
    const auto chunk = sink.pop();
    ASSERT_TRUE(chunk.has_value());
    EXPECT_EQ(text_of(chunk->bytes()), std::string(1000 * test::kRecordBytes, 'a'));
    EXPECT_FALSE(sink.pop().has_value());
}

TEST(ChunkMemorySink, AChunkEndsAtItsAge) {
    ChunkMemorySink sink({.limits = {.chunk_age_ns = 1'000'000}});
    EXPECT_FALSE(sink.chunk_is_due_at(5000));
    ASSERT_TRUE(put(sink, 'a'));
    EXPECT_FALSE(sink.chunk_is_due_at(1'004'999));
    EXPECT_TRUE(sink.chunk_is_due_at(1'005'000));
    EXPECT_TRUE(wait_until([&] { return sink.chunk_is_due(); }));
}

TEST(ChunkMemorySink, PastTheBoundNewRecordsAreLostUntilAPop) {
    ChunkMemorySink sink(every(kBufferBytes, 1));  // two chunks and two largest records are taken
    RecordWriter writer(sink);
    ASSERT_TRUE(writer.open().has_value());
    uint64_t written = 0;
    const auto write = [&] {
        EXPECT_TRUE(begin_chunk_if_due(sink, writer).has_value());
        return writer.write(event_at(written)) == WriteStatus::ok;
    };
    while (write()) ++written;
    EXPECT_GT(sink.bytes_committed(), 2 * kBufferBytes);
    EXPECT_LE(sink.bytes_committed(), 4 * kBufferBytes);
    EXPECT_EQ(sink.waiting_count(), 1U);
    const ChunkMemoryLoss loss = sink.loss();
    EXPECT_EQ(loss.refused_reservations, 1U);
    EXPECT_EQ(loss.refused_bytes, 16 + written % 37 * 8);
    EXPECT_EQ(loss.dropped_chunks, 0U);
    EXPECT_FALSE(write());
    EXPECT_EQ(sink.loss().refused_reservations, 2U);
    EXPECT_EQ(writer.counters().no_room, 2U);
    EXPECT_TRUE(sink.health().has_value()) << "full is not broken";

    ASSERT_TRUE(sink.pop().has_value());
    EXPECT_TRUE(write());
    EXPECT_EQ(writer.openings, 3U);
}

TEST(ChunkMemorySink, AFlightRecorderDropsTheOldestChunks) {
    constexpr size_t kBytesMax = 10 * kBufferBytes;
    ChunkMemoryOptions options = every(kBufferBytes, kBytesMax);
    options.drop_oldest = true;
    ChunkMemorySink sink(options);
    RecordWriter writer(sink);
    ASSERT_TRUE(writer.open().has_value());
    constexpr uint64_t kEvents = 20'000;
    for (uint64_t i = 0; i < kEvents; ++i) {
        ASSERT_TRUE(begin_chunk_if_due(sink, writer).has_value());
        ASSERT_EQ(writer.write(event_at(i)), WriteStatus::ok);
    }
    ASSERT_TRUE(sink.close().has_value());
    EXPECT_EQ(sink.loss().dropped_chunks + sink.waiting_count(), writer.openings);
    EXPECT_GT(sink.loss().dropped_chunks, 0U);
    EXPECT_EQ(sink.loss().refused_reservations, 0U);
    unsigned long long kept = 0;
    size_t memory = 0;
    uint64_t expected = 0;
    while (auto chunk = sink.pop()) {
        kept += chunk->size;
        memory += chunk->capacity;
        const auto records = read_records(text_of(chunk->bytes()));
        if (expected == 0) expected = records.at(1).number;
        for (size_t i = 1; i < records.size(); ++i) ASSERT_EQ(records[i].number, expected++);
    }
    EXPECT_EQ(expected, kEvents);
    EXPECT_LE(memory, kBytesMax);
    EXPECT_GT(memory, kBytesMax / 2);
    EXPECT_EQ(kept + sink.loss().dropped_bytes, sink.bytes_committed());
}

TEST(ChunkMemorySink, AChunkEndedEarlyHoldsNoMemoryForNothing) {
    ChunkMemorySink sink(every(1 << 20, 4 << 20));
    // Would not fit if each kept the place of a whole chunk.
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(put(sink, 'a'));
        ASSERT_TRUE(sink.next_chunk().has_value());
    }
    const auto chunk = sink.pop();
    ASSERT_TRUE(chunk.has_value());
    EXPECT_EQ(chunk->size, test::kRecordBytes);
    EXPECT_EQ(chunk->capacity, chunk->size);
}

TEST(ChunkMemorySink, AnOpeningLargerThanAChunkFits) {
    ChunkMemorySink sink(every(1000));
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(put(sink, 'd', kBufferBytes));
    EXPECT_TRUE(sink.chunk_is_due());
    ASSERT_TRUE(sink.next_chunk().has_value());
    EXPECT_EQ(sink.pop()->size, 30 * kBufferBytes);
}

TEST(ChunkMemorySink, ACurrentChunkLeavesRoomForTheNext) {
    // An owner that never begins a chunk fills the memory but for one chunk's beginning.
    ChunkMemorySink sink(every(kBufferBytes, 8 * kBufferBytes));
    while (put(sink, 'a')) continue;
    EXPECT_EQ(sink.bytes_committed(), 6 * kBufferBytes);
    EXPECT_TRUE(sink.chunk_is_due());
    ASSERT_TRUE(sink.next_chunk().has_value());
    EXPECT_TRUE(put(sink, 'b'));
}

TEST(ChunkMemorySink, RefusesReservationsBeyondTheContractAndAfterClose) {
    ChunkMemorySink sink(every(1 << 20));
    EXPECT_TRUE(put(sink, 'a', ByteSink::kReserveBytesMax));
    EXPECT_TRUE(sink.reserve(ByteSink::kReserveBytesMax + 8).empty());
    ASSERT_TRUE(sink.close().has_value());
    EXPECT_TRUE(sink.reserve(8).empty());
    EXPECT_EQ(sink.loss().refused_reservations, 0U) << "not for want of memory";
}

TEST(ChunkMemorySink, ManyThreadsPopWhatOneWrites) {
    ChunkMemorySink sink(every(4096, 1 << 20));
    RecordWriter writer(sink);
    ASSERT_TRUE(writer.open().has_value());
    constexpr uint64_t kEvents = 50'000;
    std::atomic<bool> is_over{false};
    std::mutex mutex;
    std::vector<uint64_t> found;
    const auto drain = [&] {
        bool is_last = false;
        while (!is_last) {
            is_last = is_over;  // before the pop: nothing comes after it
            while (auto chunk = sink.pop()) {
                const auto records = read_records(text_of(chunk->bytes()));
                const std::lock_guard lock(mutex);
                for (const auto& record : records) {
                    if (record.kind == RecordKind::event) found.push_back(record.number);
                }
            }
            std::this_thread::yield();
        }
    };
    std::thread one(drain);
    std::thread other(drain);
    for (uint64_t i = 0; i < kEvents; ++i) {
        EXPECT_TRUE(wait_until([&] {
            return begin_chunk_if_due(sink, writer).has_value() &&
                   writer.write(event_at(i)) == WriteStatus::ok;
        }));
    }
    EXPECT_TRUE(sink.close().has_value());
    is_over = true;
    one.join();
    other.join();
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found.size(), kEvents);
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
    EXPECT_EQ(found.back(), kEvents - 1);
}

}  // namespace
}  // namespace tracer
