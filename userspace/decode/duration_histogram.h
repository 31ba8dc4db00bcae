// SPDX-License-Identifier: Apache-2.0
//
// How long things took: exact counts in buckets that are narrow everywhere, so that a percentile is
// within 2 % of the true one whatever its size. A bucket is a 32nd of a power of two; below 64 ns
// there is one for each nanosecond.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer {

class DurationHistogram {
public:
    void add(uint64_t ns);

    [[nodiscard]] uint64_t count() const { return count_; }
    [[nodiscard]] uint64_t max_ns() const { return max_ns_; }
    // The duration that `permille` of all are not longer than: 500 is the median. 0: there are
    // none.
    [[nodiscard]] uint64_t percentile_ns(unsigned permille) const;
    // [0] counts durations of 0 ns, [k] those from 2^(k-1) up to 2^k ns.
    [[nodiscard]] std::array<uint64_t, 65> by_power_of_two() const;

private:
    std::vector<uint64_t> buckets_;  // as far as they were needed: at most 1920
    uint64_t count_ = 0;
    uint64_t max_ns_ = 0;
};

}  // namespace tracer
