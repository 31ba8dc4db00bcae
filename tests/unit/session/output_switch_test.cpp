// SPDX-License-Identifier: Apache-2.0
//
// A trace that goes on in another sink: laid end to end, its pieces hold every event once.
#include "session/output.h"
#include "support/eventlog_check.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"
#include "support/fxt_reader.h"
#include "support/record_builder.h"
#include "support/text_sink.h"
#include "tracer/write/sinks.h"
#include "write/lines/make_lines_writer.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint32_t kProbe = TR_PROBE_FIRST_USER;
constexpr uint64_t kEvents = 400;
constexpr uint64_t kEventsAPiece = 20;

RecordingDefinitions definitions() {
    RecordingDefinitions definitions;
    definitions.record_all = true;
    definitions.points = {{.index = model::PointIndex{0},
                           .category = "app",
                           .name = "hit",
                           .arguments = {{"n", model::ValueType::u64}}}};
    definitions.probes = {
        {.probe_id = kProbe, .slots = {model::ValueType::u64}, .spec = "usdt:app:hit"}};
    return definitions;
}

void hit(Output& output, uint64_t number) {
    const auto record = test::make_hit({.time_ns = 1'000'000 + number * 1000, .tgid = 7, .tid = 8},
                                       kProbe, {number});
    output.handler().on_record(record);
}

const MemorySink& memory_of(const ByteSink& sink) {
    return static_cast<const MemorySink&>(sink);
}

Bytes content_of(const ByteSink& sink) {
    const auto bytes = memory_of(sink).bytes();
    return {bytes.begin(), bytes.end()};
}

struct Opened {
    std::unique_ptr<Output> output;
    const MemorySink* sink = nullptr;  // the one in use at first
};

Opened open_output(const char* format) {
    auto sink = std::make_unique<MemorySink>();
    Opened opened{.sink = sink.get()};
    auto output = open_trace_output(*find_format_by_name(format), definitions(), std::move(sink));
    EXPECT_TRUE(output);
    opened.output = std::move(*output);
    return opened;
}

