// SPDX-License-Identifier: Apache-2.0
//
// The pack of GHC against what Haskell programs say of themselves: collections by `+RTS -t`,
// threads by their own eventlog of the same run. tests/support/targets/pack_ghc.hs in the ways in
// which GHC builds a program.
#include "root/ghc_program.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>

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
