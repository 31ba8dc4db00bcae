// SPDX-License-Identifier: Apache-2.0
#include "session/summary_packs.h"

#include "session/summary.h"
#include "session/summary_text.h"
#include "unit/session/fake_output.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PackedProbe row(const std::string& name,
                PackedStatus status,
                PackLevel level = PackLevel::standard,
                const std::string& reason = {}) {
    PackedProbe probe;
    probe.name = name;
    probe.status = status;
    probe.level = level;
    probe.reason = reason;
    return probe;
}

PackedFile python(const std::string& path) {
    return {.pack = "python",
            .runtime = "CPython",
            .version = "3.11",
            .path = path,
            .probes = {row("gc", PackedStatus::armed), row("imports", PackedStatus::armed),
                       row("lines", PackedStatus::off, PackLevel::more),
                       row("calls", PackedStatus::off, PackLevel::all)}};
}

TEST(PackLines, SayWhatIsArmedAndWhatALevelWouldAdd) {
    EXPECT_EQ(pack_lines({python("/usr/bin/python3.11")}, false),
              "python 3.11 (/usr/bin/python3.11): gc, imports; more with --level more: lines; "
              "with --level all: calls\n");
}

TEST(PackLines, SayWhatIsMissingAndItsCureOncePerReason) {
    PackedFile file = python("/opt/python");
    file.version.clear();
    file.probes = {row("gc", PackedStatus::armed, PackLevel::standard, "single-stepped"),
                   row("imports", PackedStatus::missing, PackLevel::standard, "use --with-dtrace"),
                   row("audit", PackedStatus::missing, PackLevel::standard, "use --with-dtrace"),
                   row("monitor", PackedStatus::silent, PackLevel::standard, "needs -XX:+M"),
                   row("calls", PackedStatus::missing, PackLevel::all, "use --with-dtrace")};
    const std::string text = pack_lines({file}, false);
    EXPECT_EQ(text,
              "python (/opt/python): gc\n"
              "  imports, audit missing: use --with-dtrace\n"
              "  monitor silent: needs -XX:+M\n");
    EXPECT_THAT(pack_lines({file}, true), HasSubstr("imports, audit, calls missing"));
    EXPECT_THAT(pack_lines({file}, true), HasSubstr("gc note: single-stepped"));
}

// The C library's, of which every process has one.
TEST(PackLines, AFileOfWhichNothingWasAskedForIsNoNews) {
    PackedFile file = python("/lib/libc.so.6");
    file.probes = {row("malloc", PackedStatus::off, PackLevel::all)};
    EXPECT_THAT(pack_lines({file}, false), IsEmpty());
    EXPECT_THAT(recognised_lines({file}), IsEmpty());
    EXPECT_THAT(pack_lines({file}, true),
                HasSubstr("nothing armed; more with --level all: malloc"));
}

