// SPDX-License-Identifier: Apache-2.0
//
// What happens at the limits of the string and thread tables, and to ids that are used again.
#include "unit/write/fxt_fixture.h"

#include <gmock/gmock.h>

namespace tracer::test {
namespace {

using testing::IsEmpty;

TEST(FxtTables, ThreeHundredInterleavedThreadsKeepTheirNames) {
    constexpr uint32_t kThreads = 300;
    Recording recording;
    ASSERT_TRUE(recording.writer->open().has_value());
    for (uint32_t i = 0; i < kThreads; ++i) {
        recording.thread(model::ThreadIndex{i}, 1000, 1000 + i, "t" + std::to_string(i));
    }
    const auto point = recording.point("app", "tick", {{"n", model::ValueType::u64}});
    for (uint32_t round = 0; round < 4; ++round) {
        for (uint32_t i = 0; i < kThreads; ++i) {
            ASSERT_EQ(recording.instant(round, point, model::ThreadIndex{i}, {u64(i)}),
                      WriteStatus::ok);
        }
    }
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.events.size(), 4 * kThreads);
    for (const FxtEvent& event : file.events) {
        const auto n = std::get<uint64_t>(*file.find(event.arguments, "n"));
        ASSERT_EQ(event.tid, 1000 + n);
        ASSERT_EQ(event.pid, 1000U);
    }
}

TEST(FxtTables, BusyThreadsKeepTheirSlots) {
    Recording recording;
    ASSERT_TRUE(recording.writer->open().has_value());
    const auto point = recording.point("app", "tick");
    for (uint32_t i = 0; i < 1000; ++i) {
        recording.thread(model::ThreadIndex{i}, 1, 1 + i, "t");
        recording.instant(i, point, model::ThreadIndex{i});
        recording.instant(i, point, model::ThreadIndex{0});
    }
    size_t records_of_busy = 0;
    const FxtFile file = recording.read();
    for (const FxtThread& thread : file.threads) records_of_busy += thread.tid == 1 ? 1 : 0;
    EXPECT_EQ(records_of_busy, 1U);
    EXPECT_EQ(file.threads.size(), 1000U);
}

TEST(FxtTables, FortyThousandNamesAreAllRight) {
    constexpr uint32_t kNames = 40000;
    Recording recording;
    recording.start();
    for (uint32_t i = 0; i < kNames; ++i) {
        const std::string number = std::to_string(i);
        const auto point = recording.point("c" + std::to_string(i % 7), "name " + number,
                                           {{"arg" + number, model::ValueType::u64}});
        ASSERT_EQ(recording.instant(i, point, kMain, {u64(i)}), WriteStatus::ok);
    }
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    // 512 places are kept for names of single events.
    EXPECT_EQ(file.strings.size(), 0x7fffU - 512) << "the rest is used up, and no index twice";
    ASSERT_EQ(file.events.size(), kNames);
    for (uint32_t i = 0; i < kNames; ++i) {
        const std::string number = std::to_string(i);
        ASSERT_EQ(file.events[i].name, "name " + number);
        ASSERT_EQ(file.events[i].category, "c" + std::to_string(i % 7));
        const FxtValue* value = file.find(file.events[i].arguments, "arg" + number);
        ASSERT_NE(value, nullptr);
        ASSERT_EQ(std::get<uint64_t>(*value), i);
    }
}

TEST(FxtTasks, ALaterLifeOfAnIdIsAnotherThread) {
    Recording recording;
    recording.start();
    recording.writer->define(model::Thread{.index = model::ThreadIndex{2},
                                           .pid = 100,
                                           .tid = 101,
                                           .thread_life = 2,
                                           .process_life = 1,
                                           .thread_name = "reborn",
                                           .process_name = "other"});
    const auto point = recording.point("app", "p");
    recording.instant(1, point, kWorker);
    recording.instant(2, point, model::ThreadIndex{2});
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    const uint64_t process = 100 | uint64_t{1} << 22;
    const uint64_t thread = 101 | uint64_t{2} << 22;
    EXPECT_EQ(file.events.at(1).pid, process);
    EXPECT_EQ(file.events.at(1).tid, thread);
    EXPECT_EQ(file.process_name(process), "other (pid 100 again)");
    EXPECT_EQ(file.thread_name(thread), "reborn (tid 101 again)");
    EXPECT_EQ(file.thread_name(101), "worker");
}

TEST(FxtTasks, RefusesALifeThatDoesNotFit) {
    Recording recording;
    recording.start();
    model::Thread thread{.index = model::ThreadIndex{5}, .pid = 9, .tid = 9, .process_life = 1022};
    recording.writer->define(thread);
    EXPECT_EQ(recording.writer->counters().refused, 0U);
    thread.index = model::ThreadIndex{6};
    thread.process_life = 1023;
    recording.writer->define(thread);
    EXPECT_EQ(recording.writer->counters().refused, 1U);
    const auto point = recording.point("app", "p");
    EXPECT_EQ(recording.instant(1, point, model::ThreadIndex{6}), WriteStatus::refused);
}

TEST(FxtTasks, KernelThreadsBelongToOneProcess) {
    Recording recording;
    recording.start();
    recording.writer->define(model::Thread{.index = model::ThreadIndex{2},
                                           .pid = 17,
                                           .tid = 17,
                                           .is_kernel_thread = true,
                                           .thread_name = "kworker/0:1",
                                           .process_name = "kworker/0:1"});
    recording.run(1, 0, model::kIdleThread, model::ThreadIndex{2});
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_EQ(file.process_name(2), "kthreadd");
    EXPECT_EQ(file.thread_name(17), "kworker/0:1");
    EXPECT_EQ(file.process_name(17), "");
}

TEST(FxtTasks, RenamingWritesTheObjectAgainAndPidZeroWritesNone) {
    Recording recording;
    recording.start();
    recording.thread(kWorker, 100, 101, "renamed");
    recording.thread(model::ThreadIndex{3}, 0, 0, "swapper/0");
    EXPECT_EQ(recording.run(1, 0, model::ThreadIndex{3}, kWorker), WriteStatus::ok);
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_EQ(file.thread_name(101), "renamed");
    EXPECT_EQ(file.switches.at(0).out_tid, 0U);
    for (const FxtKernelObject& object : file.objects) EXPECT_NE(object.koid, 0U);
}

TEST(FxtWriter, EachChunkReadsAlone) {
    Recording recording;
    recording.start();
    const auto outer = recording.point("app", "outer");
    const auto tick = recording.point("app", "tick");
    recording.writer->write({1, model::ClockReading{.monotonic_ns = 1, .realtime_ns = 2}});
    recording.begin(10, outer, kMain);
    recording.instant(11, tick, kWorker);
    recording.run(12, 0, model::kIdleThread, kWorker);
    recording.writer->write({13, model::Life{.kind = model::LifeKind::exit, .thread = kWorker}});
    const size_t cut = recording.size();
    ASSERT_TRUE(recording.writer->begin_chunk().has_value());
    recording.end(20, outer, kMain);
    recording.instant(21, tick, kMain);

    FxtFile chunk = recording.read(cut);
    EXPECT_THAT(chunk.problems, IsEmpty());
    EXPECT_EQ(chunk.thread_name(100), "myapp");
    EXPECT_EQ(chunk.thread_name(101), "") << "it has exited";
    ASSERT_EQ(chunk.events.size(), 4U);
    EXPECT_EQ(chunk.events[0].type, FxtEventType::duration_begin);
    EXPECT_EQ(chunk.events[0].time, 10U) << "when it really began";
    EXPECT_EQ(chunk.events[1].name, "clock");

    recording.run(22, 0, kWorker, model::kIdleThread);
    chunk = recording.read(cut);
    EXPECT_THAT(chunk.problems, IsEmpty());
    EXPECT_EQ(chunk.thread_name(101), "worker") << "needed after all";
}

}  // namespace
}  // namespace tracer::test
