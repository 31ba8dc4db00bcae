// SPDX-License-Identifier: Apache-2.0
//
// Every pack of userspace/packs/data, by its name: a broken one fails here, not in a recording.
#include "packs/pack_catalog.h"
#include "packs/pack_file.h"

#include <string>

#include <gtest/gtest.h>

namespace tracer {

namespace {

class EachBuiltInPack : public testing::TestWithParam<BuiltInPack> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachBuiltInPack);

// What is said of a pack: faults, or advice to its author.
std::string said_of(const BuiltInPack& built_in, bool is_warning) {
    const auto check = check_pack(built_in.text, std::string(built_in.name) + ".toml");
    std::string text;
    for (const auto& problem : check.problems) {
        if (problem.is_warning != is_warning) continue;
        text += problem.error.what + "\nhint: " + problem.error.hint + "\n";
    }
    return text;
}

TEST_P(EachBuiltInPack, NeedsNoCorrection) {
    EXPECT_EQ(said_of(GetParam(), false), "");
}

TEST_P(EachBuiltInPack, NeedsNoAdvice) {
    EXPECT_EQ(said_of(GetParam(), true), "");
}

INSTANTIATE_TEST_SUITE_P(Packs,
                         EachBuiltInPack,
                         testing::ValuesIn(built_in_packs().begin(), built_in_packs().end()),
                         [](const auto& pack) {
                             std::string name(pack.param.name);
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

TEST(BuiltInPacks, AreAllLoaded) {
    const auto catalog = PackCatalog::load({});
    ASSERT_TRUE(catalog);
    EXPECT_EQ(catalog->packs().size(), built_in_packs().size());
    EXPECT_TRUE(catalog->warnings().empty());
    EXPECT_TRUE(catalog->remarks().empty());
}

}  // namespace
}  // namespace tracer
