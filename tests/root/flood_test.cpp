// SPDX-License-Identifier: Apache-2.0
//
// Floods that a small ring cannot hold. What was lost is counted exactly, by the kernel, by the
// sequence of each ring and on the timeline, and no span lies across it.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

// Twenty seconds on a quiet machine of two CPUs, minutes on one that compiles meanwhile.
constexpr Milliseconds kFloodLimit{400000};

// A ring of 64 KiB, and so little time to drain it that it must overflow on any machine.
std::vector<std::string> small_ring(const std::string& probe, const ChildProcess& target) {
    return {"-e",
            probe,
            "--buffer",
            "64K/cpu",
            "--drain-share",
            "1",
            "--pid",
            std::to_string(target.pid())};
}

// What the timeline says was lost of what `cause` is.
uint64_t lost_on_timeline(const FxtFile& file, std::string_view cause) {
    uint64_t lost = 0;
    for (const FxtEvent* gap : events_of(file, "lost events", FxtEventType::duration_complete)) {
        const FxtValue* said = file.find(gap->arguments, "cause");
        if (said == nullptr || !same_value(*said, std::string(cause), false)) continue;
        EXPECT_GT(integer_argument(file, *gap, "count").value_or(0), 0u) << "at " << gap->time;
        EXPECT_LE(gap->time, gap->last_word);
        lost += integer_argument(file, *gap, "count").value_or(0);
    }
    return lost;
}

void expect_exact_ledger(const Recorded& recorded, uint64_t hits) {
    const nlohmann::json& summary = recorded.result.summary;
    const nlohmann::json probe = probe_row(summary, "usdt:flood:hit");
    ASSERT_TRUE(probe.is_object()) << summary.dump();
    const auto written = probe.at("written").get<uint64_t>();
    const auto ring_full = probe.at("lost").at("ring_full").get<uint64_t>();
    EXPECT_EQ(probe.at("hits").get<uint64_t>(), hits);
    EXPECT_EQ(written + ring_full, hits);
    EXPECT_GT(ring_full, 0u) << "nothing was lost: this flood proves nothing";
    EXPECT_GT(written, 0u);
    EXPECT_EQ(summary.at("loss").at("missed"), 0);

    uint64_t lost_in_rings = 0;
    for (const nlohmann::json& ring : summary.at("rings")) {
        EXPECT_EQ(ring.at("attempts").get<uint64_t>(),
                  ring.at("received").get<uint64_t>() + ring.at("lost").get<uint64_t>())
            << ring;
        lost_in_rings += ring.at("lost").get<uint64_t>();
    }
    EXPECT_EQ(summary.at("loss").at("ring_full").get<uint64_t>(), lost_in_rings);
    EXPECT_EQ(lost_on_timeline(recorded.file, "ring full"), lost_in_rings);
    // Room in the sink is the other thing that may run out: the events in the file are then fewer
    // than the records that came through the rings, by what the timeline says.
    EXPECT_EQ(lost_on_timeline(recorded.file, "sink full"),
              summary.at("loss").at("sink_full").get<uint64_t>());
    EXPECT_LE(events_of(recorded.file, "hit").size(), written);
    EXPECT_GE(
        events_of(recorded.file, "hit").size() + summary.at("loss").at("sink_full").get<uint64_t>(),
        written);
}

// The hits of each thread carry its own counter: those in the file are in order, each once.
void expect_counters_rise(const FxtFile& file) {
    std::map<uint64_t, int64_t> last;  // by tid
    size_t out_of_order = 0;
    for (const FxtEvent* hit : events_of(file, "hit")) {
        const auto counter = integer_argument(file, *hit, "arg0");
        ASSERT_TRUE(counter);
        const auto [known, is_new] = last.emplace(hit->tid, -1);
        if (static_cast<int64_t>(*counter) <= known->second) out_of_order++;
        known->second = static_cast<int64_t>(*counter);
    }
    EXPECT_EQ(out_of_order, 0u);
}

TEST(FloodRecorded, TheLedgerOfASmallRingSumsExactly) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kHits = 5'000'000;
    auto target = start_target("flood", {"--hits", std::to_string(kHits), "--threads", "2"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(small_ring("usdt:flood:hit", *target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kFloodLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    ASSERT_EQ(lines->at(0).at("hits").get<uint64_t>(), kHits);
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_exact_ledger(*recorded, kHits);
    expect_counters_rise(recorded->file);
}

TEST(FloodRecorded, ACaptureConvertedTellsOfTheSameLoss) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kHits = 500'000;
    auto target = start_target("flood", {"--hits", std::to_string(kHits), "--threads", "2"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start_capture(small_ring("usdt:flood:hit", *target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kFloodLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_exact_ledger(*recorded, kHits);
    expect_counters_rise(recorded->file);
}

TEST(FloodRecorded, NoSpanCrossesAGap) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "500000", "--threads", "2", "--function"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start(small_ring("span:" + target_path("flood") + ":flood_function", *target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kFloodLimit, 1));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);

    const auto gaps = events_of(recorded->file, "lost events", FxtEventType::duration_complete);
    ASSERT_FALSE(gaps.empty()) << "nothing was lost: this flood proves nothing";
    std::vector<uint64_t> gap_begins;
    gap_begins.reserve(gaps.size());
    for (const FxtEvent* gap : gaps) gap_begins.push_back(gap->time);
    std::sort(gap_begins.begin(), gap_begins.end());
    std::map<uint64_t, std::optional<uint64_t>> open;  // begin by tid
    size_t crossing = 0;
    for (const FxtEvent& event : recorded->file.events) {
        if (event.name != "flood_function") continue;
        std::optional<uint64_t>& begin = open[event.tid];
        if (event.type == FxtEventType::duration_begin) {
            // The function does not call itself: two open at once would be one left open.
            EXPECT_FALSE(begin) << "at " << event.time;
            begin = event.time;
        } else if (event.type == FxtEventType::duration_end) {
            ASSERT_TRUE(begin) << "at " << event.time;
            const auto gap = std::upper_bound(gap_begins.begin(), gap_begins.end(), *begin);
            if (gap != gap_begins.end() && *gap < event.time) crossing++;
            begin.reset();
        }
    }
    EXPECT_EQ(crossing, 0u);
}

}  // namespace
}  // namespace tracer::test
