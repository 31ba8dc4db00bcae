// SPDX-License-Identifier: Apache-2.0
//
// Lines as they are: for people, and as objects, which a JSON parser reads back.
#include "support/text_sink.h"
#include "tracer/write/formats.h"
#include "tracer/write/sinks.h"
#include "write/lines/make_lines_writer.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer::test {
namespace {

using nlohmann::json;

constexpr model::ThreadIndex kMain{0};
constexpr model::ThreadIndex kWorker{1};
constexpr model::ThreadIndex kLine{2};
constexpr model::PointIndex kTick{0};
constexpr model::PointIndex kLoad{1};
constexpr model::PointIndex kWork{2};
constexpr model::PointIndex kRequest{3};
constexpr uint64_t kMs = 1'000'000;
// 2026-12-01 10:31:07 UTC, when the machine had been up for a second.
constexpr uint64_t kRealtimeNs = 1'796'121'067'000'000'000;
constexpr uint64_t kBootNs = 1'000'000'000;

model::Value integer(int64_t value) {
    model::Value made{.type = model::ValueType::s32};
    made.bits = static_cast<uint64_t>(value);
    return made;
}

model::Value text(std::string_view value) {
    return {.type = model::ValueType::string, .text = value};
}

class Lines {
public:
    explicit Lines(const lines::LineOptions& options)
        : writer_(lines::make_lines_writer(sink_, options)) {
        EXPECT_TRUE(writer_->open());
        const auto thread = [](model::ThreadIndex index, uint32_t tid, std::string name) {
            return model::Thread{.index = index,
                                 .pid = 100,
                                 .tid = tid,
                                 .thread_name = std::move(name),
                                 .process_name = "app"};
        };
        writer_->define(thread(kMain, 100, "app"));
        writer_->define(thread(kWorker, 101, "worker"));
        model::Thread line = thread(kLine, 1, "layer 1");
        line.is_track = true;
        writer_->define(line);
        writer_->define(model::Point{.index = kTick,
                                     .category = "lib",
                                     .name = "tick",
                                     .arguments = {{"n", model::ValueType::s32, {{1, "one"}}},
                                                   {"text", model::ValueType::string},
                                                   {"at", model::ValueType::pointer}}});
        writer_->define(model::Point{.index = kLoad,
                                     .kind = model::PointKind::counter,
                                     .category = "lib",
                                     .name = "load",
                                     .arguments = {{"value", model::ValueType::s32}}});
        for (const auto& [index, name] : {std::pair(kWork, "work"), {kRequest, "request"}}) {
            writer_->define(model::Point{.index = index,
                                         .kind = model::PointKind::span,
                                         .category = "lib",
                                         .name = name,
                                         .arguments = {{"q", model::ValueType::string}},
                                         .end_arguments = {{"status", model::ValueType::s32}}});
        }
    }

