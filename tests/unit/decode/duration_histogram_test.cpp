// SPDX-License-Identifier: Apache-2.0
#include "decode/duration_histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

TEST(DurationHistogram, IsZeroWhileEmpty) {
    const DurationHistogram histogram;
    EXPECT_EQ(histogram.percentile_ns(500), 0U);
    EXPECT_EQ(histogram.max_ns(), 0U);
}

TEST(DurationHistogram, IsExactForSmallValues) {
    DurationHistogram histogram;
    for (uint64_t ns = 0; ns < 64; ++ns) histogram.add(ns);
    EXPECT_EQ(histogram.percentile_ns(500), 31U);
    EXPECT_EQ(histogram.percentile_ns(1000), 63U);
    EXPECT_EQ(histogram.percentile_ns(0), 0U);
}

TEST(DurationHistogram, TakesTheLargestValues) {
    DurationHistogram histogram;
    histogram.add(UINT64_MAX);
    histogram.add(uint64_t{1} << 63);
    EXPECT_EQ(histogram.max_ns(), UINT64_MAX);
    EXPECT_EQ(histogram.by_power_of_two()[64], 2U);
    EXPECT_GT(histogram.percentile_ns(500), uint64_t{1} << 63);
}

TEST(DurationHistogram, PercentilesAreWithinTwoPercent) {
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same run each time
    std::uniform_real_distribution<double> exponent(0, 40);
    DurationHistogram histogram;
    std::vector<uint64_t> values;
    for (int i = 0; i < 100000; ++i) {
        values.push_back(static_cast<uint64_t>(std::exp2(exponent(random))));
        histogram.add(values.back());
    }
    std::ranges::sort(values);
    for (const unsigned permille : {1U, 10U, 500U, 900U, 990U, 999U, 1000U}) {
        const auto exact = static_cast<double>(values[permille * 100 - 1]);
        const auto found = static_cast<double>(histogram.percentile_ns(permille));
        EXPECT_NEAR(found, exact, exact * 0.02) << permille;
    }
    uint64_t sum = 0;
    for (const uint64_t count : histogram.by_power_of_two()) sum += count;
    EXPECT_EQ(sum, histogram.count());
}

}  // namespace
}  // namespace tracer
