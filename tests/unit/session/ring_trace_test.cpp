// SPDX-License-Identifier: Apache-2.0
#include "session/ring_trace.h"

#include "decode/decoder.h"
#include "session/gc_stats.h"
#include "session/output_file.h"
#include "session/record_batch.h"
#include "session/ring_records.h"
#include "support/recording_writer.h"
#include "tracer/write/sinks.h"
#include "unit/ring/ring_builder.h"
#include "unit/ring/ring_samples.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer::test {
namespace {

constexpr uint32_t kMajor = 6;
constexpr ring::OcamlVersions kNewest{4, 4};
// Of 5.4.
constexpr uint32_t kMinor = 11;
constexpr uint32_t kLeaveBarrier = 32;
constexpr uint32_t kConditionWait = 42;
constexpr uint32_t kPromoted = 4;
constexpr uint32_t kAllocated = 5;

struct Converted {
    RecordingWriter writer;
    DecoderCounters counts;
    RingRecording recording;
};

void convert(std::span<const std::byte> bytes, Converted& out) {
    auto cursor = ring::Cursor::over(bytes, {.versions = kNewest});
    ASSERT_TRUE(cursor);
    auto recording = read_rings(*cursor);
    ASSERT_TRUE(recording);
    out.recording = std::move(*recording);
    const auto decoder = Decoder::make(ring_definitions(out.recording), out.writer);
    write_ring_records(out.recording, *cursor, *decoder);
    decoder->finish(out.recording.last_ns);
    out.counts = decoder->counters();
}

TEST(RingTrace, WritesEverySampleByTheRulesOfWriters) {
    for (const RingSample& sample : ring_samples()) {
        const auto bytes = read_sample(sample);
        Converted converted;
        convert(bytes, converted);
        EXPECT_EQ(converted.writer.faults(), std::vector<std::string>()) << sample.name;
        EXPECT_EQ(converted.writer.open_spans(), 0u) << sample.name;
        // An item is a line, but an end without its begin none, and a repaired end one more.
        const DecoderCounters& counts = converted.counts;
        EXPECT_EQ(converted.writer.lines().size(),
                  converted.recording.items.size() - counts.spans_orphan_end -
                      counts.spans_begun_before + counts.spans_cut_by_loss +
                      counts.spans_closed_at_exit + counts.spans_closed_at_end)
            << sample.version << " " << sample.name;
    }
}

TEST(RingTrace, MergesRingsByTimeOnTracksOfTheirOwn) {
    RingBuilder rings(2, 64, false);
    rings.write(0, 5, false, TR_RING_LIFECYCLE, TR_RING_START, {77});
    rings.begin(0, 10, kMajor).counter(0, 15, kPromoted, 800).end(0, 30, kMajor);
    rings.begin(1, 20, kConditionWait).end(1, 25, kConditionWait);
    Converted converted;
    convert(rings.bytes(), converted);
    EXPECT_EQ(
        converted.writer.lines(),
        (std::vector<std::string>{
            "5 instant ring_start 1#1022 [77]", "10 begin major 1#1022 []",
            "15 counter minor_promoted 1#1022 [800]", "20 begin domain_condition_wait 2#1022 []",
            "25 end domain_condition_wait 2#1022 returned []", "30 end major 1#1022 returned []"}));
    EXPECT_EQ(converted.writer.find_thread(1)->thread_name, "domain 0");
    EXPECT_EQ(converted.writer.find_thread(2)->pid, 77u);
}

TEST(RingTrace, ClosesSpansWhereEventsWereLost) {
    RingBuilder rings(1, 16, true);
    rings.begin(0, 1, kMajor);
    for (uint64_t i = 2; i <= 9; ++i) rings.write(0, i, true, TR_RING_USER_BEGIN, 1);
    Converted converted;
    convert(rings.bytes(), converted);
    const auto& lines = converted.writer.lines();
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front(), "3 instant events lost 1#1022 [2, 4, true, 3]");
    EXPECT_EQ(converted.counts.spans_closed_at_end, 7u);
}

TEST(RingTrace, GivesTheNextDomainOfARingATrackOfItsOwn) {
    RingBuilder rings(2, 64, false);
    rings.write(1, 1, false, TR_RING_LIFECYCLE, TR_RING_DOMAIN_SPAWN, {7});
    rings.begin(1, 2, kMajor);
    rings.write(1, 3, false, TR_RING_LIFECYCLE, TR_RING_DOMAIN_SPAWN, {7});
    Converted converted;
    convert(rings.bytes(), converted);
    EXPECT_EQ(converted.counts.spans_closed_at_exit, 1u);
    EXPECT_EQ(converted.writer.threads().size(), 2u);
    EXPECT_EQ(converted.writer.find_thread(2)->thread_name, "domain 1 (life 2)");
}

