// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/decoder.h"
#include "support/record_builder.h"
#include "support/recording_writer.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {

// A decoder over a RecordingWriter, with these points and probes:
//   16 "event" instant (a:s32, b:u64)    17 "named" instant (s:string)
//   20/21 "f" and 22/23 "g": begin (x:s64) and end (r:s64) of spans
//   30 "level" counter (v:f64)
class DecoderTest : public testing::Test {
protected:
    static constexpr uint32_t kEvent = 16;
    static constexpr uint32_t kNamed = 17;
    static constexpr uint32_t kBeginF = 20;
    static constexpr uint32_t kEndF = 21;
    static constexpr uint32_t kBeginG = 22;
    static constexpr uint32_t kEndG = 23;
    static constexpr uint32_t kLevel = 30;

    static RecordingDefinitions standard_definitions();

    void SetUp() override { start(standard_definitions()); }
    void TearDown() override { EXPECT_THAT(writer_.faults(), testing::IsEmpty()); }

    void start(RecordingDefinitions definitions) {
        writer_ = {};
        decoder_ = Decoder::make(std::move(definitions), writer_);
    }
    void feed(const test::Record& record) { decoder_->on_record(record); }
    void feed_together(const std::vector<test::Record>& records) {
        std::vector<RecordView> views;
        views.reserve(records.size());
        for (const auto& record : records) {
            views.push_back(view_record(record.data(), record.size()));
        }
        decoder_->on_records(views);
    }
    [[nodiscard]] const DecoderCounters& counters() const { return decoder_->counters(); }

    // Spans of thread 7 in process 7; the stack pointers are those at entry.
    void begin(uint64_t time, uint32_t probe, uint64_t sp, uint32_t tid = 7) {
        feed(test::make_hit({.time_ns = time, .tgid = 7, .tid = tid}, probe, {sp, 1}));
    }
    void end(uint64_t time, uint32_t probe, uint64_t sp, uint32_t tid = 7) {
        feed(test::make_hit({.time_ns = time, .tgid = 7, .tid = tid}, probe, {sp + 8, 2}));
    }

    test::RecordingWriter writer_;
    std::unique_ptr<Decoder> decoder_;
};

}  // namespace tracer
