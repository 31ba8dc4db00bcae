// SPDX-License-Identifier: Apache-2.0
//
// Files of real OCaml programs of each version against what OCaml's own library reads from them,
// and the same files damaged.
#include "tracer/ring/cursor.h"
#include "unit/ring/ring_lines.h"
#include "unit/ring/ring_samples.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using ring::Cursor;
using ring::CursorOptions;

class RingSampleTest : public testing::TestWithParam<RingSample> {
protected:
    void SetUp() override { bytes_ = read_sample(GetParam()); }

    std::vector<std::string> read(const CursorOptions& options) {
        auto cursor = Cursor::over(bytes_, options);
        EXPECT_TRUE(cursor);
        if (!cursor) return {};
        RingLines lines(*cursor);
        const auto polled = cursor->poll(lines);
        EXPECT_TRUE(polled);
        if (polled) {
            EXPECT_EQ(polled->events + polled->losses, lines.lines().size());
        }
        return lines.lines();
    }

    std::vector<std::byte> bytes_;
};

TEST_P(RingSampleTest, ReadsWhatOcamlReads) {
    const auto versions = ring::parse_ocaml_version(GetParam().version);
    ASSERT_TRUE(versions);
    EXPECT_EQ(read({.versions = *versions}), expected_lines(GetParam()));
}

TEST_P(RingSampleTest, NeverNamesAPhaseWrongly) {
    auto cursor = Cursor::over(bytes_);
    ASSERT_TRUE(cursor);
    RingLines lines(*cursor);
    ASSERT_TRUE(cursor->poll(lines));
    const auto expected = expected_lines(GetParam());
    ASSERT_EQ(lines.lines().size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
        if (lines.lines()[i].find("\"phase#") == std::string::npos) {
            EXPECT_EQ(lines.lines()[i], expected[i]);
        }
    }
    const auto truth = ring::parse_ocaml_version(GetParam().version);
    EXPECT_LE(cursor->producer().versions.oldest, truth->oldest);
    EXPECT_GE(cursor->producer().versions.newest, truth->newest);
    // Every sample in which a minor collection ran tells the numbering.
    const bool has_collection = std::ranges::any_of(expected, [](const std::string& line) {
        return line.find("\"minor_promoted\"") != std::string::npos;
    });
    if (has_collection) {
        EXPECT_TRUE(cursor->producer().versions.is_known_enough());
    }
}

// Polls of any size tell the same events.
TEST_P(RingSampleTest, ReadsTheSameInSmallPortions) {
    const auto versions = ring::parse_ocaml_version(GetParam().version);
    const auto whole = read({.versions = *versions});
    for (const size_t most : {size_t{13}, size_t{100}}) {
        auto cursor = Cursor::over(bytes_, {.versions = *versions});
        RingLines lines(*cursor);
        for (size_t polls = 0; polls <= whole.size(); ++polls) {
            const auto polled = cursor->poll(lines, most);
            ASSERT_TRUE(polled);
            ASSERT_LE(polled->events, most);
            if (polled->events == 0) break;
        }
        // Rings take turns, but each keeps its order.
        auto sorted = lines.lines();
        auto ring_of = [](const std::string& line) { return line.substr(0, line.find(',')); };
        std::ranges::stable_sort(sorted, {}, ring_of);
        EXPECT_EQ(sorted, whole);
    }
}

TEST_P(RingSampleTest, ReadsEveryTruncationOrRefusesIt) {
    const auto whole = read({});
    // Every length in the metadata and ring headers, then some from everywhere.
    std::vector<size_t> lengths;
    for (size_t length = 0; length < size_t{160}; ++length) {
        lengths.push_back(length);
    }
    for (size_t length = 160; length < bytes_.size(); length += bytes_.size() / 41) {
        lengths.push_back(length);
    }
    for (const size_t length : lengths) {
        auto cursor = Cursor::over(std::span(bytes_).first(length));
        if (!cursor) continue;
        RingLines lines(*cursor);
        const auto polled = cursor->poll(lines);
        // The names of 5.1 and later end the file, and 5.0 pads nothing: no prefix is whole.
        EXPECT_FALSE(polled && polled->is_ready) << length;
        EXPECT_TRUE(lines.lines().empty()) << length;
    }
}

TEST_P(RingSampleTest, SurvivesFlippedBits) {
    std::minstd_rand random(17);
    const auto expected = read({});
    for (int round = 0; round < 12; ++round) {
        auto damaged = bytes_;
        for (int i = 0; i < 8; ++i) {
            // Half of them where the bookkeeping is; half in what there is of data.
            const size_t limit = i % 2 == 0 ? 512 : damaged.size();
            damaged[random() % limit] ^= std::byte(1U << random() % 8);
        }
        auto cursor = Cursor::over(damaged);
        if (!cursor) continue;
        RingLines lines(*cursor);
        // Bounded however often it is asked, and nothing comes twice.
        for (int polls = 0; polls < 3; ++polls) static_cast<void>(cursor->poll(lines));
        cursor->finish(lines);
        EXPECT_LE(lines.lines().size(), bytes_.size() / 8);
    }
}

std::string test_name(const testing::TestParamInfo<RingSample>& info) {
    std::string name = "v" + info.param.version + "_" + info.param.name;
    std::ranges::replace(name, '.', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Samples, RingSampleTest, testing::ValuesIn(ring_samples()), test_name);

TEST(RingSamples, AreAllThere) {
    EXPECT_EQ(ring_samples().size(), 19u);
}

}  // namespace
}  // namespace tracer::test
