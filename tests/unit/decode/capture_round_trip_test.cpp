// SPDX-License-Identifier: Apache-2.0
#include "capture/capture_file.h"
#include "capture/merger.h"
#include "pair_fixture.h"
#include "support/byte_vector_sink.h"
#include "support/fake_source.h"

#include <random>

namespace tracer {
namespace {

// Sends what a capture holds into a decoder, as a conversion does.
class IntoDecoder : public CaptureVisitor {
public:
    explicit IntoDecoder(TraceWriter& writer) : writer_(writer) {}
    Status on_definitions(RecordingDefinitions definitions) override {
        if (decoder == nullptr) {
            decoder = Decoder::make(std::move(definitions), writer_);
        } else {
            decoder->add(definitions.points, definitions.probes);
        }
        return {};
    }
    Status on_counters(const CaptureCounters&) override { return {}; }
    void on_progress(uint64_t, uint64_t) override {}
    void on_record(std::span<const std::byte> record) override { decoder->on_record(record); }

    std::unique_ptr<Decoder> decoder;

private:
    TraceWriter& writer_;
};

// Gives each record to two handlers.
class Both : public RecordHandler {
public:
    Both(RecordHandler& first, RecordHandler& second) : first_(first), second_(second) {}
    void on_record(std::span<const std::byte> record) override {
        first_.on_record(record);
        second_.on_record(record);
    }

private:
    RecordHandler& first_;
    RecordHandler& second_;
};

class CaptureRoundTrip : public PairTest {};

test::Record random_record(std::mt19937_64& random, uint64_t now, uint16_t cpu) {
    const auto tid = static_cast<uint32_t>(7 + random() % 4);
    const test::At at{.time_ns = now, .tgid = 7, .tid = tid, .cpu = cpu};
    const uint64_t sp = 0x10000 - random() % 8 * 64;
    switch (random() % 11) {
        case 0:
            return test::make_hit(at, 16, {random(), random()}, random() % 4);
        case 1:
            return test::make_string_hit(at, 17, "text", random() % 2);
        case 2:
        case 3:
            return test::make_hit(at, 20, {sp, random()});
        case 4:
            return test::make_hit(at, 21, {sp + 8, random()});
        case 5:
            return test::make_switch(at, 7, static_cast<uint32_t>(7 + random() % 4), random() % 2);
        case 6:
            return test::make_wakeup(at, 7, static_cast<uint32_t>(7 + random() % 4));
        case 7:  // matched by thread: begin, end or until
            return test::make_hit(at, static_cast<uint32_t>(40 + random() % 6), {random()});
        case 8:
            return test::make_hit(at, static_cast<uint32_t>(46 + random() % 3),
                                  {random() % 16, random()});
        case 9:
            return test::make_string_hit(at, static_cast<uint32_t>(49 + random() % 3),
                                         random() % 2 ? "a" : "b");
        default:
            return test::make_task(at, TR_KIND_task_rename, {.comm = random() % 2 ? "a" : "b"});
    }
}

TEST_F(CaptureRoundTrip, ConvertingGivesTheEventsOfTheRecording) {
    std::mt19937_64 random(3);
    test::FakeSource source(4);
    uint64_t now = 1;
    for (int i = 0; i < 20'000; ++i) {
        const size_t ring = random() % 4;
        now += random() % 1000;
        if (random() % 200 == 0) source.lose(ring, 1 + random() % 5);
        source.write(ring, random_record(random, now, static_cast<uint16_t>(ring)));
    }
    test::ByteVectorSink sink;
    CaptureWriter capture(sink);
    ASSERT_TRUE(capture.open(pair_definitions()).has_value());
    Both both(*decoder_, capture);
    Merger merger(source);
    merger.drain(UINT64_MAX, both);
    merger.finish(now, both);
    ASSERT_TRUE(capture.close().has_value());
    decoder_->finish(now);

    test::RecordingWriter again;
    IntoDecoder visitor(again);
    const auto summary = read_capture(sink.bytes(), visitor);
    ASSERT_TRUE(summary.has_value()) << summary.error().what;
    visitor.decoder->finish(now);
    EXPECT_EQ(again.lines(), writer_.lines());
    EXPECT_GT(writer_.lines().size(), 10'000U);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_THAT(again.faults(), testing::IsEmpty());
    EXPECT_EQ(counters().malformed, 0U);
    EXPECT_GT(counters().spans_key_reused, 0U);
    EXPECT_EQ(visitor.decoder->counters().spans_crossed, counters().spans_crossed);
}

}  // namespace
}  // namespace tracer