TEST(PackLines, FilesOfWhichTheSameIsToBeSaidShareALine) {
    const std::string text =
        pack_lines({python("/a/python"), python("/b/python"), python("/c/python")}, false);
    EXPECT_EQ(text.find("python 3.11 (/a/python and 2 more): gc, imports"), 0u) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(PackLines, AreBounded) {
    std::vector<PackedFile> files;
    for (int i = 0; i < 40; ++i) {
        files.push_back(python("/python"));
        files.back().version = std::to_string(i);
    }
    EXPECT_THAT(pack_lines(files, false), HasSubstr("28 more recognised (-v lists all)\n"));
    EXPECT_THAT(pack_lines(files, true), Not(HasSubstr("more recognised")));
    EXPECT_EQ(recognised_lines(files).size(), 13u);
}

TEST(RecognisedLines, AreShort) {
    EXPECT_THAT(recognised_lines({python("/usr/bin/python3.11")}),
                ElementsAre("python 3.11 recognised in /usr/bin/python3.11: gc, imports"));
    PackedFile bare = python("/opt/python");
    bare.probes = {row("gc", PackedStatus::missing, PackLevel::standard, "no probes")};
    EXPECT_THAT(recognised_lines({bare}),
                ElementsAre(HasSubstr("nothing armed, the summary says why")));
}

TEST(RecognisedLines, SayOnceWhatTheDearestLevelCosts) {
    PackedFile one = python("/one/python");
    PackedFile two = python("/two/python");
    one.warning = two.warning = "two hits a call";
    EXPECT_THAT(recognised_lines({one, two}),
                ElementsAre(HasSubstr("recognised"),
                            "warning: what python costs at --level all: two hits a call"));
}

TEST(PackNames, AreFoundByTheIdsOfTheirPrograms) {
    PackedFile file = python("/python");
    file.probes[0].first_probe_id = 20;
    file.probes[0].probe_id_count = 2;
    file.probes[1].first_probe_id = 30;
    file.probes[1].probe_id_count = 1;
    const PackNames names({file});
    EXPECT_EQ(names.name_of(19), "");
    EXPECT_EQ(names.name_of(20), "python/gc");
    EXPECT_EQ(names.name_of(21), "python/gc");
    EXPECT_EQ(names.name_of(22), "");
    EXPECT_EQ(names.name_of(30), "python/imports");
    EXPECT_EQ(names.name_of(31), "");
}

class PackedSummary : public testing::Test {
protected:
    PackedSummary() {
        for (const uint32_t id : {16u, 17u}) {
            ProbeDefinition definition;
            definition.probe_id = id;
            definition.spec = "usdt:python:gc__start";
            probes_.push_back(definition);
        }
        packs_ = {python("/python")};
        packs_[0].probes[0].first_probe_id = 17;
        packs_[0].probes[0].probe_id_count = 1;
    }

    Summary make() {
        return make_summary({.kernel = kernel_,
                             .merger = merger_,
                             .rings = rings_,
                             .output = output_,
                             .probes = probes_,
                             .packs = packs_});
    }

    KernelCounters kernel_;
    MergerCounters merger_;
    std::vector<RingLedger> rings_;
    test::FakeOutput output_;
    std::vector<ProbeDefinition> probes_;
    std::vector<PackedFile> packs_;
};

TEST_F(PackedSummary, ThePacksAndTheUsersOwnOfOneTextAreTwoRows) {
    kernel_.probes = {{16, {.filtered = 1}}, {17, {.filtered = 2}}};
    const Summary summary = make();
    ASSERT_EQ(summary.probes.size(), 2u);
    EXPECT_EQ(summary.probes[0].pack, "");
    EXPECT_EQ(summary.probes[1].pack, "python/gc");
    const auto json = nlohmann::json::parse(summary_json(summary));
    EXPECT_FALSE(json.at("probes").at(0).contains("pack"));
    EXPECT_EQ(json.at("probes").at(1).at("pack"), "python/gc");
    ASSERT_EQ(json.at("packs").size(), 1u);
    EXPECT_EQ(json.at("packs").at(0).at("version"), "3.11");
    EXPECT_EQ(json.at("packs").at(0).at("probes").at(2).at("status"), "off");
}

// A recording of packs alone in which nothing was collected is no mistake of the user's.
TEST_F(PackedSummary, OnlyWhatTheUserNamedIsMissedWhenItWasNotHit) {
    kernel_.probes = {{2, {.hits = 1}}, {16, {}}, {17, {}}};
    EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("no probe was hit")));
    probes_.erase(probes_.begin());
    kernel_.probes.erase(kernel_.probes.begin() + 1);
    EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(PackedSummary, RowsOfPacksThatWereNotHitAreLeftOut) {
    kernel_.probes = {{16, {}}, {17, {}}};
    const std::string text = summary_text(make(), {});
    EXPECT_THAT(text, HasSubstr("usdt:python:gc__start\n"));
    EXPECT_THAT(text, Not(HasSubstr("# python/gc")));
    EXPECT_THAT(summary_text(make(), {.verbose = true}), HasSubstr("# python/gc"));
}

}  // namespace
}  // namespace tracer
