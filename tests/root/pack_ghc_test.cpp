// SPDX-License-Identifier: Apache-2.0
//
// The pack of GHC against what Haskell programs say of themselves: collections by `+RTS -t`,
// threads by their own eventlog of the same run. tests/support/targets/pack_ghc.hs in the ways in
// which GHC builds a program.
#include "support/eventlog_check.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"
#include "support/fixtures/temp_folder.h"
#include "support/fixtures/tracer_run.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Counts = std::map<uint64_t, uint64_t>;

std::string file_text(const std::string& path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

// Of `+RTS -t --machine-readable`: lines of ("key", "value").
uint64_t said_number(const std::string& said, const std::string& key) {
    const std::string begin = "(\"" + key + "\", \"";
    const size_t at = said.find(begin);
    EXPECT_NE(at, said.npos) << key << " in " << said;
    return at == said.npos ? 0 : std::stoull(said.substr(at + begin.size()));
}

// A log that is read to its end without anything odd and that six state machines accept, ours and
// those of ghc-events where it is installed.
EventlogFile load_valid(const std::string& path) {
    auto file = load_eventlog(path);
    EXPECT_TRUE(file) << file.error().what;
    if (!file) return {};
    EXPECT_EQ(problems_text(*file), "");
    EXPECT_THAT(check_eventlog(*file).refusals, testing::IsEmpty());
    if (!missing_eventlog_checker()) {
        EXPECT_TRUE(validates_as_eventlog(path));
    }
    return std::move(*file);
}

Counts count_by(const EventlogFile& file, EventlogId id, std::string_view field) {
    Counts counts;
    for (const EventlogEvent& event : file.events) {
        if (event.is(id)) ++counts[event.number(field)];
    }
    return counts;
}

uint64_t sum_of(const EventlogFile& file, EventlogId id, std::string_view field) {
    uint64_t sum = 0;
    for (const EventlogEvent& event : file.events) {
        if (event.is(id)) sum += event.number(field);
    }
    return sum;
}

uint64_t count_of(const EventlogFile& file, EventlogId id) {
    uint64_t count = 0;
    for (const EventlogEvent& event : file.events) count += event.is(id) ? 1 : 0;
    return count;
}

std::vector<std::string> texts_of(const EventlogFile& file, EventlogId id) {
    std::vector<std::string> texts;
    for (const EventlogEvent& event : file.events) {
        if (event.is(id)) texts.emplace_back(event.text("text"));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

struct RecordedProgram {
    TracerResult result;
    EventlogFile log;
    std::string said;  // of +RTS -t
};

// Started by the tracer, so that all of it is recorded.
Result<RecordedProgram> record_program(const TempFolder& folder,
                                       const std::string& program,
                                       const std::vector<std::string>& options,
                                       const std::vector<std::string>& runtime_options = {}) {
    const std::string said = folder.file("said.txt");
    const std::string log = folder.file("recorded.eventlog");
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(),
                     {"-o", log, "--", program, "+RTS", "-t" + said, "--machine-readable"});
    arguments.insert(arguments.end(), runtime_options.begin(), runtime_options.end());
    TR_ASSIGN(auto run, TracerRun::start(arguments));
    TR_ASSIGN(auto result, run.finish());
    EXPECT_EQ(result.status, ExitStatus{}) << result.errors;
    if (result.summary.is_object()) {
        EXPECT_TRUE(result.summary.value("agree", false));
        for (const auto& [cause, count] : result.summary.at("loss").items()) {
            EXPECT_EQ(count, 0) << cause;
        }
    }
    return RecordedProgram{std::move(result), load_valid(log), file_text(said)};
}

void expect_collections(const RecordedProgram& program) {
    const EventlogFile& log = program.log;
    const uint64_t all = said_number(program.said, "num_GCs");
    const uint64_t major = said_number(program.said, "major_gcs");
    EXPECT_GT(major, 0u);
    EXPECT_EQ(count_by(log, EventlogId::gc_stats_ghc, "generation"),
              (Counts{{0, all - major}, {1, major}}));
    EXPECT_EQ(sum_of(log, EventlogId::gc_stats_ghc, "copied"),
              said_number(program.said, "copied_bytes"));
    for (const EventlogId id : {EventlogId::gc_start, EventlogId::gc_end,
                                EventlogId::gc_global_sync, EventlogId::heap_size}) {
        EXPECT_EQ(count_of(log, id), all) << static_cast<int>(id);
    }
    EXPECT_EQ(count_of(log, EventlogId::heap_live), major);
}

// The programs whose runtime names its collector.
class PackGhc : public testing::TestWithParam<const char*> {};

TEST_P(PackGhc, CollectionsAndBytesAreThoseThatTheRuntimeCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path(GetParam()));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto program = record_program(*folder, target_path(GetParam()), {});
    ASSERT_TRUE(program) << program.error().what;
    expect_collections(*program);
    EXPECT_THAT(texts_of(program->log, EventlogId::user_marker),
                testing::ElementsAre("begin", "end"));
}

INSTANTIATE_TEST_SUITE_P(
    Ways,
    PackGhc,
    testing::Values("pack_ghc_default", "pack_ghc_threaded", "pack_ghc_debug", "pack_ghc_eventlog"),
    [](const auto& way) { return std::string(way.param).substr(sizeof("pack_ghc_") - 1); });

TEST(PackGhcThreads, RunAndStopAsTheProgramsOwnLogSays) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path("pack_ghc_eventlog"));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string own_path = folder->file("own.eventlog");
    const auto program = record_program(*folder, target_path("pack_ghc_eventlog"),
                                        {"--level", "more"}, {"-l", "-ol" + own_path, "-N2"});
    ASSERT_TRUE(program) << program.error().what;
    expect_collections(*program);
    const auto own = load_eventlog(own_path);
    ASSERT_TRUE(own) << own.error().what;
    auto expected = count_by(*own, EventlogId::stop_thread, "status");
    auto stops = count_by(program->log, EventlogId::stop_thread, "status");
    // Threads that are ended with the program have a run in their own log that is none.
    constexpr uint64_t kFinished = 5;
    EXPECT_LE(stops[kFinished], expected[kFinished]);
    expected.erase(kFinished);
    stops.erase(kFinished);
    EXPECT_EQ(stops, expected);
    EXPECT_GE(stops[7], 3u) << "MVar";
    auto messages = texts_of(program->log, EventlogId::user_msg);
    // Births and deaths of the kernel's threads, which are messages in a log.
    std::erase_if(messages,
                  [](const std::string& text) { return text.find(" tid=") != std::string::npos; });
    EXPECT_EQ(messages, texts_of(*own, EventlogId::user_msg));
}

TEST(PackGhcUnnamed, StrippedProgramsAndLibrariesShowWhatCanBeHad) {
    TR_REQUIRE_ROOT();
    for (const char* name : {"pack_ghc_stripped", "pack_ghc_dynamic"}) {
        SCOPED_TRACE(name);
        TR_REQUIRE_FILE(target_path(name));
        const auto folder = TempFolder::make();
        ASSERT_TRUE(folder);
        const auto program = record_program(*folder, target_path(name), {"--level", "more"});
        ASSERT_TRUE(program) << program.error().what;
        bool is_told = false;
        for (const auto& file : program->result.summary.at("packs")) {
            for (const auto& probe : file.at("probes")) {
                if (probe.at("name") != "gc") continue;
                is_told = true;
                EXPECT_EQ(probe.at("status"), "missing");
                EXPECT_THAT(probe.at("reason").get<std::string>(),
                            testing::HasSubstr("does not name its collector"));
            }
        }
        EXPECT_TRUE(is_told);
        EXPECT_EQ(count_of(program->log, EventlogId::gc_start), 0u);
    }
}

}  // namespace
}  // namespace tracer::test
