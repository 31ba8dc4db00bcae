// SPDX-License-Identifier: Apache-2.0
//
// A scripted recording against the text in tests/golden/fxt.
#include "unit/write/fxt_golden.h"

#include "unit/write/fxt_fixture.h"

namespace tracer::test {
namespace {

// A request served by two threads, with a garbage collection, a loss and a reused thread id.
TEST(FxtGolden, ServedRequest) {
    Recording recording;
    recording.start();
    const auto request = recording.point(
        "app", "request", {{"id", model::ValueType::u64}, {"http.path", model::ValueType::string}},
        {{"status", model::ValueType::s32}});
    const auto collect = recording.point("ghc", "gc.major", {{"gen", model::ValueType::s32}});
    const auto heap = recording.point("ghc", "heap", {{"live", model::ValueType::u64}});
    TraceWriter& writer = *recording.writer;

    writer.write({1000, model::ClockReading{.monotonic_ns = 900, .realtime_ns = 1700000000}});
    recording.run(1000, 0, model::kIdleThread, kMain);
    recording.begin(1010, request, kMain, {u64(1), text("/index", true)});
    writer.write({1020, model::Wakeup{1, kWorker, kMain, 120}});
    recording.run(1030, 1, model::kIdleThread, kWorker);
    recording.begin(1040, collect, kWorker, {s32(2)});
    writer.write({1050, model::Counter{heap, kWorker, std::vector<model::Value>{u64(77)}}});
    recording.end(1060, collect, kWorker);
    recording.instant(1070, collect, kWorker, {{}});
    recording.end(1080, request, kMain, model::SpanEndCause::returned, {s32(200)});
    writer.write({1200, model::Loss{model::LossCause::ring_full, 1, 1100, 42}});
    recording.begin(1210, request, kMain, {u64(2), text("/\xFF")});
    recording.end(1220, request, kMain, model::SpanEndCause::lost_events);
    writer.write({1230, model::Life{.kind = model::LifeKind::exit, .thread = kWorker}});
    writer.define(model::Thread{.index = model::ThreadIndex{2},
                                .pid = 100,
                                .tid = 101,
                                .thread_life = 1,
                                .thread_name = "worker",
                                .process_name = "myapp"});
    writer.write({1240, model::Life{.kind = model::LifeKind::fork,
                                    .thread = kMain,
                                    .child = model::ThreadIndex{2}}});
    recording.run(1250, 1, model::kIdleThread, model::ThreadIndex{2});
    recording.instant(1260, collect, model::ThreadIndex{2}, {s32(0)});
    recording.run(1270, 1, model::ThreadIndex{2}, model::kIdleThread);
    recording.run(1280, 0, kMain, model::kIdleThread);
    ASSERT_TRUE(writer.close().has_value());
    expect_golden("served_request.txt", to_text(recording.read()));
}

}  // namespace
}  // namespace tracer::test
