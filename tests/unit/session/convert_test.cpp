// SPDX-License-Identifier: Apache-2.0
#include "session/convert.h"

#include "capture/capture_file.h"
#include "session/output.h"
#include "session/patient_sink.h"
#include "session/summary_text.h"
#include "tracer/abi/event.h"
#include "tracer/write/sinks.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

class ConvertTest : public testing::Test {
protected:
    void SetUp() override {
        path_ = testing::TempDir() + fmt::format("tracer-convert-{}.traw", getpid());
    }
    void TearDown() override { std::filesystem::remove(path_); }

    // A capture of `hits` hits of one probe, as a recording would leave it.
    std::vector<std::byte> capture(int hits) {
        auto sink = std::make_unique<MemorySink>();
        const MemorySink& memory = *sink;
        RecordingDefinitions definitions;
        definitions.record_all = true;
        model::Point point;
        point.category = "app";
        point.name = "request";
        definitions.points.push_back(point);
        ProbeDefinition probe;
        probe.probe_id = TR_PROBE_FIRST_USER;
        probe.spec = "usdt:app:request";
        definitions.probes.push_back(probe);
        auto output = open_capture_output(definitions, std::move(sink));
        EXPECT_TRUE(output);
        for (int i = 0; i < hits; ++i) {
            tr_record_header header{};
            header.size = sizeof(header);
            header.kind = TR_KIND_hit;
            header.probe_id = TR_PROBE_FIRST_USER;
            header.time_ns = 1'000'000'000 + static_cast<uint64_t>(i) * 1000;
            header.tgid = header.tid = 7;
            header.seq = static_cast<uint32_t>(i);
            (*output)->handler().on_record(std::as_bytes(std::span(&header, 1)));
        }
        EXPECT_EQ((*output)->received(TR_PROBE_FIRST_USER), static_cast<uint64_t>(hits));
        KernelCounters counters;
        counters.probes.push_back({TR_PROBE_FIRST_USER, {.hits = static_cast<uint64_t>(hits)}});
        counters.rings.push_back({static_cast<uint64_t>(hits), 0});
        EXPECT_TRUE((*output)->finish(0, counters));
        return {memory.bytes().begin(), memory.bytes().end()};
    }

    void store(std::span<const std::byte> bytes) {
        std::ofstream file(path_, std::ios::binary);
        for (const std::byte byte : bytes) file.put(static_cast<char>(byte));
    }

    Result<RecordingResult> convert() {
        return convert_capture({.input_path = path_, .on_progress = {}},
                               *find_format_by_name("fxt"), std::make_unique<MemorySink>());
    }

    std::string path_;
};

TEST_F(ConvertTest, KeepsEveryEventAndTheLedger) {
    store(capture(1000));
    const auto result = convert();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
    EXPECT_EQ(result->summary.probes.at(0).written, 1000u);
    EXPECT_EQ(result->summary.probes.at(0).hits, 1000u);
    EXPECT_TRUE(result->summary.disagreements.empty());
    EXPECT_GT(result->summary.bytes, 0u);
}

TEST_F(ConvertTest, ReportsProgressToTheEnd) {
    const auto bytes = capture(10'000);
    store(bytes);
    uint64_t last_done = 0;
    uint64_t last_total = 0;
    const ConvertOptions options{.input_path = path_,
                                 .on_progress = [&](uint64_t done, uint64_t total) {
                                     EXPECT_GE(done, last_done);
                                     last_done = done;
                                     last_total = total;
                                 }};
    ASSERT_TRUE(
        convert_capture(options, *find_format_by_name("fxt"), std::make_unique<MemorySink>()));
    EXPECT_EQ(last_done, bytes.size());
    EXPECT_EQ(last_total, bytes.size());
}

TEST_F(ConvertTest, ACutCaptureGivesWhatIsThereAndAWarning) {
    auto bytes = capture(1000);
    bytes.resize(bytes.size() / 2);
    store(bytes);
    const auto result = convert();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
    EXPECT_FALSE(result->summary.is_checked);
    const std::string text = summary_text(result->summary, {});
    EXPECT_NE(text.find("no final counters"), std::string::npos) << text;
    // Nobody knows what was hit in the part that is missing, nor whether the sums agree.
    EXPECT_EQ(text.find("no probe was hit"), std::string::npos) << text;
    EXPECT_EQ(text.find("checked:"), std::string::npos) << text;
}

TEST_F(ConvertTest, RefusesWhatIsNoCapture) {
    for (const size_t bytes : {size_t{0}, size_t{5}, size_t{4096}}) {
        store(std::vector<std::byte>(bytes, std::byte{'x'}));
        const auto result = convert();
        ASSERT_FALSE(result) << bytes;
        EXPECT_EQ(exit_status(result.error().code), 4) << bytes;
    }
}

TEST_F(ConvertTest, RefusesACaptureWithoutDefinitions) {
    auto bytes = capture(1);
    bytes.resize(16);
    store(bytes);
    const auto result = convert();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::bad_input);
}

TEST_F(ConvertTest, MissingInputIsNotFound) {
    const auto result = convert();
    ASSERT_FALSE(result);
    EXPECT_EQ(exit_status(result.error().code), 4);
}

// Room only at every third question.
class SlowSink : public MemorySink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        if (++asked_ % 3 != 0) return {};
        return MemorySink::reserve(bytes);
    }

private:
    int asked_ = 0;
};

// Never room again, like a full disk.
class FullSink : public MemorySink {
public:
    std::span<std::byte> reserve(size_t) override { return {}; }
    Status health() const override { return fail(ErrorCode::io, "no space"); }
};

TEST(PatientSink, WaitsForRoom) {
    PatientSink sink(std::make_unique<SlowSink>());
    for (int i = 0; i < 5; ++i) {
        ASSERT_GE(sink.reserve(8).size(), 8u);
        sink.commit(8);
    }
    EXPECT_EQ(sink.bytes_committed(), 40u);
}

TEST(PatientSink, DoesNotWaitForASinkThatFailed) {
    PatientSink sink(std::make_unique<FullSink>());
    EXPECT_TRUE(sink.reserve(8).empty());
}

}  // namespace
}  // namespace tracer
