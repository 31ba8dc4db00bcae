// SPDX-License-Identifier: Apache-2.0
#include "packs/version_range.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using Place = VersionRange::Place;

VersionRange range_of(std::string_view text) {
    auto range = parse_version_range(text);
    EXPECT_TRUE(range) << text;
    return range.value_or(VersionRange{});
}

TEST(VersionRange, ComparesPartsAsNumbers) {
    const auto range = range_of("3.8-3.14");
    EXPECT_EQ(range.place_of("3.7"), Place::below);
    EXPECT_EQ(range.place_of("3.8"), Place::inside);
    EXPECT_EQ(range.place_of("3.11"), Place::inside);
    EXPECT_EQ(range.place_of("3.14"), Place::inside);
    EXPECT_EQ(range.place_of("3.15"), Place::above);
    EXPECT_EQ(range.place_of("10.1"), Place::above);
}

TEST(VersionRange, HoldsWhatStandsBehindItsLastPart) {
    const auto range = range_of("3.8-3.14");
    EXPECT_TRUE(range.contains("3.14.2"));
    EXPECT_TRUE(range.contains("3.8.0"));
    EXPECT_TRUE(range_of("13-15").contains("15.8"));
    EXPECT_EQ(range_of("13-15").place_of("16.0"), Place::above);
}

TEST(VersionRange, TakesMissingPartsForZero) {
    EXPECT_EQ(range_of("3.8-").place_of("3"), Place::below);
    EXPECT_EQ(range_of("3.0-").place_of("3"), Place::inside);
}

TEST(VersionRange, IsOpenWhereNothingIsSaid) {
    EXPECT_EQ(range_of("13-").place_of("99.1"), Place::inside);
    EXPECT_EQ(range_of("13-").place_of("12.9"), Place::below);
    EXPECT_EQ(range_of("-3.11").place_of("1"), Place::inside);
    EXPECT_EQ(range_of("-3.11").place_of("3.12"), Place::above);
    EXPECT_EQ(VersionRange{}.place_of("7"), Place::inside);
}

TEST(VersionRange, OfOneVersionHoldsThatAlone) {
    const auto range = range_of("3.11");
    EXPECT_EQ(range.place_of("3.11.4"), Place::inside);
    EXPECT_EQ(range.place_of("3.10"), Place::below);
    EXPECT_EQ(range.place_of("3.12"), Place::above);
}

TEST(VersionRange, HoldsVersionsThatAreNotKnown) {
    EXPECT_TRUE(range_of("13-15").contains(""));
    EXPECT_TRUE(range_of("13-15").contains("devel"));
}

TEST(VersionRange, AllowsAnEndThatSaysLess) {
    const auto range = range_of("3.8.2-3.8");
    EXPECT_FALSE(range.contains("3.8.1"));
    EXPECT_TRUE(range.contains("3.8.19"));
}

TEST(VersionRange, RefusesWhatIsNoRange) {
    for (const auto* text : {"", "-", "x", "3.x-4", "3..8", "3.", ".3", "3-4-5", "4-3", "3.11-3.8",
                             "99999999999", "1.2.3.4.5.6.7.8.9", " 3", "+3"}) {
        EXPECT_FALSE(parse_version_range(text)) << text;
    }
}

TEST(VersionRange, SurvivesItsOwnText) {
    for (const auto* text : {"3.8-3.14", "13-", "-3.11", "3.11", "1.2.3.4.5.6.7.8"}) {
        const auto range = range_of(text);
        EXPECT_EQ(range.text(), text);
        EXPECT_EQ(range_of(range.text()), range);
    }
}

TEST(VersionRange, OverlapsWhereAVersionIsInBoth) {
    const auto overlap = [](std::string_view a, std::string_view b) {
        const auto first = parse_version_range(a);
        const auto second = parse_version_range(b);
        EXPECT_TRUE(first && second);
        EXPECT_EQ(first->overlaps(*second), second->overlaps(*first)) << a << " " << b;
        return first->overlaps(*second);
    };
    EXPECT_FALSE(overlap("3.8-3.11", "3.12-"));
    EXPECT_TRUE(overlap("3.8-3.11", "3.11-"));
    EXPECT_TRUE(overlap("3.8-3.11", "3.11.4-"));
    EXPECT_FALSE(overlap("3.8-3.11.3", "3.11.4-"));
    EXPECT_TRUE(overlap("3.8-", "-3.8"));
    EXPECT_TRUE(overlap("3.9", "3.8-3.10"));
    EXPECT_TRUE(VersionRange().overlaps(VersionRange()));
    EXPECT_TRUE(VersionRange().overlaps(*parse_version_range("3.9")));
}

// Versions of the same number of parts are ordered as tuples of numbers are.
TEST(VersionRange, AgreesWithTuplesOfNumbers) {
    std::minstd_rand random(7);
    const auto make = [&] {
        std::array<uint32_t, 3> parts{};
        for (auto& part : parts) part = static_cast<uint32_t>(random() >> 8) % 12;
        return parts;
    };
    const auto spell = [](const std::array<uint32_t, 3>& parts) {
        return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
    };
    for (int turn = 0; turn < 20000; ++turn) {
        const auto low = make();
        const auto high = make();
        const auto asked = make();
        const auto range = parse_version_range(spell(low) + "-" + spell(high));
        ASSERT_EQ(range.has_value(), low <= high) << spell(low) << " " << spell(high);
        if (!range) continue;
        const auto expected = asked < low    ? Place::below
                              : asked > high ? Place::above
                                             : Place::inside;
        ASSERT_EQ(range->place_of(spell(asked)), expected)
            << spell(asked) << " in " << range->text();
    }
}

}  // namespace
}  // namespace tracer
