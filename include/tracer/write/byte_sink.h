// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tracer {

// Where a writer's bytes go. Contract: reserve(n), fill m bytes from the start of what it gave,
// commit(m). What is committed at once is whole records, so that no record is ever cut in half. One
// producing thread. A sink never blocks in reserve(): when it cannot take more (a full disk, a slow
// reader) it returns an empty span and the writer counts the loss.
class ByteSink {
public:
    virtual ~ByteSink() = default;

    // Memory for the next bytes, 8-byte aligned as long as every commit is a multiple of 8; valid
    // until commit() or the next reserve(), which forgets one that was not committed. Empty: no
    // room now. Else at least `bytes` bytes (at most kReserveBytesMax); a sink that has the rest
    // of a buffer to give may give it, which lets a writer put many records into one reservation.
    // While one is open nothing but health() and bytes_committed() may be called.
    [[nodiscard]] virtual std::span<std::byte> reserve(size_t bytes) = 0;

    // `bytes` is at most the size of the span that reserve() returned.
    virtual void commit(size_t bytes) = 0;

    // Copies bytes of any number and says how many of them it took, from the front: all, or fewer
    // when room ran out between. For what is longer than one reservation; a caller whose records
    // must stay whole brings the rest before anything else.
    [[nodiscard]] virtual size_t write(std::span<const std::byte> bytes) {
        size_t taken = 0;
        while (taken < bytes.size()) {
            const size_t count = std::min(bytes.size() - taken, kReserveBytesMax);
            const std::span<std::byte> room = reserve(count);
            if (room.empty()) break;
            std::memcpy(room.data(), bytes.data() + taken, count);
            commit(count);
            taken += count;
        }
        return taken;
    }

    // Hands what is committed to the destination without waiting for it.
    virtual void flush() = 0;

    // Of a sink with buffers between it and its destination: how many bytes of them there may be
    // from now on, rounded to whole ones, of which there are at least two; 0: as it is. What is in
    // them stays, and memory that is too much goes as soon as it is written. Returns what it is
    // now, 0: there are none. Of the producing thread.
    [[nodiscard]] virtual size_t change_buffers(size_t /*bytes*/) { return 0; }

    // Writes everything out and ends. The first error of the whole life (ENOSPC, EPIPE, ...), if
    // there was one. Later calls of any function but the destructor are errors of ours.
    [[nodiscard]] virtual Status close() = 0;

    // The error that made the sink refuse, empty what if none so far. Any thread.
    [[nodiscard]] virtual Status health() const = 0;

    // Committed so far; may lag a few KiB behind until flush() or close(). Any thread.
    [[nodiscard]] virtual unsigned long long bytes_committed() const = 0;

    // After close(): how many of those committed are at their destination. All of them but after an
    // error, when what was on its way is gone.
    [[nodiscard]] virtual unsigned long long bytes_written() const { return bytes_committed(); }

    static constexpr size_t kReserveBytesMax = 64 * 1024;
};

// What a writer does first in the sink it is switched to.
enum class SinkStart : uint8_t {
    reads_alone,  // begins a chunk: header and live definitions
    goes_on,      // nothing: the bytes continue those in the sink before
};

}  // namespace tracer
