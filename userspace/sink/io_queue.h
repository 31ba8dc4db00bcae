// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/io_destination.h"
#include "tracer/base/result.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace tracer {

struct IoQueueOptions {
    size_t buffer_bytes = 0;   // of one buffer; at least ByteSink::kReserveBytesMax are taken
    size_t buffer_count = 0;   // filled or waiting at once; at least 1 is taken
    size_t buffers_ready = 0;  // as in FileSinkOptions
    bool real_time = false;    // the same
};

// Hands buffers to a destination in a thread of its own. One producer calls acquire, push and
// close; health() may be called from any thread.
class IoQueue {
public:
    IoQueue(std::unique_ptr<IoDestination> destination, const IoQueueOptions& options);
    ~IoQueue();
    IoQueue(const IoQueue&) = delete;
    IoQueue& operator=(const IoQueue&) = delete;

    // An empty buffer; nullptr when all are filled or waiting, or when writing has failed.
    [[nodiscard]] std::unique_ptr<IoBuffer> acquire();
    [[nodiscard]] bool can_acquire() const;
    // What is pushed from now on would be dropped. Cheap enough to ask for each record.
    [[nodiscard]] bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
    void push(std::unique_ptr<IoBuffer> buffer);

    // As ByteSink's.
    [[nodiscard]] size_t change_buffers(size_t bytes);

    // Waits until all that was pushed is written, as long as the destination does, and finishes
    // the destination.
    [[nodiscard]] Status close();

    // Whether this is the copy in a child of fork(): its thread is the parent's alone, its locks
    // may be held for ever, and what it holds is the parent's to write.
    [[nodiscard]] bool is_copy() const;
    // Closes a copy's descriptors. All that can be done with it then is to leave its memory be:
    // even the destructor would wait for the thread.
    void abandon() { destination_.reset(); }
    [[nodiscard]] Status health() const;
    // What the destination took; after close().
    [[nodiscard]] unsigned long long bytes_written() const { return bytes_written_; }

private:
    void make_ready(size_t buffers);
    void start();
    void run();
    void write(const IoBuffer& buffer);
    void remember(const Status& status);

    std::unique_ptr<IoDestination> destination_;
    const size_t buffer_bytes_;
    const bool is_real_time_;
    const pid_t process_;
    bool is_finished_ = false;              // of the producer alone
    unsigned long long bytes_written_ = 0;  // of the thread, and once it has ended of the producer

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::deque<std::unique_ptr<IoBuffer>> full_;
    std::vector<std::unique_ptr<IoBuffer>> free_;
    size_t buffer_count_;    // there may be
    size_t made_count_ = 0;  // there are, wherever
    bool is_closing_ = false;
    std::optional<Error> error_;  // the first

    std::atomic<bool> has_failed_{false};  // error_ is set
    std::thread thread_;
};

}  // namespace tracer
