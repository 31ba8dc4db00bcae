// SPDX-License-Identifier: Apache-2.0
//
// Reservations are filled with a pattern first, so that bytes a writer forgot are seen.
#include "support/byte_vector_sink.h"

namespace tracer::test {

std::span<std::byte> ByteVectorSink::reserve(size_t bytes) {
    TR_CHECK(bytes != 0 && bytes <= kReserveBytesMax && bytes % 8 == 0);
    if (is_full_) return {};
    reserved_.assign(bytes, std::byte{0xa5});
    return reserved_;
}

void ByteVectorSink::commit(size_t bytes) {
    TR_CHECK(bytes == reserved_.size());
    bytes_.insert(bytes_.end(), reserved_.begin(), reserved_.end());
    reserved_.clear();
    ++commits_;
}

}  // namespace tracer::test
