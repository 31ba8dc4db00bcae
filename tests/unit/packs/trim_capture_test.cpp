// SPDX-License-Identifier: Apache-2.0
#include "support/trim_capture.h"

#include "capture/capture_file.h"
#include "support/byte_vector_sink.h"
#include "support/record_builder.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kProbe = 16;

// Process 7 is hit `hits` times, process 8 runs beside it.
std::vector<std::byte> record(uint64_t hits) {
    RecordingDefinitions definitions;
    definitions.record_all = true;
    definitions.host_name = "secret-host";
    definitions.command_line = "tracer --secret";
    definitions.recording.arguments = {"app", "--password=secret"};
    definitions.points = {{.index = model::PointIndex{0}, .category = "app", .name = "event"}};
    definitions.probes = {{.probe_id = kProbe, .spec = "usdt:app:event"}};
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    EXPECT_TRUE(writer.open(definitions));
    writer.on_record(make_clock(1, 1, 1));
    writer.on_record(
        make_task({.time_ns = 2, .tgid = 7, .tid = 7}, TR_KIND_task_info, {.comm = "app"}));
    writer.on_record(make_task({.time_ns = 2, .tgid = 8, .tid = 8}, TR_KIND_task_info,
                               {.comm = "secret-daemon"}));
    writer.on_record(make_exec({.time_ns = 3, .tgid = 7, .tid = 7}, "app", "/home/secret/app"));
    writer.on_record(make_switch({.time_ns = 4, .tgid = 7, .tid = 7}, 8, 8, 0));
    for (uint64_t i = 0; i < hits; ++i) {
        writer.on_record(make_hit({.time_ns = 10 + i, .tgid = 7, .tid = 7}, kProbe, {}));
    }
    EXPECT_TRUE(writer.write_counters({}));
    EXPECT_TRUE(writer.close());
    return sink.bytes();
}

std::string text_of(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const auto byte : bytes) text += static_cast<char>(byte);
    return text;
}

class Counting : public CaptureVisitor {
public:
    Status on_definitions(RecordingDefinitions) override { return {}; }
    Status on_counters(const CaptureCounters&) override { return {}; }
    void on_progress(uint64_t, uint64_t) override {}
    void on_record(std::span<const std::byte> record) override {
        ++kinds[header_of({record.begin(), record.end()}).kind];
    }
    std::map<uint16_t, int> kinds;
};

TEST(TrimCapture, LeavesOutWhatTellsOfTheMachine) {
    const auto whole = record(3);
    ASSERT_THAT(text_of(whole), HasSubstr("secret"));
    const auto trimmed = trim_capture(whole);
    ASSERT_TRUE(trimmed) << trimmed.error().what;
    EXPECT_THAT(text_of(*trimmed), Not(HasSubstr("secret")));
}

TEST(TrimCapture, KeepsHitsAndTheirProcesses) {
    const auto trimmed = trim_capture(record(3));
    ASSERT_TRUE(trimmed);
    Counting counting;
    const auto summary = read_capture(*trimmed, counting);
    ASSERT_TRUE(summary) << summary.error().what;
    EXPECT_TRUE(summary->has_definitions && summary->has_counters && !summary->is_cut);
    EXPECT_EQ(
        counting.kinds,
        (std::map<uint16_t, int>{
            {TR_KIND_hit, 3}, {TR_KIND_task_exec, 1}, {TR_KIND_task_info, 1}, {TR_KIND_clock, 1}}));
}

TEST(TrimCapture, KeepsNoMoreHitsThanAsked) {
    const auto trimmed = trim_capture(record(100), 4);
    ASSERT_TRUE(trimmed);
    Counting counting;
    ASSERT_TRUE(read_capture(*trimmed, counting));
    EXPECT_EQ(counting.kinds[TR_KIND_hit], 4);
}

TEST(TrimCapture, RefusesWhatIsNoCapture) {
    const std::vector<std::byte> bytes(100);
    EXPECT_FALSE(trim_capture(bytes));
}

}  // namespace
}  // namespace tracer::test
