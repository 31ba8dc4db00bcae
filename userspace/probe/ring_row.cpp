// SPDX-License-Identifier: Apache-2.0
//
// Several rings read as one. Used by kernel_recorder.cpp for each CPU.
#include "probe/ring_row.h"

#include <algorithm>

namespace tracer {

void RingRow::add(BpfRing ring) {
    auto one = std::make_unique<One>(std::move(ring));
    const std::scoped_lock lock(mutex_);
    rings_.push_back(std::move(one));
}

const BpfRing& RingRow::newest() const {
    const std::scoped_lock lock(mutex_);
    return rings_.back()->ring;
}

uint64_t RingRow::old_bytes() const {
    const std::scoped_lock lock(mutex_);
    uint64_t bytes = 0;
    for (size_t i = 0; i + 1 < rings_.size(); ++i) bytes += rings_[i]->ring.bytes();
    return bytes;
}

void RingRow::retire_before_newest(uint64_t now_ns) {
    const std::scoped_lock lock(mutex_);
    for (size_t i = 0; i + 1 < rings_.size(); ++i) {
        uint64_t in_use = 0;
        rings_[i]->retired_ns.compare_exchange_strong(in_use, now_ns);
    }
}

void RingRow::peek(size_t count_max, std::vector<RecordView>& out) {
    for (const auto& one : rings_) {
        const size_t before = out.size();
        one->ring.peek(count_max, out);
        const size_t got = out.size() - before;
        if (got > 0) {
            peeked_.push_back({one.get(), got});
            count_max -= got;
        }
        // What is in a newer ring comes later; one record may still be in the making here.
        if (count_max == 0 || one->ring.has_unpeeked()) return;
    }
}

void RingRow::release(size_t count) {
    while (count > 0 && !peeked_.empty()) {
        Run& run = peeked_.front();
        const size_t part = std::min(count, run.count);
        run.one->ring.release(part);
        run.count -= part;
        count -= part;
        if (run.count == 0) peeked_.pop_front();
    }
}

double RingRow::fill() const {
    double most = 0;
    for (const auto& one : rings_) {
        most = std::max(
            most, static_cast<double>(one->ring.fill()) / static_cast<double>(one->ring.bytes()));
    }
    return most;
}

void RingRow::prune(uint64_t now_ns) {
    while (rings_.size() > 1) {
        const One& oldest = *rings_.front();
        const uint64_t retired_ns = oldest.retired_ns.load();
        const bool is_over = retired_ns != 0 && now_ns > retired_ns + kStragglersNs;
        // Nothing in it, so nothing of it is peeked.
        if (!is_over || oldest.ring.fill() != 0) return;
        const std::scoped_lock lock(mutex_);
        rings_.erase(rings_.begin());
    }
}

}  // namespace tracer
