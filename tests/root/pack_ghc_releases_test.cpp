// SPDX-License-Identifier: Apache-2.0
//
// The pack of GHC against programs of newer GHCs than Debian 12 has: 9.6 of trixie, 9.10 of sid,
// which count collections and log threads themselves. They run already when the tracer comes.
#include "root/ghc_program.h"
#include "root/oracle_program.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

class PackGhcReleases : public OracleProgram {
protected:
    void compile(const std::string& options) {
        const auto source = read_file(TRACER_GHC_PROGRAM);
        ASSERT_TRUE(source);
        compile_with(
            "ghc -v0 -O0 -rtsopts -outputdir /mnt/out -o /mnt/app " + options + " /mnt/Main.hs",
            "Main.hs", *source);
    }

    // No idle collection may come before the tracer.
    [[nodiscard]] WaitingGhc waiting(const std::string& runtime_options) const {
        const std::string run = command(
            "/mnt/app wait +RTS -I0 -t/mnt/said.txt --machine-readable -l "
            "-ol/mnt/own.eventlog " +
            runtime_options);
        return {{"/bin/sh", "-c", run}, file("said.txt"), file("recorded.eventlog")};
    }

    void expect_equal(const std::string& compile_options, const std::string& runtime_options) {
        compile(compile_options);
        if (IsSkipped() || HasFatalFailure()) return;
        const auto program = record_waiting_ghc(waiting(runtime_options), {"--level", "more"});
        ASSERT_TRUE(program) << program.error().what;
        expect_collections(*program);
        expect_threads_of_own_log(*program, file("own.eventlog"), OwnLogPart::behind_wait);
        EXPECT_THAT(texts_of(program->log, EventlogId::user_marker),
                    testing::ElementsAre("begin", "end"));
    }
};

TEST_P(PackGhcReleases, DefaultProgramsSayWhatTheirRuntimeDoes) {
    expect_equal("", "");
}

TEST_P(PackGhcReleases, ThreadedProgramsSayWhatTheirRuntimeDoes) {
    expect_equal("-threaded", "-N2");
}

TEST_P(PackGhcReleases, DebugProgramsSayWhatTheirRuntimeDoes) {
    expect_equal("-threaded -debug", "-N2");
}

INSTANTIATE_TEST_SUITE_P(Debian,
                         PackGhcReleases,
                         testing::Values("trixie", "sid"),
                         [](const auto& release) { return std::string(release.param); });

}  // namespace
}  // namespace tracer::test
