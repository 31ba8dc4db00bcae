// SPDX-License-Identifier: Apache-2.0
//
// The header against those of two real compilers (data/ghc-*.eventlog-header: the first bytes of
// logs that they wrote).
#include "eventlog_fixture.h"
#include "tracer/write/eventlog/header.h"

#include <gtest/gtest.h>

namespace tracer::eventlog {
namespace {

const std::string kData = TRACER_WRITE_TEST_DATA;

std::map<uint16_t, uint16_t> declared_by(const Dialect& dialect) {
    const test::ReadLog log = test::read_log(make_header(dialect));
    EXPECT_EQ(log.fault, "");
    return log.declared;
}

TEST(EventlogHeader, IsGhc9103ByteForByte) {
    const auto ghc = test::load_bytes(kData + "/ghc-9.10.3.eventlog-header");
    ASSERT_FALSE(ghc.empty());
    const auto ours = make_header({.release = Release::ghc_9_10, .has_perf = false});
    EXPECT_EQ(test::to_hex(ours), test::to_hex(ghc));
}

TEST(EventlogHeader, DeclaresWhatGhc902Does) {
    const auto ghc = test::read_log(test::load_bytes(kData + "/ghc-9.0.2.eventlog-header"));
    ASSERT_EQ(ghc.fault, "");
    EXPECT_EQ(ghc.declared.size(), 69U);
    EXPECT_EQ(declared_by({.release = Release::ghc_9_0, .has_perf = false}), ghc.declared);
}

TEST(EventlogHeader, AddsWhatLaterReleasesDo) {
    const auto old = declared_by({.release = Release::ghc_9_8, .has_perf = false});
    EXPECT_EQ(old.at(207), 13);
    EXPECT_FALSE(old.contains(208));
    EXPECT_TRUE(old.contains(212));
    const auto latest = declared_by({});
    EXPECT_EQ(latest.at(207), 14);
    EXPECT_TRUE(latest.contains(208));
    EXPECT_EQ(latest.at(140), kVariableSize);
    EXPECT_FALSE(latest.contains(17));
    EXPECT_EQ(declared_by({.has_obsolete = true}).size(), kEventTypes.size());
}

TEST(EventlogHeader, AlwaysDeclaresWhatTellsReadersTheStatusNumbers) {
    for (const Release release : {Release::ghc_9_0, Release::ghc_9_14}) {
        const auto declared = declared_by({.release = release});
        EXPECT_TRUE(declared.contains(58) && declared.contains(59));
        EXPECT_EQ(declared.at(0), 4) << "8 would make readers take it for GHC 6's";
    }
}

}  // namespace
}  // namespace tracer::eventlog
