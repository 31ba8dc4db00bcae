// SPDX-License-Identifier: Apache-2.0
//
// A sink without room must cost events, never the meaning of those that are written.
#include "unit/write/fxt_fixture.h"

#include <gmock/gmock.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Memory that can be full for a while.
class GatedSink final : public ByteSink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        if (!is_open) return {};
        return inner.reserve(bytes);
    }
    void commit(size_t bytes) override { inner.commit(bytes); }
    void flush() override {}
    Status close() override { return {}; }
    Status health() const override { return {}; }
    unsigned long long bytes_committed() const override { return inner.bytes_committed(); }

    MemorySink inner;
    bool is_open = true;
};

struct Gated {
    Gated() { writer = find_format_by_name("fxt")->make_writer(sink); }
    void define(uint32_t index, uint32_t tid) {
        writer->define(model::Thread{.index = model::ThreadIndex{index},
                                     .pid = 100,
                                     .tid = tid,
                                     .thread_name = "t" + std::to_string(tid),
                                     .process_name = "app"});
    }
    void point(uint32_t index, const std::string& name) {
        writer->define(
            model::Point{.index = model::PointIndex{index}, .category = "app", .name = name});
    }
    WriteStatus begin(uint64_t time_ns) {
        return writer->write({time_ns, model::SpanBegin{model::PointIndex{0}, kMain, {}}});
    }
    WriteStatus end(uint64_t time_ns) {
        return writer->write(
            {time_ns, model::SpanEnd{.point = model::PointIndex{0}, .thread = kMain}});
    }
    WriteStatus run(uint64_t time_ns, model::ThreadIndex out, model::ThreadIndex in) {
        return writer->write({time_ns, model::Switch{.cpu = 0,
                                                     .out = out,
                                                     .out_state = model::ThreadState::sleeping,
                                                     .out_priority = 120,
                                                     .in = in,
                                                     .in_priority = 120}});
    }
    FxtFile read() const { return parse_fxt(sink.inner.bytes()); }

    GatedSink sink;
    std::unique_ptr<TraceWriter> writer;
};

TEST(FxtFullSink, LeavesWholeRecordsAtEverySize) {
    size_t whole = 0;
    for (size_t bytes_max = 0; bytes_max < 1400; bytes_max += 8) {
        Recording recording(bytes_max);
        static_cast<void>(recording.writer->open());
        recording.thread(kMain, 100, 100, "main");
        const auto point = recording.point("app", "f", {{"s", model::ValueType::string}});
        for (uint64_t i = 0; i < 4; ++i) {
            recording.begin(i * 10, point, kMain, {text("some text")});
            recording.end(i * 10 + 5, point, kMain);
            recording.run(i * 10 + 6, 0, i % 2 == 0 ? model::kIdleThread : kMain,
                          i % 2 == 0 ? kMain : model::kIdleThread);
        }
        ASSERT_LE(recording.size(), bytes_max);
        if (recording.size() == 0) continue;
        const FxtFile file = recording.read();
        ASSERT_THAT(file.problems, IsEmpty()) << bytes_max;
        ASSERT_EQ(file.truncated_tail_bytes, 0U);
        const WriterCounters& counters = recording.writer->counters();
        ASSERT_EQ(counters.events + counters.no_room, 12U) << bytes_max;
        whole += counters.no_room == 0 ? 1 : 0;
    }
    EXPECT_GT(whole, 0U) << "the largest size must hold everything, or nothing was tested";
}

// Four spans and four switches, with or without a batch around them.
std::vector<std::byte> bytes_of_events(size_t bytes_max, bool is_batch) {
    Recording recording(bytes_max);
    static_cast<void>(recording.writer->open());
    recording.thread(kMain, 100, 100, "main");
    const auto point = recording.point("app", "f", {{"n", model::ValueType::u64}});
    if (is_batch) recording.writer->begin_batch();
    for (uint64_t i = 0; i < 4; ++i) {
        recording.begin(i * 10, point, kMain, {u64(i)});
        recording.end(i * 10 + 5, point, kMain);
        recording.run(i * 10 + 6, 0, i % 2 == 0 ? model::kIdleThread : kMain,
                      i % 2 == 0 ? kMain : model::kIdleThread);
    }
    if (is_batch) recording.writer->end_batch();
    const auto bytes = recording.sink.bytes();
    return {bytes.begin(), bytes.end()};
}

TEST(FxtFullSink, ABatchWritesTheSameAtEverySize) {
    for (size_t bytes_max = 0; bytes_max < 1400; bytes_max += 8) {
        ASSERT_EQ(bytes_of_events(bytes_max, true), bytes_of_events(bytes_max, false)) << bytes_max;
    }
}

