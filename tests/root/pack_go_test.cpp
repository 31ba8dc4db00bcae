// SPDX-License-Identifier: Apache-2.0
//
// The pack of Go: what it records against runtime.MemStats, of a program with symbols and of one
// without.
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

uint64_t told_count(const RecordedScript& outcome, const char* name) {
    return outcome.counts.at(name).get<uint64_t>();
}

void expect_collections(const RecordedScript& outcome, PackStart start) {
    const auto& file = outcome.recorded.file;
    const bool is_whole = start == PackStart::from_the_first_instruction;
    const uint64_t collections = told_count(outcome, is_whole ? "all_collections" : "collections");
    EXPECT_EQ(span_count(file, "GC mark termination"), collections);
    EXPECT_GE(span_count(file, "GC start"), collections);
    // Each collection stops the world twice and each look at the counters once; the settings of the
    // collector may do so too.
    const uint64_t stops = 2 * collections + told_count(outcome, "memory_reads");
    const size_t recorded = span_count(file, "stop the world");
    EXPECT_GE(recorded, stops);
    EXPECT_LE(recorded, stops + 6);
    EXPECT_EQ(events_of(file, "panic").size(), told_count(outcome, "panics"));
    EXPECT_EQ(events_of(file, "fatal error").size(), 0u);
}

void expect_goroutines(const RecordedScript& outcome) {
    const auto& file = outcome.recorded.file;
    size_t ours = 0;
    for (const FxtEvent* event : events_of(file, "go")) {
        if (integer_argument(file, *event, "function") == told_count(outcome, "function")) ++ours;
    }
    EXPECT_EQ(ours, told_count(outcome, "goroutines"));
    EXPECT_GT(span_count(file, "GC mark"), 0u);
}

TEST(PackGo, CollectionsStopsAndPanicsAreThoseGoCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    for (const char* name : {"go_collections", "go_collections_stripped"}) {
        TR_REQUIRE_FILE(target_path(name));
        for (const auto start : {PackStart::while_running, PackStart::from_the_first_instruction}) {
            SCOPED_TRACE(name);
            SCOPED_TRACE(static_cast<int>(start));
            const auto outcome = record_script(start, {target_path(name)}, {"--packs", "go"});
            ASSERT_TRUE(outcome) << outcome.error().what;
            expect_sound(outcome->recorded);
            expect_nothing_lost(outcome->recorded);
            expect_collections(*outcome, start);
            EXPECT_EQ(events_of(outcome->recorded.file, "go").size(), 0u);
        }
    }
}

TEST(PackGo, GoroutinesAndMarkingAreOfALevelAbove) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE(target_path("go_collections_stripped"));
    const auto outcome =
        record_script(PackStart::while_running, {target_path("go_collections_stripped")},
                      {"--packs", "go", "--level", "more"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    expect_collections(*outcome, PackStart::while_running);
    expect_goroutines(*outcome);
}

}  // namespace
}  // namespace tracer::test
