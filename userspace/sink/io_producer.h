// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/io_queue.h"
#include "tracer/write/byte_sink.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace tracer {

// The half of a queued sink that its writer sees: reserve and commit move a position in a buffer,
// and a full buffer goes to the queue's thread. The functions mean what those of ByteSink mean; a
// sink over a queue is this and a destination.
class IoProducer {
public:
    IoProducer(std::unique_ptr<IoDestination> destination, const IoQueueOptions& options)
        : queue_(std::make_unique<IoQueue>(std::move(destination), options)) {}
    ~IoProducer();
    IoProducer(const IoProducer&) = delete;
    IoProducer& operator=(const IoProducer&) = delete;

    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) {
        if (static_cast<size_t>(end_ - next_) < bytes || queue_->has_failed()) [[unlikely]] {
            if (bytes > ByteSink::kReserveBytesMax || !next_buffer()) return {};
        }
        return {next_, end_};
    }

    void commit(size_t bytes) {
        next_ += bytes;
        if (next_ >= next_mark_) [[unlikely]]
            mark();
    }

    // Leaves the partial buffer where it is when no other is free: the thread has enough to do.
    void flush() {
        if (queue_->can_acquire()) push_partial();
    }

    [[nodiscard]] size_t change_buffers(size_t bytes) { return queue_->change_buffers(bytes); }

    [[nodiscard]] Status close();
    [[nodiscard]] Status health() const { return queue_->health(); }
    [[nodiscard]] unsigned long long bytes_committed() const {
        return committed_.load(std::memory_order_relaxed);
    }

    // After close().
    [[nodiscard]] unsigned long long bytes_written() const { return queue_->bytes_written(); }

    // As bytes_committed(), to the last byte; for the producing thread alone.
    [[nodiscard]] unsigned long long bytes_now() const {
        return bytes_committed() + static_cast<size_t>(next_ - counted_);
    }

    // What is committed from now on belongs to another chunk, in a buffer of its own.
    void begin_chunk();
    // Whether a chunk's opening would find room.
    [[nodiscard]] bool can_begin_chunk() const { return queue_->can_acquire(); }

private:
    [[nodiscard]] bool next_buffer();
    void mark();
    void count();
    void push_partial();

    std::unique_ptr<IoQueue> queue_;
    std::unique_ptr<IoBuffer> buffer_;
    std::byte* next_ = nullptr;       // first free byte of the buffer
    std::byte* end_ = nullptr;        // of the buffer
    std::byte* next_mark_ = nullptr;  // mark() is due when next_ gets here
    std::byte* counted_ = nullptr;    // up to here in committed_
    std::atomic<unsigned long long> committed_{0};
    std::optional<int64_t> chunk_start_ns_;  // for the next buffer
    bool is_closed_ = false;
};

}  // namespace tracer
