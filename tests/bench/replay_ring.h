// SPDX-License-Identifier: Apache-2.0
//
// BPF rings without a kernel behind them: the same shared memory, filled by the benchmark, so that
// draining can be measured alone, as often as wanted and without rights.
#pragma once

#include "capture/record_source.h"
#include "probe/bpf_ring.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tracer::bench {

// The producing side of one ring, which lives in an anonymous file of the ring's layout
// (bpf_ring.cpp describes it).
class ReplayRing {
public:
    static Result<std::unique_ptr<ReplayRing>> make(uint64_t bytes);
    ~ReplayRing();
    ReplayRing(const ReplayRing&) = delete;
    ReplayRing& operator=(const ReplayRing&) = delete;

    // False: no room.
    [[nodiscard]] bool put(std::span<const std::byte> record);
    // Makes what was put visible to the reader.
    void publish();
    // Another descriptor of the file.
    [[nodiscard]] UniqueFd duplicate() const;

    // The reading side without any machinery: calls `take` with each record in place, then gives
    // all of them back.
    template <typename Take>
    void drain_bare(Take take) {
        const uint64_t end = load(producer_);
        uint64_t position = load(consumer_);
        while (position < end) {
            const std::byte* header = data_ + (position & (bytes_ - 1));
            const uint32_t length = length_at(header);
            take(header + kHeaderBytes);
            position += (length + kHeaderBytes + 7) / 8 * 8;
        }
        store(consumer_, position);
    }

private:
    static constexpr uint64_t kHeaderBytes = 8;

    ReplayRing() = default;
    static uint64_t load(const uint64_t* position);
    static void store(uint64_t* position, uint64_t value);
    static uint32_t length_at(const std::byte* header);

    UniqueFd file_;
    uint64_t bytes_ = 0;
    size_t mapped_bytes_ = 0;
    void* mapping_ = nullptr;
    uint64_t* consumer_ = nullptr;
    uint64_t* producer_ = nullptr;
    std::byte* data_ = nullptr;
    uint64_t produced_ = 0;
};

// What the recorder reads rings through.
class ReplaySource : public RecordSource {
public:
    // Borrows the rings.
    static Result<std::unique_ptr<ReplaySource>> open(
        std::span<const std::unique_ptr<ReplayRing>> rings, uint64_t ring_bytes);

    [[nodiscard]] size_t ring_count() const override { return rings_.size(); }
    void peek(size_t ring, size_t count_max, std::vector<RecordView>& out) override {
        rings_[ring].peek(count_max, out);
    }
    void release(size_t ring, size_t count) override { rings_[ring].release(count); }
    [[nodiscard]] uint64_t lost(size_t) const override { return 0; }

private:
    std::vector<BpfRing> rings_;
};

}  // namespace tracer::bench
