// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/chunked_sink.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace tracer {

struct ChunkMemoryOptions {
    // With chunk_bytes 0 and no age a chunk ends only at the owner's next_chunk().
    ChunkLimits limits{.chunk_bytes = 1 << 20};
    // Memory of all chunks, the one being written included. At least two chunks of chunk_bytes (of
    // 64 KiB if that is 0) and 64 KiB more each are taken, so that one can be popped while the next
    // is written. Passed only while a chunk is moved to a larger or smaller place.
    size_t bytes_max = 64 << 20;
    // What loses when the memory is used up. false: what is new; there is no room until the program
    // pops. true: what is old; the oldest waiting chunks are dropped whole (a flight recorder).
    bool drop_oldest = false;
};

// One chunk: whole records that read alone. Its memory is the holder's.
struct MemoryChunk {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;      // bytes of records
    size_t capacity = 0;  // bytes of memory; size is more than half of it
    [[nodiscard]] std::span<const std::byte> bytes() const { return {memory.get(), size}; }
};

// What was not kept. Monotonic.
struct ChunkMemoryLoss {
    uint64_t refused_reservations = 0;  // no room, or no memory from the system
    uint64_t refused_bytes = 0;         // as asked for
    uint64_t dropped_chunks = 0;        // drop_oldest
    uint64_t dropped_bytes = 0;
};

// Keeps chunks in memory until the program pops them; no file, no thread. One producer, as for
// every ByteSink; pop(), loss(), waiting_count(), health() and bytes_committed() from any thread
// and as many threads as wished. Whoever pops has the chunk for good. The chunk being written is
// handed over by next_chunk(), or by close() if it is the last; flush() hands over nothing, since a
// chunk may only end where the owner begins another. Never fails: health() and close() are always
// good.
class ChunkMemorySink final : public ChunkedSink {
public:
    explicit ChunkMemorySink(const ChunkMemoryOptions& options);
    ~ChunkMemorySink() override;
    ChunkMemorySink(const ChunkMemorySink&) = delete;
    ChunkMemorySink& operator=(const ChunkMemorySink&) = delete;

    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override;
    void commit(size_t bytes) override;
    void flush() override {}
    [[nodiscard]] Status close() override;
    [[nodiscard]] Status health() const override { return {}; }
    [[nodiscard]] unsigned long long bytes_committed() const override {
        return committed_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] bool chunk_is_due() override;
    [[nodiscard]] bool chunk_is_due_at(uint64_t now_ns) override;
    [[nodiscard]] Status next_chunk() override;

    // The oldest full chunk; none: there is none yet. Also after close().
    [[nodiscard]] std::optional<MemoryChunk> pop();
    [[nodiscard]] size_t waiting_count() const;
    [[nodiscard]] ChunkMemoryLoss loss() const;

private:
    class Meter;

    [[nodiscard]] bool grow(size_t bytes);
    [[nodiscard]] bool claim(size_t capacity, size_t released);
    [[nodiscard]] bool has_room_for_another() const;
    [[nodiscard]] uint64_t bytes_now() const { return bytes_committed(); }
    void hand_over();

    const size_t first_capacity_;
    const size_t bytes_max_;
    const bool may_drop_;
    std::unique_ptr<Meter> meter_;
    MemoryChunk current_;  // of the producer
    bool is_closed_ = false;
    std::atomic<unsigned long long> committed_{0};

    mutable std::mutex mutex_;  // guards what follows
    std::deque<MemoryChunk> waiting_;
    size_t claimed_bytes_ = 0;  // capacity of `waiting_` and of `current_`
    ChunkMemoryLoss loss_;
};

}  // namespace tracer