TEST(FxtFullSink, ABatchGivesTheSinkEverythingAtItsEnd) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "f");
    const size_t before = recording.size();
    recording.writer->begin_batch();
    recording.begin(10, point, kMain);
    recording.end(20, point, kMain);
    EXPECT_EQ(recording.size(), before);
    recording.writer->end_batch();
    const size_t after = recording.size();
    EXPECT_GT(after, before);
    // And nothing is held back from then on.
    recording.begin(30, point, kMain);
    EXPECT_GT(recording.size(), after);
}

TEST(FxtFullSink, OpenReportsThatThereIsNoRoom) {
    Gated gated;
    gated.sink.is_open = false;
    const Status status = gated.writer->open();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::limit);
}

TEST(FxtFullSink, DefinitionsThatFoundNoRoomComeBeforeTheNextEvent) {
    Gated gated;
    ASSERT_TRUE(gated.writer->open().has_value());
    gated.sink.is_open = false;
    gated.define(0, 100);
    gated.point(0, "late");
    EXPECT_EQ(gated.begin(1), WriteStatus::no_room);
    EXPECT_EQ(gated.end(2), WriteStatus::no_room);
    gated.sink.is_open = true;
    EXPECT_EQ(gated.begin(3), WriteStatus::ok);
    EXPECT_EQ(gated.end(4), WriteStatus::ok);
    const FxtFile file = gated.read();
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.events.size(), 2U);
    EXPECT_EQ(file.events[0].name, "late");
    EXPECT_EQ(file.thread_name(100), "t100");
}

TEST(FxtFullSink, AnEndWithoutRoomIsWrittenLaterAtItsOwnTime) {
    Gated gated;
    ASSERT_TRUE(gated.writer->open().has_value());
    gated.define(0, 100);
    gated.point(0, "f");
    ASSERT_EQ(gated.begin(10), WriteStatus::ok);
    ASSERT_EQ(gated.begin(20), WriteStatus::ok);
    gated.sink.is_open = false;
    EXPECT_EQ(gated.end(30), WriteStatus::no_room);
    gated.sink.is_open = true;
    EXPECT_EQ(gated.end(40), WriteStatus::ok);
    const FxtFile file = gated.read();
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_EQ(file.open_span_count, 0U);
    ASSERT_EQ(file.events.size(), 4U);
    EXPECT_EQ(file.events[2].time, 30U);
    EXPECT_EQ(std::get<std::string_view>(*file.find(file.events[2].arguments, "ended")),
              "lost events");
    EXPECT_EQ(file.events[3].time, 40U);
}

TEST(FxtFullSink, TheEndOfAnUnwrittenBeginIsNotWritten) {
    Gated gated;
    ASSERT_TRUE(gated.writer->open().has_value());
    gated.define(0, 100);
    gated.point(0, "f");
    ASSERT_EQ(gated.begin(10), WriteStatus::ok);
    gated.sink.is_open = false;
    EXPECT_EQ(gated.begin(20), WriteStatus::no_room);
    gated.sink.is_open = true;
    EXPECT_EQ(gated.end(30), WriteStatus::no_room);
    EXPECT_EQ(gated.end(40), WriteStatus::ok);
    const FxtFile file = gated.read();
    ASSERT_EQ(file.events.size(), 2U);
    EXPECT_EQ(file.events[1].time, 40U);
    EXPECT_EQ(gated.writer->counters().no_room, 2U);
}

TEST(FxtFullSink, ALostSwitchDoesNotLeaveItsThreadRunning) {
    Gated gated;
    ASSERT_TRUE(gated.writer->open().has_value());
    gated.define(0, 100);
    gated.define(1, 101);
    ASSERT_EQ(gated.run(10, model::kIdleThread, kMain), WriteStatus::ok);
    gated.sink.is_open = false;
    EXPECT_EQ(gated.run(20, kMain, kWorker), WriteStatus::no_room);
    EXPECT_EQ(gated.run(30, kWorker, kMain), WriteStatus::no_room);
    gated.sink.is_open = true;
    EXPECT_EQ(gated.run(40, kMain, kWorker), WriteStatus::ok);
    const FxtFile file = gated.read();
    EXPECT_THAT(file.problems, IsEmpty());
    std::vector<std::pair<uint64_t, uint64_t>> runs;
    for (const FxtSwitch& change : file.switches) runs.emplace_back(change.time, change.in_tid);
    EXPECT_THAT(runs, ElementsAre(std::pair(10, 100), std::pair(20, 0), std::pair(40, 101)));
}

TEST(FxtFullSink, CloseWritesWhatIsOwed) {
    Gated gated;
    ASSERT_TRUE(gated.writer->open().has_value());
    gated.define(0, 100);
    gated.point(0, "f");
    ASSERT_EQ(gated.begin(10), WriteStatus::ok);
    gated.sink.is_open = false;
    EXPECT_EQ(gated.end(30), WriteStatus::no_room);
    EXPECT_FALSE(gated.writer->close().has_value());
    gated.sink.is_open = true;
    EXPECT_TRUE(gated.writer->close().has_value());
    EXPECT_EQ(gated.read().open_span_count, 0U);
}

}  // namespace
}  // namespace tracer::test
