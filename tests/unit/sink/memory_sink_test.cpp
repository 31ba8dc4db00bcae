// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/sinks.h"
#include "unit/sink/sink_test_support.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

bool put(ByteSink& sink, size_t bytes) {
    return test::put(sink, 'x', bytes);
}

TEST(MemorySink, RefusesPastItsLimitAndTakesWhatStillFits) {
    MemorySink sink(24);
    EXPECT_TRUE(put(sink, 16));
    EXPECT_FALSE(put(sink, 16));
    EXPECT_TRUE(put(sink, 8));
    EXPECT_FALSE(put(sink, 8));
    EXPECT_EQ(sink.bytes().size(), 24U);
    EXPECT_EQ(sink.bytes_committed(), 24U);
}

TEST(Sinks, RefuseReservationsBeyondTheContract) {
    MemorySink memory;
    EXPECT_TRUE(put(memory, ByteSink::kReserveBytesMax));
    EXPECT_TRUE(memory.reserve(ByteSink::kReserveBytesMax + 8).empty());
    const auto null = make_null_sink();
    EXPECT_TRUE(put(*null, ByteSink::kReserveBytesMax));
    EXPECT_TRUE(null->reserve(ByteSink::kReserveBytesMax + 8).empty());
    EXPECT_EQ(null->bytes_committed(), ByteSink::kReserveBytesMax);
    EXPECT_TRUE(null->close().has_value());
}

}  // namespace
}  // namespace tracer