// Pieces of kEventsAPiece events; the last holds the end.
std::vector<Bytes> record_in_pieces(const char* format, SinkStart start) {
    auto [output, current] = open_output(format);
    std::vector<Bytes> pieces;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < kEvents; ++i) {
        if (i != 0 && i % kEventsAPiece == 0) {
            auto next = std::make_unique<MemorySink>();
            current = next.get();
            std::unique_ptr<ByteSink> sink = std::move(next);
            EXPECT_TRUE(output->switch_sink(sink, start));
            pieces.push_back(content_of(*sink));
            bytes += pieces.back().size();
            EXPECT_TRUE(sink->close());
        }
        hit(*output, i);
    }
    EXPECT_TRUE(output->finish(2'000'000'000, {}));
    pieces.push_back(content_of(*current));
    bytes += pieces.back().size();
    EXPECT_EQ(output->bytes(), bytes);
    EXPECT_TRUE(output->close());
    EXPECT_EQ(output->bytes_written(), bytes);
    EXPECT_EQ(output->facts().events, kEvents);
    return pieces;
}

Bytes laid_end_to_end(const std::vector<Bytes>& pieces) {
    Bytes whole;
    for (const Bytes& piece : pieces) whole.insert(whole.end(), piece.begin(), piece.end());
    return whole;
}

std::vector<uint64_t> numbers_in_fxt(const Bytes& bytes) {
    const test::FxtFile file = test::parse_fxt(bytes);
    EXPECT_THAT(file.problems, testing::IsEmpty());
    EXPECT_EQ(file.truncated_tail_bytes, 0u);
    std::vector<uint64_t> numbers;
    for (const test::FxtEvent& event : file.events) {
        if (event.name != "hit") continue;
        const test::FxtValue* number = file.find(event.arguments, "n");
        if (number != nullptr) numbers.push_back(std::get<uint64_t>(*number));
    }
    return numbers;
}

std::vector<uint64_t> from_to(uint64_t first, uint64_t count) {
    std::vector<uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

TEST(OutputSwitch, PiecesWithHeadersReadAloneAndHoldEveryEventOnce) {
    const auto pieces = record_in_pieces("fxt", SinkStart::reads_alone);
    ASSERT_EQ(pieces.size(), kEvents / kEventsAPiece);
    for (size_t i = 0; i < pieces.size(); ++i) {
        EXPECT_EQ(numbers_in_fxt(pieces[i]), from_to(i * kEventsAPiece, kEventsAPiece));
    }
    EXPECT_EQ(numbers_in_fxt(laid_end_to_end(pieces)), from_to(0, kEvents));
}

TEST(OutputSwitch, PiecesWithoutHeadersAreOneTraceLaidEndToEnd) {
    const auto pieces = record_in_pieces("fxt", SinkStart::goes_on);
    EXPECT_EQ(numbers_in_fxt(laid_end_to_end(pieces)), from_to(0, kEvents));
}

uint64_t hits_in_eventlog(const Bytes& bytes) {
    const test::EventlogFile file = test::parse_eventlog(bytes);
    EXPECT_EQ(test::problems_text(file), "");
    EXPECT_THAT(test::check_eventlog(file).refusals, testing::IsEmpty());
    uint64_t hits = 0;
    for (const test::EventlogEvent& event : file.events) {
        if (event.is(test::EventlogId::user_msg) &&
            event.text("text").find("hit") != std::string_view::npos) {
            ++hits;
        }
    }
    return hits;
}

TEST(OutputSwitch, PiecesOfAnEventlogAreLogs) {
    const auto pieces = record_in_pieces("eventlog", SinkStart::reads_alone);
    for (const Bytes& piece : pieces) EXPECT_EQ(hits_in_eventlog(piece), kEventsAPiece);
    const auto parts = record_in_pieces("eventlog", SinkStart::goes_on);
    EXPECT_EQ(hits_in_eventlog(laid_end_to_end(parts)), kEvents);
}

uint64_t hits_in_json(const Bytes& bytes) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto events = nlohmann::json::parse(text, nullptr, false);
    EXPECT_TRUE(events.is_array()) << text;
    uint64_t hits = 0;
    for (const auto& event : events) hits += event.value("name", "") == "hit" ? 1 : 0;
    return hits;
}

TEST(OutputSwitch, PiecesOfJsonAreArrays) {
    const auto pieces = record_in_pieces("json", SinkStart::reads_alone);
    for (const Bytes& piece : pieces) EXPECT_EQ(hits_in_json(piece), kEventsAPiece);
    const auto parts = record_in_pieces("json", SinkStart::goes_on);
    EXPECT_EQ(hits_in_json(laid_end_to_end(parts)), kEvents);
}

TEST(OutputSwitch, GoesBackToASinkThatWasInUseBefore) {
    auto [output, first] = open_output("fxt");
    hit(*output, 0);
    std::unique_ptr<ByteSink> sink = std::make_unique<MemorySink>();
    ASSERT_TRUE(output->switch_sink(sink, SinkStart::reads_alone));
    ASSERT_EQ(sink.get(), first);
    hit(*output, 1);
    ASSERT_TRUE(output->switch_sink(sink, SinkStart::reads_alone));
    const Bytes second = content_of(*sink);
    hit(*output, 2);
    ASSERT_TRUE(output->finish(2'000'000'000, {}));
    EXPECT_EQ(numbers_in_fxt(content_of(*first)), (std::vector<uint64_t>{0, 2}));
    EXPECT_EQ(numbers_in_fxt(second), (std::vector<uint64_t>{1}));
    EXPECT_EQ(output->bytes(), first->bytes_committed() + second.size());
}

TEST(OutputSwitch, ACaptureStaysWhereItIs) {
    auto output = open_capture_output(definitions(), std::make_unique<MemorySink>());
    ASSERT_TRUE(output);
    std::unique_ptr<ByteSink> sink = std::make_unique<MemorySink>();
    const ByteSink* const offered = sink.get();
    const Status switched = (*output)->switch_sink(sink, SinkStart::reads_alone);
    ASSERT_FALSE(switched);
    EXPECT_EQ(switched.error().code, ErrorCode::missing_feature);
    EXPECT_FALSE(switched.error().hint.empty());
    EXPECT_EQ(sink.get(), offered);
}

// No room from some point on, until it has been asked often enough: a reader that wakes up.
class SleepySink : public test::TextSink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        if (is_full && --refusals_ == 0) is_full = false;
        return TextSink::reserve(bytes);
    }

private:
    int refusals_ = 500;
};

// What is shown stays where it is, and says at the end what there was no room for: a reader of
// lines reads no summary.
TEST(ShownOutput, StaysAndSaysWhatIsMissingAtItsEnd) {
    auto owned = std::make_unique<SleepySink>();
    SleepySink& sink = *owned;
    auto writer = lines::make_lines_writer(sink, {.is_json = true});
    auto output = open_shown_output(std::move(writer), definitions(), std::move(owned));
    ASSERT_TRUE(output);
    EXPECT_EQ((*output)->check_switch().error().code, ErrorCode::missing_feature);
    for (uint64_t i = 0; i < 3; ++i) hit(**output, i);
    (*output)->flush();
    const std::string shown = sink.text;
    EXPECT_EQ(std::ranges::count(shown, '\n'), 3);
    sink.is_full = true;
    for (uint64_t i = 3; i < 20; ++i) hit(**output, i);
    EXPECT_TRUE((*output)->finish(3'000'000, {}));
    EXPECT_EQ(sink.text, shown);
    EXPECT_TRUE((*output)->close());
    const auto last = nlohmann::json::parse(sink.text.substr(shown.size()));
    EXPECT_EQ(last.at("kind"), "loss");
    EXPECT_EQ(last.at("cause"), "sink full");
    EXPECT_EQ(last.at("count"), 17);
    EXPECT_EQ((*output)->facts().decoder.lost_to_sink, 17u);
}

}  // namespace
}  // namespace tracer
