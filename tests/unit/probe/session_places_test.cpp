// SPDX-License-Identifier: Apache-2.0
#include "probe/session_places.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

AttachSite entry_at(uint64_t offset, uint32_t id, ProbeProgram program = ProbeProgram::hit) {
    return {.file_offset = offset, .probe_id = id, .program = program};
}

AttachSite return_at(uint64_t offset,
                     uint32_t id,
                     uint32_t begin_id,
                     ProbeProgram program = ProbeProgram::return_hit) {
    return {.file_offset = offset, .probe_id = id, .program = program, .begin_id = begin_id};
}

long count_sessions(const std::vector<LinkPlace>& places) {
    return std::ranges::count_if(places, &LinkPlace::is_session);
}

TEST(SessionPlaces, JoinsAReturnWithItsOwnEntry) {
    const std::vector<AttachSite> sites = {entry_at(0x10, 8), entry_at(0x10, 9),
                                           return_at(0x10, 10, 9), entry_at(0x20, 11)};
    const auto places = join_sessions(sites);
    ASSERT_EQ(places.size(), 3U);
    EXPECT_FALSE(places[0].is_session());
    EXPECT_EQ(places[0].cookie(), 8U);
    EXPECT_TRUE(places[1].is_session());
    EXPECT_EQ(places[1].cookie(), 9 | uint64_t{10} << 32);
    EXPECT_EQ(places[2].cookie(), 11U);
}

TEST(SessionPlaces, LeavesReturnsWithoutAnEntryOfTheirOwn) {
    const std::vector<AttachSite> sites = {
        entry_at(0x10, 8), return_at(0x10, 9, 0),  // an entry and a return that stand alone
        entry_at(0x20, 10), return_at(0x30, 11, 10)};
    const auto places = join_sessions(sites);
    EXPECT_EQ(places.size(), sites.size());
    EXPECT_EQ(count_sessions(places), 0);
}

TEST(SessionPlaces, LeavesPlacesWithSeveralReturns) {
    const std::vector<AttachSite> sites = {entry_at(0x10, 8), return_at(0x10, 9, 8),
                                           entry_at(0x10, 10), return_at(0x10, 11, 10)};
    const auto places = join_sessions(sites);
    EXPECT_EQ(places.size(), sites.size());
    EXPECT_EQ(count_sessions(places), 0);
}

TEST(SessionPlaces, SleepsWhereEitherHalfDoes) {
    const std::vector<AttachSite> sites = {entry_at(0x10, 8),
                                           return_at(0x10, 9, 8, ProbeProgram::return_sleepable),
                                           entry_at(0x20, 10, ProbeProgram::hit_sleepable),
                                           return_at(0x20, 11, 10),
                                           entry_at(0x30, 12),
                                           return_at(0x30, 13, 12)};
    const auto places = join_sessions(sites);
    ASSERT_EQ(places.size(), 3U);
    EXPECT_TRUE(places[0].is_sleepable());
    EXPECT_TRUE(places[1].is_sleepable());
    EXPECT_FALSE(places[2].is_sleepable());
    EXPECT_EQ(count_sessions(places), 3);
    EXPECT_EQ(count_sessions(keep_apart(sites)), 0);
}

}  // namespace
}  // namespace tracer
