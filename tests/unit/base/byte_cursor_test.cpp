// SPDX-License-Identifier: Apache-2.0
#include "tracer/base/byte_cursor.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr std::array<std::byte, 5> kBytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                          std::byte{5}};

TEST(ByteCursor, ReadsInOrderAndStopsAtTheEnd) {
    ByteCursor cursor(kBytes);
    EXPECT_EQ(cursor.read<uint16_t>(), 0x0201);
    EXPECT_EQ(cursor.read<uint8_t>(), 3);
    EXPECT_EQ(cursor.remaining(), 2U);
    EXPECT_FALSE(cursor.read<uint32_t>().has_value());
    EXPECT_EQ(cursor.position(), 3U) << "a refused read must not move";
    EXPECT_EQ(cursor.read<uint16_t>(), 0x0504);
    EXPECT_FALSE(cursor.read<uint8_t>().has_value());
}

TEST(ByteCursor, TakesOnlyWhatIsThere) {
    ByteCursor cursor(kBytes);
    EXPECT_FALSE(cursor.take(6).has_value());
    EXPECT_FALSE(cursor.take(SIZE_MAX).has_value());
    ASSERT_TRUE(cursor.take(5).has_value());
    EXPECT_TRUE(cursor.take(0).has_value());
    EXPECT_FALSE(cursor.skip(1));
}

}  // namespace
}  // namespace tracer