TEST(RingTrace, KnowsTheProcessByTheFilesNameIfTheRingsDoNotSay) {
    RingBuilder rings(1, 64, false);
    for (const auto& [path, pid] : {std::pair{"/tmp/12.events", 12u},
                                    {"34.events", 34u},
                                    {"x.events", 0u},
                                    {"/5.events/6", 0u},
                                    {"", 0u}}) {
        auto cursor = ring::Cursor::over(rings.bytes());
        EXPECT_EQ(read_rings(*cursor, path)->pid, pid) << path;
    }
}

// A busy program has always written something that may not be handed over yet.
TEST(RecordBatch, GivesBackWhatIsWrittenThoughNeverEmpty) {
    class Counter : public RecordHandler {
    public:
        void on_record(std::span<const std::byte> record) override {
            tr_record_header header{};
            ASSERT_EQ(record.size(), sizeof(tr_ring_lost));
            std::memcpy(&header, record.data(), sizeof(header));
            EXPECT_EQ(header.time_ns, ++last_ns);
        }
        uint64_t last_ns = 0;
    } counter;
    RecordBatch batch;
    for (uint64_t time_ns = 1; time_ns <= 1000; ++time_ns) {
        tr_ring_lost record{};
        record.header.time_ns = time_ns;
        batch.add(record);
        batch.sort();
        batch.write_up_to(time_ns - 1, counter);
        ASSERT_FALSE(batch.is_empty());
        ASSERT_LE(batch.bytes(), 2 * sizeof(tr_ring_lost));
    }
    batch.write_up_to(1000, counter);
    EXPECT_EQ(counter.last_ns, 1000u);
    EXPECT_TRUE(batch.is_empty());
}

TEST(RingTrace, ConvertsWithASummary) {
    RingBuilder rings(1, 16, false);
    for (uint64_t i = 1; i <= 20; ++i) rings.begin(0, i, kMajor);
    auto cursor = ring::Cursor::over(rings.bytes());
    ASSERT_TRUE(cursor);
    const auto result = convert_rings({.input_path = "x.events"}, *cursor,
                                      *find_format_by_name("fxt"), std::make_unique<MemorySink>());
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->output);
    EXPECT_EQ(result->summary.loss.overwritten, 12u);  // 26 words of 2.2: an estimate
    EXPECT_EQ(result->summary.attempts, 19u);
    EXPECT_EQ(result->summary.warnings.size(), 1u);
    EXPECT_GT(result->summary.bytes, 0u);
}

TEST(RingTrace, CallsNothingWrittenThatAFullDiskDidNotTake) {
    RingBuilder rings(1, 64, false);
    for (uint64_t i = 1; i <= 20; ++i) rings.begin(0, i, kMajor);
    auto cursor = ring::Cursor::over(rings.bytes(), {.versions = kNewest});
    ASSERT_TRUE(cursor);
    auto sink = open_output_sink("/dev/full", false);
    ASSERT_TRUE(sink) << sink.error().what;
    const auto result = convert_rings({.input_path = "x.events"}, *cursor,
                                      *find_format_by_name("fxt"), std::move(*sink));
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->output);
    EXPECT_EQ(result->summary.bytes, 0u);
    EXPECT_EQ(result->summary.events, 0u);
    EXPECT_GE(result->summary.loss.unwritten, 20u);
}

GcStats stats_of(RingBuilder& rings) {
    auto cursor = ring::Cursor::over(rings.bytes(), {.versions = kNewest});
    const auto recording = read_rings(*cursor);
    return compute_gc_stats(*recording).value();
}

TEST(GcStats, CountOutermostPhasesAndWaitingApart) {
    RingBuilder rings(1, 128, false);
    rings.begin(0, 100, kMajor).begin(0, 110, kMinor).counter(0, 115, kPromoted, 64);
    rings.counter(0, 116, kAllocated, 4096).end(0, 120, kMinor);
    rings.begin(0, 130, kLeaveBarrier).end(0, 150, kLeaveBarrier).end(0, 160, kMajor);
    rings.begin(0, 200, kMinor).end(0, 210, kMinor).counter(0, 1100, kPromoted, 8);
    const GcStats stats = stats_of(rings);
    ASSERT_EQ(stats.domains.size(), 1u);
    const DomainGcStats& domain = stats.domains[0];
    EXPECT_EQ(domain.observed_ns, 1000u);
    EXPECT_EQ(domain.gc_ns, 70u);
    EXPECT_EQ(domain.waiting_ns, 20u);
    EXPECT_EQ(domain.pauses_ns, (std::vector<uint64_t>{10, 60}));
    EXPECT_EQ(domain.minor_collections, 2u);
    EXPECT_EQ(domain.promoted_bytes, 72u);
    EXPECT_EQ(domain.allocated_bytes, 4096u);
    EXPECT_DOUBLE_EQ(domain.gc_share(), 0.07);
}

