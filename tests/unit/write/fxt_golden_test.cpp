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

// Requests that cross, one that ends on another thread, and one that another key ends.
TEST(FxtGolden, KeyedSpans) {
    Recording recording;
    recording.start();
    const auto request = recording.point(
        "app", "req", {{"key", model::ValueType::u64}, {"url", model::ValueType::string}},
        {{"status", model::ValueType::s32}});
    TraceWriter& writer = *recording.writer;
    const auto begin = [&](uint64_t ns, model::ThreadIndex thread, uint64_t id,
                           std::vector<model::Value> values) {
        writer.write({ns, model::AsyncBegin{request, thread, id, values}});
    };
    const auto end = [&](uint64_t ns, model::ThreadIndex thread, uint64_t id,
                         model::SpanEndCause cause, std::vector<model::Value> values) {
        writer.write({ns, model::AsyncEnd{request, thread, id, cause, values}});
    };
    begin(1000, kMain, 4194305, {u64(7), text("/index")});
    begin(1010, kMain, 4194306, {u64(8), text("/long", true)});
    end(1020, kWorker, 4194305, model::SpanEndCause::returned, {s32(200)});
    end(1030, kMain, 4194306, model::SpanEndCause::key_reused, {});
    begin(1030, kWorker, 4194307, {u64(8), text("/again")});
    end(1040, kWorker, 4194307, model::SpanEndCause::until, {});
    begin(1050, kMain, 4194308, {u64(9), text("/left")});
    end(1060, kMain, 4194308, model::SpanEndCause::process_exit, {});
    ASSERT_TRUE(writer.close().has_value());
    expect_golden("keyed_spans.txt", to_text(recording.read()));
}

}  // namespace
}  // namespace tracer::test
