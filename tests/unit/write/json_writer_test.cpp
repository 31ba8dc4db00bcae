// SPDX-License-Identifier: Apache-2.0
//
// Chrome's trace events, read back by a JSON parser.
#include "support/text_sink.h"
#include "tracer/write/formats.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer::test {
namespace {

using nlohmann::json;

constexpr model::ThreadIndex kMain{0};
constexpr model::ThreadIndex kWorker{1};
constexpr model::PointIndex kTick{0};
constexpr model::PointIndex kLoad{1};
constexpr model::PointIndex kWork{2};

class JsonWriter : public testing::Test {
protected:
    JsonWriter() : writer_(find_format_by_path("x.json")->make_writer(sink_)) {
        EXPECT_TRUE(writer_->open());
        writer_->define(thread(kMain, 100, "app"));
        writer_->define(thread(kWorker, 101, "wor\"ker"));
        writer_->define(model::Point{.index = kTick,
                                     .category = "lib",
                                     .name = "tick",
                                     .arguments = {{"n", model::ValueType::s64},
                                                   {"text", model::ValueType::string},
                                                   {"real", model::ValueType::f64}}});
        writer_->define(model::Point{.index = kLoad,
                                     .kind = model::PointKind::counter,
                                     .category = "lib",
                                     .name = "load",
                                     .arguments = {{"value", model::ValueType::u64}}});
        writer_->define(model::Point{.index = kWork,
                                     .kind = model::PointKind::span,
                                     .category = "lib",
                                     .name = "work",
                                     .end_arguments = {{"status", model::ValueType::s32}}});
    }

    static model::Thread thread(model::ThreadIndex index, uint32_t tid, std::string name) {
        return {.index = index,
                .pid = 100,
                .tid = tid,
                .thread_name = std::move(name),
                .process_name = "app"};
    }
    WriteStatus write(uint64_t time_ns, const model::EventBody& body) {
        return writer_->write({time_ns, body});
    }
    // The array without the names.
    json events() {
        EXPECT_TRUE(writer_->close());
        json events = json::array();
        for (const json& event : parsed()) {
            if (event.at("ph") != "M") events.push_back(event);
        }
        return events;
    }
    [[nodiscard]] json parsed() const { return json::parse(sink_.text.substr(chunk_begin_)); }