// Another thread collects for a domain that waits: its time counts, the program's wait does not.
TEST(GcStats, CountCollectionsWithinTheProgramsOwnWait) {
    RingBuilder rings(1, 128, false);
    rings.begin(0, 0, kConditionWait).begin(0, 100, kMinor).end(0, 130, kMinor);
    rings.end(0, 1000, kConditionWait);
    const GcStats stats = stats_of(rings);
    EXPECT_EQ(stats.domains[0].gc_ns, 30u);
    EXPECT_EQ(stats.domains[0].pauses_ns, (std::vector<uint64_t>{30}));
    EXPECT_EQ(stats.domains[0].observed_ns, 1000u);
}

TEST(GcStats, NeverCountMoreThanTimeAndCloseWhatLossCut) {
    for (const RingSample& sample : ring_samples()) {
        const auto bytes = read_sample(sample);
        auto cursor =
            ring::Cursor::over(bytes, {.versions = *ring::parse_ocaml_version(sample.version)});
        const auto recording = read_rings(*cursor);
        const auto stats = compute_gc_stats(*recording);
        ASSERT_TRUE(stats) << sample.name;
        size_t pauses = 0;
        for (const DomainGcStats& domain : stats->domains) {
            EXPECT_LE(domain.gc_ns, domain.observed_ns) << sample.version << sample.name;
            EXPECT_LE(domain.waiting_ns, domain.gc_ns) << sample.version << sample.name;
            pauses += domain.pauses_ns.size();
        }
        EXPECT_EQ(pauses, stats->pauses_ns.size());
        EXPECT_EQ(nlohmann::json::parse(gc_stats_json(*stats)).at("domains").size(),
                  stats->domains.size());
    }
}

TEST(GcStats, EndAtALossWhoseBeginNobodySaw) {
    RingRecording recording;
    recording.producer.versions = kNewest;
    recording.items = {{.time_ns = 100, .kind = ring::EventKind::begin, .id = kMinor},
                       {.time_ns = 200, .is_loss = true, .payload_index = 0}};
    recording.losses = {{.ring = 0, .words = 9, .events = 3, .begin_ns = 0, .end_ns = 200}};
    recording.first_ns = 100;
    recording.last_ns = 200;
    const auto stats = compute_gc_stats(recording);
    ASSERT_TRUE(stats) << stats.error().what;
    ASSERT_EQ(stats->domains.size(), 1u);
    EXPECT_EQ(stats->domains[0].gc_ns, 100u);
    EXPECT_EQ(stats->domains[0].observed_ns, 100u);
    EXPECT_TRUE(stats->domains[0].pauses_ns.empty());
}

TEST(GcStats, RefuseToGuessTheVersion) {
    RingBuilder rings(128, 64, false);
    rings.begin(0, 1, kMajor);
    auto cursor = ring::Cursor::over(rings.bytes());
    const auto recording = read_rings(*cursor);
    const auto stats = compute_gc_stats(*recording);
    ASSERT_FALSE(stats);
    EXPECT_NE(stats.error().hint.find("--ocaml"), std::string::npos);
}

TEST(GcStats, PercentilesAreValuesThatOccurred) {
    std::vector<uint64_t> values;
    EXPECT_EQ(percentile(values, 0.5), 0u);
    for (uint64_t i = 1; i <= 100; ++i) values.push_back(i);
    EXPECT_EQ(percentile(values, 0.5), 50u);
    EXPECT_EQ(percentile(values, 0.99), 99u);
    EXPECT_EQ(percentile(values, 0.999), 100u);
    EXPECT_EQ(percentile(values, 1.0), 100u);
}

// Of an id without a name a reader makes one: no file may use up the names of all others.
TEST(RingPoints, EventsBeyondTheNamesAreKeptWithoutTheirs) {
    constexpr uint32_t kPoints = 1u << 16;  // of one recording; the decoder takes no more
    RingPoints points;
    RecordBatch definitions;
    const ring::Event unit{.kind = ring::EventKind::user_unit, .is_user = true};
    const ring::Event number{.kind = ring::EventKind::user_int, .is_user = true};
    uint32_t last = 0;
    for (uint32_t i = 0; i < kPoints + 10; ++i) {
        last = points.find_or_add(unit, "event " + std::to_string(i), 1, definitions);
    }
    EXPECT_LT(last, kPoints);
    EXPECT_EQ(points.find_or_add(unit, "another", 1, definitions), last);
    EXPECT_EQ(points.find_or_add(unit, "event 7", 1, definitions), 7u) << "known before";
    const uint32_t other = points.find_or_add(number, "another", 1, definitions);
    EXPECT_NE(other, last) << "a counter is no instant";
    EXPECT_LT(other, kPoints);
}

}  // namespace
}  // namespace tracer::test
