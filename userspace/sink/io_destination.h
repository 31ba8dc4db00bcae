// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
    // Its first byte is the first of a chunk that began at this CLOCK_REALTIME.
    std::optional<int64_t> chunk_start_ns;

    static constexpr size_t kMarkBytes = 4096;
};

// What the thread of an IoQueue writes to: an open file, a row of files, a socket. Made by the
// producer; from then on the queue's thread alone calls write() and service(), and the producer
// calls finish() when that thread has ended.
class IoDestination {
public:
    using Clock = std::chrono::steady_clock;

    virtual ~IoDestination() = default;

    // Takes the whole buffer. The first error ends all writing: the queue calls no write() or
    // service() after it.
    [[nodiscard]] virtual Status write(const IoBuffer& buffer) = 0;

    // Of the buffer whose write() failed, what was taken nevertheless and stays.
    [[nodiscard]] virtual uint64_t bytes_of_failed_write() const { return 0; }

    // When service() is wanted even if nothing more comes; empty: not at all.
    [[nodiscard]] virtual std::optional<Clock::time_point> service_due() const { return {}; }
    [[nodiscard]] virtual Status service() { return {}; }

    // The producer waits for the end from now on. Comes from its thread, while write() may run.
    virtual void begin_close() {}

    // Ends the destination, once, after errors too.
    [[nodiscard]] virtual Status finish() = 0;
};

}  // namespace tracer
