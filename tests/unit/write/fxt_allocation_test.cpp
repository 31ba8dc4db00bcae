// SPDX-License-Identifier: Apache-2.0
//
// Once a thread and a point have been used, an event allocates nothing.
#include "tracer/write/formats.h"
#include "tracer/write/fxt/event_template.h"
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

TEST(FxtStream, AllocatesNothingPerEvent) {
    const auto sink = make_null_sink();
    fxt::Stream stream(*sink, {.provider_name = "test"});
    ASSERT_TRUE(stream.open().has_value());
    const fxt::StringRef name = stream.intern("name").value();
    const fxt::ThreadRef thread = stream.pinned_thread({1, 2}).value();
    const fxt::ArgumentShape shapes[] = {{name, fxt::ArgumentType::uint64}};
    auto prepared =
        fxt::EventTemplate::make(stream, fxt::EventType::instant, thread, name, name, shapes)
            .value();
    const std::string names[] = {"one", "two"};
    const size_t before = allocation_count;
    for (uint64_t time = 0; time < 1000; ++time) {
        EXPECT_TRUE(prepared.write(time, time));
        EXPECT_TRUE(stream.instant(thread, name, "in full", time, fxt::arg(name, "text")));
        EXPECT_TRUE(stream.instant({3, time}, name, name, time, fxt::arg("k", time)));
        // The 300 threads push one another out of their slots.
        EXPECT_TRUE(stream.instant(stream.thread({3, time % 300}), name, name, time));
        EXPECT_TRUE(stream.instant(thread, name, stream.cached(names[time % 2]).value(), time));
        EXPECT_TRUE(stream.wakeup(1, time, 2));
    }
    EXPECT_EQ(allocation_count - before, 0U);
}

}  // namespace
}  // namespace tracer
