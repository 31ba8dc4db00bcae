// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps everything in memory. Relies on nothing; used by tests and snapshots.
#include "tracer/write/sinks.h"

namespace tracer {

std::span<std::byte> MemorySink::reserve(size_t bytes) {
    if (bytes > kReserveBytesMax || bytes > bytes_max_ - bytes_.size()) return {};
    reserved_.resize(bytes);
    return reserved_;
}

void MemorySink::commit(size_t bytes) {
    TR_CHECK(bytes == reserved_.size());
    bytes_.insert(bytes_.end(), reserved_.begin(), reserved_.end());
}

}  // namespace tracer
