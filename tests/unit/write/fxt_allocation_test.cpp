// SPDX-License-Identifier: Apache-2.0
//
// Once a thread and a point have been used, an event allocates nothing.
#include "tracer/write/formats.h"
#include "tracer/write/sinks.h"

#include <atomic>
#include <cstdlib>
#include <new>

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

namespace tracer {
namespace {

constexpr model::ThreadIndex kThread{0};
constexpr model::PointIndex kPoint{0};

void write_one_of_each(TraceWriter& writer, uint64_t time_ns) {
    const model::Value values[2] = {
        {.type = model::ValueType::s32, .bits = 1},
        {.type = model::ValueType::string, .is_cut = true, .bits = 0, .text = "caf\xC3\xA9 \xFF"}};
    EXPECT_EQ(writer.write({time_ns, model::Instant{kPoint, kThread, values}}), WriteStatus::ok);
    EXPECT_EQ(writer.write({time_ns, model::SpanBegin{kPoint, kThread, values}}), WriteStatus::ok);
    EXPECT_EQ(writer.write({time_ns, model::SpanEnd{.point = kPoint, .thread = kThread}}),
              WriteStatus::ok);
    EXPECT_EQ(writer.write({time_ns, model::Counter{kPoint, kThread, values}}), WriteStatus::ok);
    for (const bool is_in : {true, false}) {
        EXPECT_EQ(writer.write({time_ns, model::Switch{.cpu = 3,
                                                       .out = is_in ? model::kIdleThread : kThread,
                                                       .out_state = model::ThreadState::sleeping,
                                                       .out_priority = 120,
                                                       .in = is_in ? kThread : model::kIdleThread,
                                                       .in_priority = 120}}),
                  WriteStatus::ok);
    }
    EXPECT_EQ(writer.write({time_ns, model::Wakeup{3, kThread, kThread, 120}}), WriteStatus::ok);
}

TEST(FxtWriter, AllocatesNothingPerEvent) {
    const auto sink = make_null_sink();
    const auto writer = find_format_by_name("fxt")->make_writer(*sink);
    ASSERT_TRUE(writer->open().has_value());
    writer->define(model::Thread{.index = kThread, .pid = 1, .tid = 1, .thread_name = "t"});
    writer->define(
        model::Point{.index = kPoint,
                     .category = "app",
                     .name = "f",
                     .arguments = {{"n", model::ValueType::s32}, {"s", model::ValueType::string}}});
    write_one_of_each(*writer, 1);  // the first use may
    const size_t before = allocation_count;
    for (uint64_t time_ns = 2; time_ns < 1000; ++time_ns) write_one_of_each(*writer, time_ns);
    EXPECT_EQ(allocation_count - before, 0U);
    EXPECT_GT(before, 0U) << "nothing was counted at all";
}

}  // namespace
}  // namespace tracer
