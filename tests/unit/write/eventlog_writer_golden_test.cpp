// SPDX-License-Identifier: Apache-2.0
//
// A scripted recording against the text in tests/golden/eventlog. With TRACER_UPDATE_GOLDENS set to
// a folder the actual text is written there instead; scripts/update_goldens does that.
#include "unit/write/eventlog_writer_fixture.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace tracer::test {
namespace {

void expect_golden(const std::string& name, const std::string& actual) {
    if (const char* folder = std::getenv("TRACER_UPDATE_GOLDENS")) {
        std::ofstream(std::string(folder) + "/eventlog/" + name) << actual;
        GTEST_SKIP() << "golden written, not compared";
    }
    std::ifstream stream(std::string(TRACER_GOLDEN_FOLDER) + "/" + name);
    ASSERT_TRUE(stream.good()) << "no golden " << name;
    const std::string expected{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(actual, expected) << "if this is meant: scripts/update_goldens";
}

// In the order of the file, with its blocks.
std::string golden_text(const EventlogFile& file) {
    std::string text;
    for (const EventlogEvent& event : file.events) {
        if (event.is(EventlogId::rts_identifier)) continue;  // another with each version
        text += event.is(EventlogId::block_marker) ? "block" : event_line(event);
        text += '\n';
    }
    return text;
}

class EventlogGolden : public EventlogWriterTest {};

// A request served by two threads, with a garbage collection, a loss and a reused thread id.
TEST_F(EventlogGolden, ServedRequest) {
    start({.pid = 100, .parent_pid = 1, .arguments = {"/usr/bin/myapp", "--port", "80"}});
    const auto request =
        point("request", {{"id", model::ValueType::u64}, {"http.path", model::ValueType::string}},
              {{"status", model::ValueType::s32}});
    const auto collect = point("gc.major", {{"gen", model::ValueType::s32}});
    const auto heap = point("heap", {{"live", model::ValueType::u64}});
    const model::ThreadIndex second{2};

    run(1000, 0, kIdle, kMain);
    begin(1010, 0, request, kMain, {u64(1), text("/index", true)});
    wake(1020, 0, kWorker, 1);
    run(1030, 1, kIdle, kWorker);
    begin(1040, 1, collect, kWorker, {s32(2)});
    const auto live = u64(77);
    write(1050, model::Counter{heap, kWorker, std::span(&live, 1)}, 1);
    end(1060, 1, collect, kWorker);
    instant(1070, 1, collect, kWorker, {{}});
    end(1080, 0, request, kMain, {s32(200)});
    run(1100, 1, kWorker, kIdle, model::ThreadState::unknown);
    write(1200, model::Loss{model::LossCause::ring_full, 1, kBegin + 1100, 42}, 1);
    begin(1210, 0, request, kMain, {u64(2), text("/\xFF")});
    end(1220, 0, request, kMain, {}, model::SpanEndCause::lost_events);
    write(1230, model::Life{.kind = model::LifeKind::exit, .thread = kWorker}, 1);
    run(1235, 1, kWorker, kIdle, model::ThreadState::dead);
    thread(second, 100, 101, "worker", 1);
    write(1240, model::Life{.kind = model::LifeKind::fork, .thread = kMain, .child = second}, 0);
    run(1250, 1, kIdle, second);
    instant(1260, 1, collect, second, {s32(0)});
    run(1270, 1, second, kIdle, model::ThreadState::runnable);
    run(1270, 0, kMain, second);
    EXPECT_TRUE(writer_->close());
    is_closed_ = true;
    expect_golden("served_request.txt", golden_text(read()));
}

}  // namespace
}  // namespace tracer::test