    void read_clock() {
        write(kBootNs, model::ClockReading{.monotonic_ns = 1, .realtime_ns = kRealtimeNs});
    }
    WriteStatus write(uint64_t time_ns, const model::EventBody& body, uint16_t cpu = 3) {
        return writer_->write({time_ns, body, cpu});
    }
    [[nodiscard]] std::string taken() { return std::exchange(sink_.text, {}); }
    [[nodiscard]] std::vector<json> objects() {
        std::vector<json> objects;
        std::string all = taken();
        while (!all.empty()) {
            const size_t end = all.find('\n');
            objects.push_back(json::parse(all.substr(0, end)));
            all.erase(0, end + 1);
        }
        return objects;
    }
    TextSink& sink() { return sink_; }
    const WriterCounters& counters() { return writer_->counters(); }

private:
    TextSink sink_;
    std::unique_ptr<TraceWriter> writer_;
};

class TextLines : public testing::Test {
protected:
    TextLines() {
        setenv("TZ", "UTC-1", 1);  // an hour ahead: local time, not the clock's
        tzset();
    }
};

TEST_F(TextLines, SayWhenWhoAndWhat) {
    Lines lines({});
    lines.read_clock();
    const std::vector<model::Value> values{
        integer(7), text("a \"b\""), {.type = model::ValueType::pointer}};
    lines.write(kBootNs + 123'456'789, model::Instant{kTick, kMain, values});
    const std::vector<model::Value> named{integer(1), {}, {}};
    lines.write(kBootNs + 124'000'000, model::Instant{kTick, kWorker, named, "own name"});
    const std::vector<model::Value> load{integer(-5)};
    lines.write(kBootNs + 2'000'000'000, model::Counter{kLoad, kLine, load});
    EXPECT_EQ(lines.taken(),
              "11:31:07.123456 app(100)             tick n=7 text=\"a \\\"b\\\"\" at=0x0\n"
              "11:31:07.124000 app(100)/worker(101) own name n=one text=? at=?\n"
              "11:31:09.000000 app(100)/layer 1     load value=-5\n");
}

TEST_F(TextLines, TellASpanWhereItEndsIndentedByThoseAround) {
    Lines lines({});
    lines.read_clock();
    const std::vector<model::Value> outer{text("outer")};
    const std::vector<model::Value> inner{text("inner")};
    const std::vector<model::Value> status{integer(0)};
    lines.write(kBootNs, model::SpanBegin{kRequest, kMain, outer});
    lines.write(kBootNs + kMs, model::SpanBegin{kWork, kMain, inner, "by name"});
    lines.write(kBootNs + 2 * kMs, model::Instant{kTick, kMain, {}});
    EXPECT_EQ(lines.taken(), "11:31:07.002000 app(100)                 tick\n");
    lines.write(kBootNs + 3 * kMs,
                model::SpanEnd{.point = kWork, .thread = kMain, .values = status});
    lines.write(kBootNs + 4 * kMs,
                model::SpanEnd{kRequest, kMain, model::SpanEndCause::unwound, {}});
    EXPECT_EQ(lines.taken(),
              "11:31:07.003000 app(100)               by name (2 ms) q=\"inner\" status=0\n"
              "11:31:07.004000 app(100)             request (4 ms) [unwound] q=\"outer\"\n");
}

TEST_F(TextLines, TellBeginsWhereAsked) {
    Lines lines({.begins = true, .time = lines::LineTime::since});
    const std::vector<model::Value> outer{text("outer")};
    const std::vector<model::Value> status{integer(0)};
    lines.write(kBootNs, model::SpanBegin{kRequest, kMain, outer});
    lines.write(kBootNs + kMs, model::AsyncBegin{kWork, kMain, 77, outer});
    lines.write(kBootNs + 3 * kMs,
                model::AsyncEnd{.point = kWork, .thread = kWorker, .id = 77, .values = status});
    lines.write(kBootNs + 1'500 * kMs,
                model::SpanEnd{.point = kRequest, .thread = kMain, .values = status});
    EXPECT_EQ(lines.taken(),
              "      +0.000000 app(100)             -> request q=\"outer\"\n"
              "      +0.001000 app(100)               -> work q=\"outer\"\n"
              "      +0.003000 app(100)/worker(101) <- work (2 ms) status=0\n"
              "      +1.500000 app(100)             <- request (1.5 s) status=0\n");
}

TEST_F(TextLines, MeasureFromTheLineBefore) {
    Lines lines({.time = lines::LineTime::delta});
    lines.read_clock();
    lines.write(kBootNs + 5 * kMs, model::Instant{kTick, kMain, {}});
    lines.write(kBootNs + 7 * kMs, model::Instant{kTick, kMain, {}});
    EXPECT_EQ(lines.taken(),
              "      +0.005000 app(100)             tick\n"
              "      +0.002000 app(100)             tick\n");
}

TEST_F(TextLines, TellOfTheSystemAndOfLoss) {
    Lines lines({.time = lines::LineTime::since});
    lines.write(kBootNs, model::Switch{2, kMain, model::ThreadState::sleeping, 120, kWorker, 120});
    lines.write(kBootNs,
                model::Switch{2, kWorker, model::ThreadState::dead, 120, model::kIdleThread, 120});
    lines.write(kBootNs, model::Wakeup{1, kMain, kWorker, 120});
    lines.write(kBootNs,
                model::Life{.kind = model::LifeKind::fork, .thread = kMain, .child = kWorker});
    lines.write(kBootNs,
                model::Life{.kind = model::LifeKind::exec, .thread = kMain, .path = "/bin/a b"});
    lines.write(kBootNs,
                model::Life{.kind = model::LifeKind::exit, .thread = kMain, .exit_code = 137});
    lines.write(kBootNs + 12 * kMs, model::Loss{model::LossCause::ring_full, 3, kBootNs, 1234});
    EXPECT_EQ(
        lines.taken(),
        "      +0.000000 app(100)/worker(101) runs on CPU 2 after app(100) (sleeping)\n"
        "      +0.000000 -                    runs on CPU 2 after app(100)/worker(101) (dead)\n"
        "      +0.000000 app(100)             woken for CPU 1 by app(100)/worker(101)\n"
        "      +0.000000 app(100)             fork app(100)/worker(101)\n"
        "      +0.000000 app(100)             exec \"/bin/a b\"\n"
        "      +0.000000 app(100)             exit status=137\n"
        "      +0.012000 lost 1,234 events here: ring full (CPU 3, within 12 ms)\n");
}

// Whatever a target calls itself or says: nothing of it reaches the terminal as a command, in no
// place, and a line stays one.
TEST_F(TextLines, WriteControlCharactersOut) {
    const std::string evil =
        "\x1b]0;x\x07\n\r\t\\\x7f\xc2\x9b"
        "2J\xff"
        "ü";
    for (const bool is_json : {false, true}) {
        model::Thread thread{.index = kMain, .pid = 100, .tid = 101};
        thread.thread_name = thread.process_name = evil;
        TextSink sink;
        const auto writer = lines::make_lines_writer(sink, {.is_json = is_json, .begins = true});
        writer->define(thread);
        writer->define(model::Point{.index = kTick,
                                    .category = evil,
                                    .name = evil,
                                    .arguments = {{evil, model::ValueType::string},
                                                  {"n", model::ValueType::s32, {{1, evil}}}},
                                    .end_arguments = {{"e", model::ValueType::string}}});
        const std::vector<model::Value> values{text(evil), integer(1)};
        writer->write({1, model::Instant{kTick, kMain, values, evil}});
        writer->write({1, model::SpanBegin{kTick, kMain, values, evil}});
        const std::vector<model::Value> end_values{text(evil)};
        writer->write({1, model::SpanEnd{.point = kTick, .thread = kMain, .values = end_values}});
        writer->write({1, model::Counter{kTick, kMain, values, evil}});
        writer->write(
            {1, model::Life{.kind = model::LifeKind::exec, .thread = kMain, .path = evil}});
        const std::string& all = sink.text;
        EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 5) << all;
        for (size_t i = 0; i < all.size(); ++i) {
            const auto byte = static_cast<unsigned char>(all[i]);
            EXPECT_TRUE(byte >= 0x20 || byte == '\n') << i;
            EXPECT_NE(byte, 0x7f) << i;
            const bool is_c1 = byte == 0xc2 && static_cast<unsigned char>(all[i + 1]) < 0xa0;
            EXPECT_FALSE(is_c1) << i;
        }
        // What is harmless stays.
        EXPECT_NE(all.find("ü"), std::string::npos);
        EXPECT_NE(all.find("2J\xef\xbf\xbd"), std::string::npos);
    }
}

TEST_F(TextLines, AreColouredWhereAskedAndNowhereElse) {
    Lines lines({.colour = true, .time = lines::LineTime::since});
    lines.write(kBootNs, model::Instant{kTick, kMain, {}});
    EXPECT_EQ(lines.taken(),
              "\x1b[2m      +0.000000\x1b[0m app(100)             \x1b[1mtick\x1b[0m\n");
}

TEST_F(TextLines, SayHowMuchOfATextIsMissing) {
    Lines lines({.time = lines::LineTime::since});
    model::Value cut = text("abc\xc3");
    cut.is_cut = true;
    cut.bits = 1000;
    const std::vector<model::Value> values{integer(0), cut, {}};
    lines.write(kBootNs, model::Instant{kTick, kMain, values});
    EXPECT_NE(lines.taken().find("text=\"abc\"...(1000 bytes) at=?\n"), std::string::npos);
}

// An end for which there is no room comes again, when there is.
TEST_F(TextLines, KeepSpansRightWhereThereIsNoRoom) {
    Lines lines({.time = lines::LineTime::since});
    const std::vector<model::Value> values{text("x")};
    lines.write(kBootNs, model::SpanBegin{kRequest, kMain, values});
    lines.write(kBootNs, model::SpanBegin{kWork, kMain, values});
    lines.sink().is_full = true;
    const model::SpanEnd end{.point = kWork, .thread = kMain};
    EXPECT_EQ(lines.write(kBootNs + kMs, end), WriteStatus::no_room);
    EXPECT_EQ(lines.write(kBootNs + kMs, model::Instant{kTick, kMain, {}}), WriteStatus::no_room);
    lines.sink().is_full = false;
    EXPECT_EQ(lines.write(kBootNs + kMs,
                          model::SpanEnd{kWork, kMain, model::SpanEndCause::lost_events, {}}),
              WriteStatus::ok);
    EXPECT_EQ(
        lines.write(kBootNs + kMs, model::Loss{model::LossCause::sink_full, 0, kBootNs + kMs, 2}),
        WriteStatus::ok);
    EXPECT_EQ(lines.write(kBootNs + 2 * kMs, model::SpanEnd{.point = kRequest, .thread = kMain}),
              WriteStatus::ok);
    EXPECT_EQ(lines.taken(),
              "      +0.001000 app(100)               work (1 ms) [lost events] q=\"x\"\n"
              "      +0.001000 lost 2 events here: sink full (within 0 ns)\n"
              "      +0.002000 app(100)             request (2 ms) q=\"x\"\n");
    EXPECT_EQ(lines.counters().no_room, 2u);
}

// A reader of lines reads no summary: what is missing at the end is the last line.
TEST_F(TextLines, EndWithWhatThereWasNoRoomFor) {
    MemorySink sink(4096);
    const auto writer = lines::make_text_writer(sink);
    writer->define(model::Point{.index = kTick, .category = "lib", .name = "tick"});
    WriteStatus status = WriteStatus::ok;
    uint64_t written = 0;
    while (status == WriteStatus::ok) {
        status = writer->write({1, model::Instant{kTick, kMain, {}}});
        written += status == WriteStatus::ok;
    }
    EXPECT_EQ(status, WriteStatus::no_room);
    EXPECT_GT(written, 50u);
    const model::EventBody loss = model::Loss{model::LossCause::sink_full, 0, 1, 77};
    EXPECT_EQ(writer->write({1, loss}), WriteStatus::no_room);
    // Told again when it is more, and those before us by CPU.
    const model::EventBody more = model::Loss{model::LossCause::sink_full, 0, 1, 78};
    EXPECT_EQ(writer->write({1, more}), WriteStatus::no_room);
    for (const uint16_t cpu : std::vector<uint16_t>{0, 1}) {
        const model::EventBody before = model::Loss{model::LossCause::ring_full, cpu, 1, 1000};
        EXPECT_EQ(writer->write({1, before}), WriteStatus::no_room);
    }
    EXPECT_TRUE(writer->close());
    const std::string text(reinterpret_cast<const char*>(sink.bytes().data()), sink.bytes().size());
    EXPECT_EQ(std::ranges::count(text, '\n'), static_cast<long>(written));
    // Where there is room at last, each once.
    TextSink patient;
    EXPECT_TRUE(writer->switch_sink(patient, SinkStart::goes_on));
    EXPECT_TRUE(writer->close());
    EXPECT_TRUE(writer->close());
    EXPECT_EQ(patient.text,
              "      +0.000000 lost 1,000 events here: ring full (CPU 1, within 0 ns)\n"
              "      +0.000000 lost 1,000 events here: ring full (CPU 0, within 0 ns)\n"
              "      +0.000000 lost 78 events here: sink full (within 0 ns)\n");
}

TEST_F(TextLines, RefuseWhatRefersToNothing) {
    Lines lines({});
    EXPECT_EQ(lines.write(1, model::SpanEnd{.point = kWork, .thread = kMain}),
              WriteStatus::refused);
    EXPECT_EQ(lines.write(1, model::AsyncEnd{.point = kWork, .thread = kMain, .id = 5}),
              WriteStatus::refused);
    EXPECT_EQ(lines.write(1, model::Instant{model::PointIndex{99}, kMain, {}}),
              WriteStatus::refused);
    const std::string huge(ByteSink::kReserveBytesMax, 'x');
    const std::vector<model::Value> values{integer(0), text(huge), {}};
    EXPECT_EQ(lines.write(1, model::Instant{kTick, kMain, values}), WriteStatus::refused);
    EXPECT_EQ(lines.taken(), "");
    EXPECT_EQ(lines.counters().refused, 4u);
}

TEST(NdjsonLines, HoldWhatTheModelHolds) {
    Lines lines({.is_json = true, .begins = true});
    lines.read_clock();
    const std::vector<model::Value> values{
        integer(7), text("a\n"), {.type = model::ValueType::pointer}};
    lines.write(kBootNs + 123'456'789, model::Instant{kTick, kWorker, values});
    const std::vector<model::Value> query{text("q1")};
    const std::vector<model::Value> status{integer(-2)};
    lines.write(kBootNs + kMs, model::AsyncBegin{kRequest, kMain, 7, query, "own"});
    lines.write(kBootNs + 3 * kMs,
                model::AsyncEnd{.point = kRequest, .thread = kLine, .id = 7, .values = status},
                model::kNoCpu);
    const auto objects = lines.objects();
    ASSERT_EQ(objects.size(), 3u);
    EXPECT_EQ(objects[0], json::parse(R"({"kind": "event", "time": "2026-12-01T10:31:07.123456789Z",
        "ns": 1123456789, "cpu": 3, "process": "app", "pid": 100, "thread": "worker", "tid": 101,
        "category": "lib", "name": "tick", "depth": 0,
        "args": {"n": 7, "text": "a\n", "at": "0x0"}})"));
    EXPECT_EQ(objects[1], json::parse(R"({"kind": "begin", "time": "2026-12-01T10:31:07.001000000Z",
        "ns": 1001000000, "cpu": 3, "process": "app", "pid": 100, "thread": "app", "tid": 100,
        "category": "lib", "name": "own", "id": 7, "depth": 0, "args": {"q": "q1"}})"));
    EXPECT_EQ(objects[2], json::parse(R"({"kind": "span", "time": "2026-12-01T10:31:07.003000000Z",
        "ns": 1003000000, "process": "app", "pid": 100, "track": "layer 1",
        "category": "lib", "name": "own", "id": 7, "depth": 0, "begin_ns": 1001000000,
        "duration_ns": 2000000, "ended": "returned", "args": {"q": "q1"},
        "end_args": {"status": -2}})"));
}

TEST(NdjsonLines, HaveAKindForEveryEvent) {
    Lines lines({.is_json = true});
    const std::vector<model::Value> load{integer(3)};
    lines.write(5, model::Counter{kLoad, kMain, load});
    lines.write(5, model::Switch{2, kMain, model::ThreadState::sleeping, 120, kWorker, 120});
    lines.write(5, model::Wakeup{1, kMain, model::kIdleThread, 120});
    lines.write(5, model::Life{.kind = model::LifeKind::fork, .thread = kMain, .child = kWorker});
    lines.write(5, model::Life{.kind = model::LifeKind::exec, .thread = kMain, .path = "/x"});
    lines.write(5, model::Life{.kind = model::LifeKind::exit, .thread = kMain, .exit_code = 1});
    lines.write(5, model::Loss{model::LossCause::ring_full, 3, 4, 1234});
    const auto objects = lines.objects();
    ASSERT_EQ(objects.size(), 7u);
    EXPECT_EQ(objects[0].at("kind"), "counter");
    EXPECT_EQ(objects[0].at("args"), (json{{"value", 3}}));
    EXPECT_FALSE(objects[0].contains("time"));  // no clock was read
    EXPECT_EQ(objects[1].at("kind"), "switch");
    EXPECT_EQ(objects[1].at("tid"), 101);
    EXPECT_EQ(objects[1].at("after").at("tid"), 100);
    EXPECT_EQ(objects[1].at("after_state"), "sleeping");
    EXPECT_EQ(objects[2].at("kind"), "wakeup");
    EXPECT_FALSE(objects[2].contains("waker"));
    EXPECT_EQ(objects[3].at("child").at("tid"), 101);
    EXPECT_EQ(objects[4].at("path"), "/x");
    EXPECT_EQ(objects[5].at("status"), 1);
    EXPECT_EQ(objects[6].at("cause"), "ring full");
    EXPECT_EQ(objects[6].at("count"), 1234);
    EXPECT_EQ(objects[6].at("begin_ns"), 4);
}

TEST(Formats, LinesAreTwoOfThem) {
    ASSERT_NE(find_format_by_path("x.txt"), nullptr);
    EXPECT_EQ(find_format_by_path("x.txt"), find_format_by_name("txt"));
    ASSERT_NE(find_format_by_path("x.ndjson"), nullptr);
    EXPECT_EQ(find_format_by_path("x.ndjson"), find_format_by_name("ndjson"));
    EXPECT_EQ(find_format_by_path("x.json"), find_format_by_name("json"));
}

}  // namespace
}  // namespace tracer::test
