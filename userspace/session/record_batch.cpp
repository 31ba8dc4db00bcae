// SPDX-License-Identifier: Apache-2.0
//
// Records of userspace's own among those of the kernel: one block of bytes and an index sorted by
// time, so that a batch of many costs few allocations. Used by the drain thread and by conversions.
#include "session/record_batch.h"

#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracer {

size_t RecordBatch::begin_record(uint64_t time_ns, size_t size) {
    const size_t at = bytes_.size();
    entries_.push_back({time_ns, at, static_cast<uint32_t>(size)});
    bytes_.resize(at + size);
    return at;
}

void RecordBatch::put(size_t at, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
}

void RecordBatch::sort() {
    forget_written();
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.time_ns < b.time_ns; });
}

// Some are always younger than what may be written: a batch of a busy program is never empty.
void RecordBatch::forget_written() {
    if (next_ == 0) return;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<long>(next_));
    next_ = 0;
    std::vector<std::byte> bytes;
    for (Entry& entry : entries_) {
        const auto from = bytes_.begin() + static_cast<long>(entry.offset);
        entry.offset = bytes.size();
        bytes.insert(bytes.end(), from, from + entry.size);
    }
    bytes_ = std::move(bytes);
}

void RecordBatch::write_up_to(uint64_t time_ns, RecordHandler& handler) {
    const std::span<const std::byte> bytes = bytes_;
    for (; next_ < entries_.size() && entries_[next_].time_ns <= time_ns; ++next_) {
        handler.on_record(bytes.subspan(entries_[next_].offset, entries_[next_].size));
    }
    if (!is_empty()) return;
    bytes_.clear();
    entries_.clear();
    next_ = 0;
}

void BatchMerge::on_record(std::span<const std::byte> record) {
    tr_record_header header{};
    if (ByteCursor(record).read(header)) batch_.write_up_to(header.time_ns, handler_);
    handler_.on_record(record);
}

void BatchMerge::on_records(std::span<const RecordView> records) {
    if (batch_.is_empty()) {
        handler_.on_records(records);
        return;
    }
    for (const RecordView& view : records) on_record(view.bytes());
}

}  // namespace tracer
