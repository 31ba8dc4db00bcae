// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/output_file.h"
#include "tracer/base/result.h"
#include "tracer/write/sinks.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tracer {

// One buffer of whole records. Belongs to the producer while it is filled and to the queue from
// push() on.
struct IoBuffer {
    explicit IoBuffer(size_t bytes)
        : memory(std::make_unique_for_overwrite<std::byte[]>(bytes)), size(bytes) {
        marks.reserve(bytes / kMarkBytes);
    }
    std::unique_ptr<std::byte[]> memory;
    size_t size;
    size_t used = 0;
    // Some ends of records, in order, at least kMarkBytes apart: where the file may be cut when
    // the disk fills up in the middle of this buffer.
    std::vector<uint32_t> marks;

    static constexpr size_t kMarkBytes = 4096;
};

// Writes buffers to a descriptor in a thread of its own. One producer calls acquire, push and
// close; health() may be called from any thread.
class IoQueue {
public:
    // `label` names the destination in errors.
    IoQueue(OutputFile file, std::string label, const FileSinkOptions& options);
    ~IoQueue();
    IoQueue(const IoQueue&) = delete;
    IoQueue& operator=(const IoQueue&) = delete;

    // An empty buffer; nullptr when all are filled or waiting, or when writing has failed.
    [[nodiscard]] std::unique_ptr<IoBuffer> acquire();
    [[nodiscard]] bool can_acquire() const;
    // What is pushed from now on would be dropped. Cheap enough to ask for each record.
    [[nodiscard]] bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
    void push(std::unique_ptr<IoBuffer> buffer);

    // Waits until all that was pushed is written, then closes the descriptor.
    [[nodiscard]] Status close();
    [[nodiscard]] Status health() const;

private:
    void start();
    void run();
    [[nodiscard]] Status write_buffer(const IoBuffer& buffer);
    // Bytes written; fewer than asked only with an error.
    [[nodiscard]] Status write_all(std::span<const std::byte> bytes, size_t& written);
    void preallocate(size_t bytes);
    void cut_to_whole_records(const IoBuffer& buffer, size_t written);
    [[nodiscard]] Status finish();
    void remember(const Status& status);

    OutputFile file_;
    const std::string label_;
    const size_t buffer_bytes_;
    const size_t buffer_count_;
    const bool is_real_time_;
    // Of the thread alone.
    uint64_t file_bytes_ = 0;
    uint64_t allocated_bytes_ = 0;
    bool may_preallocate_ = false;

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::deque<std::unique_ptr<IoBuffer>> full_;
    std::vector<std::unique_ptr<IoBuffer>> free_;
    size_t made_count_ = 0;  // buffers there are, wherever
    bool is_closing_ = false;
    std::optional<Error> error_;  // the first

    std::atomic<bool> has_failed_{false};  // error_ is set
    std::thread thread_;
};

}  // namespace tracer
