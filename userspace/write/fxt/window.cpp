// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing a window over a sink. Relies on the sink's promise of aligned memory that
// stays until it is committed. Called once a window, by whoever writes records.
#include "tracer/write/fxt/window.h"

#include <algorithm>

namespace tracer::fxt {

uint64_t* SinkWindow::refill(size_t words) {
    release();
    const size_t bytes = words * kWordBytes;
    if (bytes > ByteSink::kReserveBytesMax) return nullptr;
    const std::span<std::byte> room = sink_->reserve(bytes);
    if (room.empty()) return nullptr;
    void* memory = room.data();
    TR_CHECK(room.size() >= bytes && reinterpret_cast<uintptr_t>(memory) % kWordBytes == 0);
    // Not more than asked for, where the sink has more: it should not fall behind without limit.
    const size_t usable = std::min(room.size(), std::max(window_bytes_, bytes));
    begin_ = next_ = static_cast<uint64_t*>(memory);
    end_ = begin_ + usable / kWordBytes;
    return next_;
}

void SinkWindow::release() {
    if (next_ != begin_) sink_->commit(static_cast<size_t>(next_ - begin_) * kWordBytes);
    begin_ = next_ = end_ = nullptr;
}

}  // namespace tracer::fxt
