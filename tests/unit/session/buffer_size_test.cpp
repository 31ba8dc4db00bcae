// SPDX-License-Identifier: Apache-2.0
#include "session/buffer_size.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr uint64_t kMiB = 1u << 20;

MachineLoad machine(uint32_t cpus, uint64_t memory_bytes, uint64_t switches = 0) {
    return {.cpu_count = cpus,
            .memory_available_bytes = memory_bytes,
            .page_bytes = 4096,
            .switches_per_second = switches};
}

TEST(BufferSize, IsFourMebibytesWithoutAReasonForMore) {
    EXPECT_EQ(choose_ring_bytes({}, machine(2, 8192 * kMiB), false).value(), 4 * kMiB);
    EXPECT_EQ(choose_ring_bytes({}, machine(2, 8192 * kMiB, 10), true).value(), 4 * kMiB);
}

TEST(BufferSize, HoldsASecondOfTheMachinesSwitches) {
    // 100,000 a second on each CPU, two records of 56 bytes: 11.2 MB.
    EXPECT_EQ(choose_ring_bytes({}, machine(2, 8192 * kMiB, 200'000), true).value(), 16 * kMiB);
}

TEST(BufferSize, StopsAtSixtyFourMebibytes) {
    EXPECT_EQ(choose_ring_bytes({}, machine(2, 1u << 31, 1'000'000'000), true).value(), 64 * kMiB);
}

TEST(BufferSize, KeepsToASixteenthOfFreeMemory) {
    EXPECT_EQ(choose_ring_bytes({}, machine(8, 128 * kMiB), false).value(), 1 * kMiB);
}

TEST(BufferSize, IsAPageAtLeast) {
    EXPECT_EQ(choose_ring_bytes({}, machine(64, 1 * kMiB), false).value(), 4096u);
    EXPECT_EQ(choose_ring_bytes(BufferRequest{1, true}, machine(2, kMiB), false).value(), 4096u);
}

TEST(BufferSize, DividesARequestForAllRings) {
    EXPECT_EQ(choose_ring_bytes(BufferRequest{64 * kMiB, false}, machine(4, kMiB), true).value(),
              16 * kMiB);
}

TEST(BufferSize, RoundsARequestDownToAPowerOfTwo) {
    EXPECT_EQ(choose_ring_bytes(BufferRequest{100 * 1024, true}, machine(4, kMiB), true).value(),
              65536u);
}

TEST(BufferSize, RefusesMoreThanTheKernelTakes) {
    const auto result = choose_ring_bytes(BufferRequest{1ull << 33, true}, machine(1, kMiB), true);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::usage);
}

TEST(BufferSize, AdviceCoversTwiceTheMeanGap) {
    EXPECT_EQ(enough_ring_bytes(65536, 0, 0, 64), 65536u);
    // Gaps of 1000 records of 64 bytes: 65536 + 2 * 1001 * 64 = 193664.
    EXPECT_EQ(enough_ring_bytes(65536, 10'000, 10, 64), 262144u);
}

}  // namespace
}  // namespace tracer
