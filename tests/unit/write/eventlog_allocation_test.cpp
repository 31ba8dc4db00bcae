// SPDX-License-Identifier: Apache-2.0
//
// Once a log runs, an event allocates nothing, whether fixed, text or repaired; nor does a block
// that leaves.
#include "tracer/write/eventlog/log.h"
#include "tracer/write/sinks.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

namespace {
std::atomic<size_t> allocation_count{0};
}  // namespace

void* operator new(size_t bytes) {
    allocation_count += 1;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    std::abort();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace tracer::eventlog {
namespace {

void post_one_of_each(Poster& poster, uint64_t ns) {
    EXPECT_EQ(poster.post_run_thread(ns, 1), Fault::none);
    EXPECT_EQ(poster.post_stop_thread(ns, 1, StopStatus::yielding), Fault::none);
    EXPECT_EQ(poster.post_gc_stats(ns, 0, {}), Fault::none);
    EXPECT_EQ(poster.post_user_message(ns, "caf\xC3\xA9 \xFF"), Fault::none);
    EXPECT_EQ(poster.post_perf_tracepoint(ns, 1, 2), Fault::none);
    EXPECT_EQ(poster.post_gc_start(0), Fault::before_start);
}

TEST(EventlogLog, AllocatesNothingPerEvent) {
    Log log({.capabilities = 1, .base_ns = 1});
    ASSERT_TRUE(log.start(make_null_sink()));
    const auto post_blocks = [&](uint64_t begin_ns) {
        for (uint64_t ns = begin_ns; ns < begin_ns + 50'000; ++ns) {
            auto cap = log.capability(0);
            post_one_of_each(cap, ns);
        }
    };
    post_blocks(1);  // what the first block brings may be remembered
    const size_t before = allocation_count;
    const uint64_t blocks_before = log.counters().blocks.blocks;
    const size_t for_counters = allocation_count - before;
    post_blocks(100'000);
    EXPECT_EQ(allocation_count - before - for_counters, 0U);
    EXPECT_GT(log.counters().blocks.blocks, blocks_before);
    EXPECT_GT(before, 0U) << "nothing was counted at all";
}

TEST(EventlogBuffer, AllocatesNothingAtAll) {
    class Drop : public BlockDestination {
    public:
        [[nodiscard]] BlockFate write_block(std::span<const std::byte>, const BlockInfo&) override {
            return BlockFate::no_room;
        }
    } drop;
    BlockBuffer buffer(0, drop, {});
    ASSERT_TRUE(buffer.open(1));
    const size_t before = allocation_count;
    Poster poster(buffer);
    for (uint64_t ns = 2; ns < 50'000; ++ns) post_one_of_each(poster, ns);
    EXPECT_EQ(allocation_count - before, 0U);
    EXPECT_GT(buffer.counters().lost_no_room, 0U);
}

}  // namespace
}  // namespace tracer::eventlog
