// SPDX-License-Identifier: Apache-2.0
//
// What a row says when the kernel refused some, or all, of a probe's places.
#include "packs/pack_refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One probe with three programs: a begin at two places, an end, and what else ends it.
class PackRefusals : public testing::Test {
protected:
    PackRefusals() {
        add(16, HitRole::pair_begin, 2);
        add(17, HitRole::pair_end, 1);
        add(18, HitRole::pair_until, 1);
        files_.push_back({.pack = "app", .runtime = "App", .version = {}, .path = "/app"});
        PackedProbe probe;
        probe.name = "request";
        probe.status = PackedStatus::armed;
        probe.sites = 4;
        probe.first_probe_id = 16;
        probe.probe_id_count = 3;
        files_[0].probes.push_back(probe);
        probe.name = "other";
        probe.first_probe_id = 19;
        probe.probe_id_count = 1;
        files_[0].probes.push_back(probe);
        add(19, HitRole::instant, 1);
    }

    void add(uint32_t id, HitRole role, size_t places) {
        if (plan_.files.empty()) plan_.files.emplace_back();
        ProbeDefinition definition;
        definition.probe_id = id;
        definition.role = role;
        plan_.probes.push_back(definition);
        for (size_t i = 0; i < places; ++i) {
            plan_.files[0].sites.push_back({.probe_id = id, .may_fail = true});
        }
    }

    const PackedProbe& after(const std::vector<uint32_t>& refused,
                             const std::string& reason = {},
                             bool is_raise = false) {
        std::vector<RefusedPlace> places;
        for (const uint32_t id : refused) places.push_back({id, reason, is_raise});
        note_refused_places(files_, plan_, places);
        return files_[0].probes[0];
    }

    AttachPlan plan_;
    std::vector<PackedFile> files_;
};

TEST_F(PackRefusals, NothingRefusedIsNothingSaid) {
    EXPECT_EQ(after({}).status, PackedStatus::armed);
    EXPECT_EQ(after({}).sites, 4u);
    EXPECT_THAT(after({}).reason, IsEmpty());
}

TEST_F(PackRefusals, ASpanWithoutAnyBeginIsRefused) {
    const PackedProbe& probe = after({16, 16});
    EXPECT_EQ(probe.status, PackedStatus::refused);
    EXPECT_EQ(probe.sites, 2u);
    EXPECT_THAT(probe.reason, HasSubstr("first instruction"));
    EXPECT_EQ(files_[0].probes[1].status, PackedStatus::armed);
}

TEST_F(PackRefusals, ASpanWithoutAnyEndIsRefused) {
    EXPECT_EQ(after({17}).status, PackedStatus::refused);
    EXPECT_THAT(after({17}).reason, HasSubstr("end"));
}

TEST_F(PackRefusals, OneOfSeveralPlacesIsANote) {
    const PackedProbe& probe = after({16, 18});
    EXPECT_EQ(probe.status, PackedStatus::armed);
    EXPECT_EQ(probe.sites, 2u);
    EXPECT_THAT(probe.reason, HasSubstr("2 of its 4 places left out"));
}

// A file that is gone, or a place that another tool holds, is no matter of instructions.
TEST_F(PackRefusals, SaysWhatElseWasAtFault) {
    EXPECT_EQ(after({16, 16, 17, 18}, "the file is gone").reason, "the file is gone");
    EXPECT_EQ(files_[0].probes[0].status, PackedStatus::refused);
    EXPECT_EQ(files_[0].probes[0].sites, 0u);
}

TEST_F(PackRefusals, SaysWhatElseWasAtFaultOfOnePlace) {
    EXPECT_EQ(after({16}, "held by another").reason, "1 of its 4 places left out, held by another");
}

// All its places are there, and who fires it does so only where the semaphore is up.
TEST_F(PackRefusals, ASemaphoreThatCannotBeRaisedTakesNoPlaceAway) {
    const PackedProbe& probe = after({16}, "raise a semaphore: refused", true);
    EXPECT_EQ(probe.status, PackedStatus::silent);
    EXPECT_EQ(probe.sites, 4u);
    EXPECT_EQ(probe.reason, "raise a semaphore: refused");
    EXPECT_EQ(files_[0].probes[1].status, PackedStatus::armed);
}

TEST_F(PackRefusals, WhatGaveWayToAProbeThatIsRefusedSaysSo) {
    PackedProbe replaced;
    replaced.name = "less";
    replaced.replaced_by = "request";
    replaced.status = PackedStatus::off;
    replaced.reason = "request says it too";
    files_[0].probes.push_back(replaced);
    after({19});
    EXPECT_EQ(files_[0].probes[2].status, PackedStatus::off);
    EXPECT_EQ(files_[0].probes[2].reason, "request says it too");
    after({16, 16});
    EXPECT_EQ(files_[0].probes[2].status, PackedStatus::refused);
    EXPECT_THAT(files_[0].probes[2].reason, HasSubstr("request, which says it too"));
    EXPECT_THAT(files_[0].probes[2].reason, HasSubstr("-e with its text"));
}

TEST_F(PackRefusals, AnInstantIsRefusedWithItsOnlyPlace) {
    after({19});
    EXPECT_EQ(files_[0].probes[0].status, PackedStatus::armed);
    EXPECT_EQ(files_[0].probes[1].status, PackedStatus::refused);
}

}  // namespace
}  // namespace tracer