    TextSink sink_;
    std::unique_ptr<TraceWriter> writer_;
    size_t chunk_begin_ = 0;
};

TEST_F(JsonWriter, SpellsEventsWithTheirValuesAndTimes) {
    const std::vector<model::Value> values{
        {.type = model::ValueType::s64, .bits = uint64_t(INT64_MIN)},
        {.type = model::ValueType::string, .text = "a\"\\\n\xff"},
        {.type = model::ValueType::f64, .real = std::numeric_limits<double>::infinity()}};
    const std::vector<model::Value> number{{.type = model::ValueType::u64, .bits = UINT64_MAX}};
    const std::vector<model::Value> status{{.type = model::ValueType::s32, .bits = uint64_t(-1)}};
    EXPECT_EQ(write(1'234'567, model::Instant{kTick, kMain, values}), WriteStatus::ok);
    EXPECT_EQ(write(2'000'000, model::Counter{kLoad, kMain, number}), WriteStatus::ok);
    EXPECT_EQ(write(3'000'000, model::SpanBegin{kWork, kWorker, {}, "work 7"}), WriteStatus::ok);
    EXPECT_EQ(write(4'000'000, model::SpanEnd{kWork, kWorker, {}, status}), WriteStatus::ok);
    const json read = events();
    ASSERT_EQ(read.size(), 4u);
    EXPECT_EQ(read[0].at("ph"), "i");
    EXPECT_DOUBLE_EQ(read[0].at("ts").get<double>(), 1234.567);
    EXPECT_EQ(read[0].at("name"), "tick");
    EXPECT_EQ(read[0].at("cat"), "lib");
    EXPECT_EQ(read[0].at("pid"), 100);
    EXPECT_EQ(read[0].at("args").at("n"), INT64_MIN);
    EXPECT_EQ(read[0].at("args").at("text"), "a\"\\\n\xef\xbf\xbd");
    EXPECT_EQ(read[0].at("args").at("real"), "inf");
    EXPECT_EQ(read[1].at("args").at("value"), UINT64_MAX);
    EXPECT_EQ(read[2].at("name"), "work 7");
    EXPECT_EQ(read[3].at("ph"), "E");
    EXPECT_EQ(read[3].at("name"), "work 7");
    EXPECT_EQ(read[3].at("args").at("status"), -1);
    EXPECT_EQ(parsed()[1].at("args").at("name"), "app");
    EXPECT_EQ(writer_->counters().events, 4u);
}

TEST_F(JsonWriter, TellsTheTrueLengthOfTextThatWasCut) {
    model::Value text{.type = model::ValueType::string, .is_cut = true, .text = "caf\xc3"};
    const auto arguments = [&](uint64_t bits, bool is_longer) {
        text.bits = bits;
        text.is_longer = is_longer;
        const std::vector<model::Value> values{{.type = model::ValueType::s64}, text, {}};
        EXPECT_EQ(write(1000, model::Instant{kTick, kMain, values}), WriteStatus::ok);
    };
    arguments(9000, false);
    arguments(9000, true);
    arguments(0, false);
    const json read = events();
    ASSERT_EQ(read.size(), 3u);
    // The first byte of a character at its end is no character.
    for (const json& event : read) EXPECT_EQ(event.at("args").at("text"), "caf\u2026");
    EXPECT_EQ(read[0].at("args").at("text_bytes"), 9000);
    EXPECT_FALSE(read[0].at("args").contains("text_bytes_min"));
    EXPECT_EQ(read[1].at("args").at("text_bytes_min"), 9000);
    EXPECT_EQ(read[2].at("args").at("text_bytes_min"), 4);
}

TEST_F(JsonWriter, TellsWhyASpanEndedOnItsThreadOrByItsKey) {
    const std::vector<model::Value> status{{.type = model::ValueType::s32, .bits = 7}};
    using model::SpanEndCause;
    for (const SpanEndCause cause : {SpanEndCause::returned, SpanEndCause::thread_exit}) {
        write(1000, model::SpanBegin{kWork, kWorker, {}, {}});
        write(2000, model::SpanEnd{kWork, kWorker, cause, status});
        write(3000, model::AsyncBegin{kWork, kWorker, 5, {}, {}});
        write(4000, model::AsyncEnd{kWork, kWorker, 5, cause, status});
    }
    const json read = events();
    ASSERT_EQ(read.size(), 8u);
    for (const size_t returned : {1, 3}) {
        EXPECT_FALSE(read[returned].at("args").contains("ended"));
        EXPECT_EQ(read[returned].at("args").at("status"), 7);
    }
    for (const size_t exited : {5, 7}) {
        EXPECT_EQ(read[exited].at("args").at("ended"), read[5].at("args").at("ended"));
        EXPECT_EQ(read[exited].at("args").at("status"), 7);
    }
}

TEST_F(JsonWriter, ShowsWhatCpusRunAndWhatWasLost) {
    using model::ThreadState;
    write(1000, model::Switch{2, model::kIdleThread, ThreadState::runnable, 120, kMain, 120});
    write(2000, model::Switch{2, kMain, ThreadState::sleeping, 120, model::kIdleThread, 120});
    write(3000, model::Wakeup{2, kMain, kWorker, 120});
    write(4000, model::Life{model::LifeKind::exit, kWorker, {}, 3, {}});
    write(5000, model::Loss{model::LossCause::ring_full, 2, 4500, 12});
    write(6000, model::ClockReading{.monotonic_ns = 5, .realtime_ns = 6});
    const json read = events();
    ASSERT_EQ(read.size(), 6u);
    EXPECT_EQ(read[0].at("ph"), "B");
    EXPECT_EQ(read[0].at("tid"), 2);
    EXPECT_EQ(read[0].at("name"), "app");
    EXPECT_EQ(read[1].at("ph"), "E");
    EXPECT_EQ(read[2].at("args").at("waker_tid"), 101);
    EXPECT_EQ(read[3].at("args").at("exit_code"), 3);
    EXPECT_EQ(read[4].at("args").at("events"), 12);
    EXPECT_EQ(read[4].at("args").at("cpu"), 2);
    EXPECT_EQ(read[5].at("args").at("realtime_ns"), 6);
}

TEST_F(JsonWriter, IsAnArrayWithoutEventsToo) {
    EXPECT_EQ(events(), json::array());
}

TEST_F(JsonWriter, AFullSinkLosesWholeLinesAndOwesEnds) {
    EXPECT_EQ(write(1000, model::SpanBegin{kWork, kMain, {}}), WriteStatus::ok);
    sink_.is_full = true;
    EXPECT_EQ(write(2000, model::SpanBegin{kWork, kMain, {}}), WriteStatus::no_room);
    EXPECT_EQ(write(3000, model::SpanEnd{kWork, kMain}), WriteStatus::no_room);
    EXPECT_EQ(write(4000, model::SpanEnd{kWork, kMain}), WriteStatus::no_room);
    sink_.is_full = false;
    EXPECT_EQ(write(5000, model::SpanBegin{kWork, kMain, {}}), WriteStatus::ok);
    const json read = events();
    ASSERT_EQ(read.size(), 3u);
    EXPECT_EQ(read[1].at("ph"), "E");
    EXPECT_EQ(read[1].at("ts"), 4.0);
    EXPECT_EQ(read[2].at("ts"), 5.0);
    EXPECT_EQ(writer_->counters().no_room, 3u);
}

TEST_F(JsonWriter, AChunkReadsAloneWithWhatIsOpen) {
    EXPECT_EQ(write(1000, model::SpanBegin{kWork, kMain, {}}), WriteStatus::ok);
    writer_->end_chunk();
    EXPECT_EQ(parsed().size(), 3u);
    chunk_begin_ = sink_.text.size();
    ASSERT_TRUE(writer_->begin_chunk());
    EXPECT_EQ(write(2000, model::SpanEnd{kWork, kMain}), WriteStatus::ok);
    const json read = events();
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].at("ts"), 1.0);
    EXPECT_EQ(read[1].at("ts"), 2.0);
}

TEST_F(JsonWriter, RefusesWhatWasNotDefined) {
    constexpr model::PointIndex kNone{9};
    EXPECT_EQ(write(1, model::Instant{kNone, kMain, {}}), WriteStatus::refused);
    EXPECT_EQ(write(1, model::Instant{kTick, model::ThreadIndex{9}, {}}), WriteStatus::refused);
    EXPECT_EQ(write(1, model::SpanEnd{kWork, kMain}), WriteStatus::refused);
    EXPECT_EQ(writer_->counters().refused, 3u);
}

}  // namespace
}  // namespace tracer::test
