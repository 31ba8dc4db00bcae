// SPDX-License-Identifier: Apache-2.0
//
// The pack of GHC against what Haskell programs say of themselves: collections by `+RTS -t`,
// threads by their own eventlog of the same run. tests/support/targets/pack_ghc.hs in the ways in
// which GHC builds a program.
#include "root/ghc_program.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

// The programs whose runtime names its collector.
class PackGhc : public testing::TestWithParam<const char*> {};

TEST_P(PackGhc, CollectionsAndBytesAreThoseThatTheRuntimeCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path(GetParam()));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto program = record_started_ghc(*folder, target_path(GetParam()), {});
    ASSERT_TRUE(program) << program.error().what;
    expect_collections(*program);
    EXPECT_THAT(texts_of(program->log, EventlogId::user_marker),
                testing::ElementsAre("begin", "end"));
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         PackGhc,
                         testing::Values("pack_ghc_default",
                                         "pack_ghc_threaded",
                                         "pack_ghc_debug",
                                         "pack_ghc_eventlog",
                                         "pack_ghc_profiled"),
                         [](const auto& way) {
                             return std::string(way.param).substr(sizeof("pack_ghc_") - 1);
                         });

// The ways whose runtimes can write a log.
class PackGhcThreads : public testing::TestWithParam<const char*> {};

TEST_P(PackGhcThreads, RunAndStopAsTheProgramsOwnLogSays) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path(GetParam()));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string own_path = folder->file("own.eventlog");
    const auto program = record_started_ghc(*folder, target_path(GetParam()), {"--level", "more"},
                                            {"-l", "-ol" + own_path, "-N2"});
    ASSERT_TRUE(program) << program.error().what;
    expect_collections(*program);
    expect_threads_of_own_log(*program, own_path, OwnLogPart::whole);
}

INSTANTIATE_TEST_SUITE_P(
    Ways,
    PackGhcThreads,
    testing::Values("pack_ghc_eventlog", "pack_ghc_debug", "pack_ghc_profiled"),
    [](const auto& way) { return std::string(way.param).substr(sizeof("pack_ghc_") - 1); });

// Until it is told to go on the program is as the tracer finds it.
WaitingGhc waiting(const TempFolder& folder,
                   const std::string& program,
                   const std::string& word,
                   const std::vector<std::string>& runtime_options) {
    WaitingGhc found{
        {program, word, "+RTS", "-I0", "-t" + folder.file("said.txt"), "--machine-readable"},
        folder.file("said.txt"),
        folder.file("recorded.eventlog")};
    found.command.insert(found.command.end(), runtime_options.begin(), runtime_options.end());
    return found;
}

// The log is valid, so that each is created before it runs. Collectors that wait for each other
// spin, which takes long on a machine that is busy itself: one does (-qg).
TEST(PackGhcRunning, ThreadsMetInMidFlightAreCreatedBeforeTheyRun) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path("pack_ghc_threaded"));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto program = record_waiting_ghc(
        waiting(*folder, target_path("pack_ghc_threaded"), "busy", {"-N2", "-qg"}),
        {"--level", "more"});
    ASSERT_TRUE(program) << program.error().what;
    const auto& spans = program->result.summary.at("spans");
    // Of runs under way and a collection, and of the main thread, which blocks four times behind a
    // conditional jump to StgReturn: that is hit whether it is taken or not.
    EXPECT_LE(spans.at("begun_before").get<uint64_t>(), 4U);
    EXPECT_LE(spans.at("orphan_ends").get<uint64_t>(), 4U);
    // The main thread, four that are busy, and three that come later.
    EXPECT_GE(count_by(program->log, EventlogId::run_thread, "thread").size(), 8U);
    EXPECT_EQ(count_by(program->log, EventlogId::create_thread, "thread").size(),
              count_of(program->log, EventlogId::create_thread));
    EXPECT_GE(count_of(program->log, EventlogId::create_thread), 8U);
}

TEST(PackGhcRunning, AProgramThatLogsItselfIsTold) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path("pack_ghc_eventlog"));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string own_path = folder->file("own.eventlog");
    const auto program = record_waiting_ghc(
        waiting(*folder, target_path("pack_ghc_eventlog"), "wait", {"-l", "-ol" + own_path}), {});
    ASSERT_TRUE(program) << program.error().what;
    EXPECT_THAT(program->result.errors,
                testing::HasSubstr("writes a log of its own, " + own_path + ": it has besides"));
    EXPECT_EQ(program->row("own-log").at("status"), "armed");
    EXPECT_GE(program->hits("writeEventLogFile"), 1U) << "at its end";
    expect_collections(*program);
}

// A GHC that the pack has not seen: what lies at fixed places in its memory is not guessed.
TEST(PackGhcUnnamed, AnUnknownVersionShowsWhatNeedsNoLayout) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path("pack_ghc_threaded"));
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    auto bytes = read_file(target_path("pack_ghc_threaded"));
    ASSERT_TRUE(bytes);
    const std::string known = "GHC 9.0.2";
    const size_t at = bytes->find(known);
    ASSERT_NE(at, bytes->npos);
    bytes->replace(at, known.size(), "GHC 9.1.2");
    const std::string path = folder->file("unknown");
    ASSERT_TRUE(write_file(path, *bytes));
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
    const auto program = record_started_ghc(*folder, path, {"--level", "more"});
    ASSERT_TRUE(program) << program.error().what;
    EXPECT_EQ(program->row("run").at("status"), "refused");
    EXPECT_THAT(
        program->row("run").at("reason").get<std::string>(),
        testing::HasSubstr("where GHC 9.1.2 keeps this in memory is not known (known: 9.0"));
    EXPECT_EQ(program->row("gc").at("status"), "armed");
    EXPECT_GT(count_of(program->log, EventlogId::gc_stats_ghc), 0U);
    EXPECT_EQ(count_of(program->log, EventlogId::run_thread), 0U);
    EXPECT_GT(program->hits("sched:switch"), 0U) << "what the kernel sees";
}

TEST(PackGhcUnnamed, StrippedProgramsAndLibrariesShowWhatCanBeHad) {
    TR_REQUIRE_ROOT();
    for (const char* name : {"pack_ghc_stripped", "pack_ghc_dynamic"}) {
        SCOPED_TRACE(name);
        TR_REQUIRE_FILE(target_path(name));
        const auto folder = TempFolder::make();
        ASSERT_TRUE(folder);
        const auto program = record_started_ghc(*folder, target_path(name), {"--level", "more"});
        ASSERT_TRUE(program) << program.error().what;
        const nlohmann::json row = program->row("gc");
        ASSERT_FALSE(row.is_null());
        EXPECT_EQ(row.at("status"), "missing");
        EXPECT_THAT(row.at("reason").get<std::string>(),
                    testing::HasSubstr("does not name its collector"));
        EXPECT_EQ(count_of(program->log, EventlogId::gc_start), 0u);
    }
}

}  // namespace
}  // namespace tracer::test
