// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the buckets. A value's bucket is its six leading bits and how far they are
// shifted; the value reported for a bucket is its middle, half a bucket's width (a 64th) from
// either end. Called by the span ledger for each span that ends, and by the summary.
#include "decode/duration_histogram.h"

#include <algorithm>
#include <bit>

namespace tracer {
namespace {

constexpr unsigned kSubBits = 5;
constexpr size_t kSubBuckets = size_t{1} << kSubBits;

// By how much the values of a bucket are shifted: those below 2 * kSubBuckets are not.
unsigned shift_of(size_t bucket) {
    return bucket < 2 * kSubBuckets ? 0 : static_cast<unsigned>(bucket / kSubBuckets) - 1;
}

size_t bucket_of(uint64_t value) {
    const auto bits = static_cast<unsigned>(std::bit_width(value));
    const unsigned shift = bits > kSubBits + 1 ? bits - kSubBits - 1 : 0;
    return shift * kSubBuckets + static_cast<size_t>(value >> shift);
}

uint64_t lowest_of(size_t bucket) {
    const unsigned shift = shift_of(bucket);
    return (uint64_t{bucket} - shift * kSubBuckets) << shift;
}

}  // namespace

void DurationHistogram::add(uint64_t ns) {
    const size_t bucket = bucket_of(ns);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    ++buckets_[bucket];
    ++count_;
    max_ns_ = std::max(max_ns_, ns);
}

uint64_t DurationHistogram::percentile_ns(unsigned permille) const {
    if (count_ == 0) return 0;
    const uint64_t rank = count_ / 1000 * permille + (count_ % 1000 * permille + 999) / 1000;
    const uint64_t wanted = std::clamp<uint64_t>(rank, 1, count_);
    uint64_t seen = 0;
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        seen += buckets_[bucket];
        if (seen < wanted) continue;
        const uint64_t width = uint64_t{1} << shift_of(bucket);
        return std::min(lowest_of(bucket) + (width - 1) / 2, max_ns_);
    }
    return max_ns_;
}

std::array<uint64_t, 65> DurationHistogram::by_power_of_two() const {
    std::array<uint64_t, 65> counts{};
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        counts[static_cast<size_t>(std::bit_width(lowest_of(bucket)))] += buckets_[bucket];
    }
    return counts;
}

}  // namespace tracer
