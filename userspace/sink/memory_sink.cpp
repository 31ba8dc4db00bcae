// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps everything in memory, in one piece that doubles. Relies on nothing; used by
// tests and snapshots.
#include "tracer/write/sinks.h"

#include <algorithm>
#include <cstring>

namespace tracer {

std::span<std::byte> MemorySink::reserve(size_t bytes) {
    if (bytes > kReserveBytesMax) return {};
    if (capacity_ - size_ < bytes && !grow(bytes)) return {};
    return {memory_.get() + size_, capacity_ - size_};
}

bool MemorySink::grow(size_t bytes) {
    if (bytes > bytes_max_ - size_) return false;
    const size_t doubled = std::max(2 * capacity_, 2 * kReserveBytesMax);
    const size_t capacity = std::min(std::max(doubled, size_ + bytes), bytes_max_);
    auto memory = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ != 0) std::memcpy(memory.get(), memory_.get(), size_);
    memory_ = std::move(memory);
    capacity_ = capacity;
    return true;
}

void MemorySink::commit(size_t bytes) {
    TR_CHECK(bytes <= capacity_ - size_);
    size_ += bytes;
}

}  // namespace tracer
