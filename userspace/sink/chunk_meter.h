// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/chunked_sink.h"

#include <cstdint>
#include <ctime>
#include <optional>

namespace tracer {

// Nanoseconds of CLOCK_MONOTONIC_COARSE: a few instructions, steps of some milliseconds.
[[nodiscard]] inline uint64_t coarse_now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

// Says when a chunk has had its size or its age. Of the producing thread.
class ChunkMeter {
public:
    explicit ChunkMeter(const ChunkLimits& limits) : limits_(limits) { restart(0); }

    // A chunk begins after `bytes_now` bytes of the whole output.
    void restart(uint64_t bytes_now) {
        first_byte_ = bytes_now;
        start_ns_ = limits_.chunk_age_ns != 0 ? coarse_now_ns() : 0;
        caller_start_ns_.reset();
    }

    [[nodiscard]] bool is_empty(uint64_t bytes_now) const { return bytes_now == first_byte_; }

    [[nodiscard]] bool is_due(uint64_t bytes_now) const {
        if (is_empty(bytes_now)) return false;
        return is_long(bytes_now) ||
               (limits_.chunk_age_ns != 0 && coarse_now_ns() - start_ns_ >= limits_.chunk_age_ns);
    }

    [[nodiscard]] bool is_due_at(uint64_t bytes_now, uint64_t now_ns) {
        if (!caller_start_ns_) caller_start_ns_ = now_ns;
        if (is_empty(bytes_now)) return false;
        // Events of one thread may be a little older than what another has said before.
        const uint64_t age_ns = now_ns > *caller_start_ns_ ? now_ns - *caller_start_ns_ : 0;
        return is_long(bytes_now) || (limits_.chunk_age_ns != 0 && age_ns >= limits_.chunk_age_ns);
    }

private:
    [[nodiscard]] bool is_long(uint64_t bytes_now) const {
        return limits_.chunk_bytes != 0 && bytes_now - first_byte_ >= limits_.chunk_bytes;
    }

    const ChunkLimits limits_;
    uint64_t first_byte_ = 0;
    uint64_t start_ns_ = 0;
    std::optional<uint64_t> caller_start_ns_;
};

}  // namespace tracer
