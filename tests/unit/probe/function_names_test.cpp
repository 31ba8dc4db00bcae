// SPDX-License-Identifier: Apache-2.0
//
// Probes of functions by the names that their source has, on ELF files made by the test.
#include "probe/function_names.h"

#include "probe/probe_compiler.h"
#include "unit/symbol/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kText = ElfBuilder::kText;

class FunctionNames : public ::testing::Test {
protected:
    FunctionNames() {
        const auto program = ElfBuilder()
                                 .function("plain", kText)
                                 .function("_ZN2ns5Class6methodEi", kText + 0x10)
                                 .function("_ZN2ns5Class6methodEPKc", kText + 0x20)
                                 .function("_ZN2ns5ClassC1Ev", kText + 0x30)
                                 .function("_ZN2ns5ClassC2Ev", kText + 0x30)
                                 .function("_ZN2ns5Class6methodEi.cold", kText + 0x40)
                                 .function("_ZN2ns4sortESt6vectorIiSaIiEEi", kText + 0x50)
                                 .function("_Z5plaini", kText + 0x60)
                                 .function("_RINvNtCs6xxl1lAjzDf_1a5inner5twiceyEB4_", kText + 0x70)
                                 .function("camlStdlib__List__map_513", kText + 0x80)
                                 .function("base_GHCziBase_map_info", kText + 0x90)
                                 .function("_ZN2ns1fEPc", kText + 0xa0)
                                 .function("_ZN2ns1fEPcPc", kText + 0xb0)
                                 .function("_ZN2ns3BoxIiE3addERKS1_", kText + 0xc0)
                                 .function("_ZN2ns3BoxIiEpLERKS1_", kText + 0xd0)
                                 .function("_ZNSaIcE8allocateEm", kText + 0xe0);
        path = test::write_file(folder.path(), "app", program.build());
        files.add_file({path, path});
    }

    Result<AttachPlan> compile(const std::string& name, const std::string& rest = {}) {
        TR_ASSIGN(const auto spec,
                  parse_probe_spec("u:" + path + ":" + quote_probe_part(name, "+") + rest));
        return compile_probes({&spec, 1}, files, {});
    }

    // Offsets from the code's start.
    std::vector<uint64_t> places(const std::string& name) {
        const auto plan = compile(name);
        std::vector<uint64_t> out;
        if (!plan) return out;
        for (const auto& site : plan->files.at(0).sites) out.push_back(site.file_offset - 0x200);
        return out;
    }

    test::TemporaryFolder folder;
    TargetFiles files;
    std::string path;
};

TEST_F(FunctionNames, ASymbolIsOneFunction) {
    EXPECT_THAT(places("_ZN2ns5Class6methodEi"), ElementsAre(0x10));
    EXPECT_THAT(places("camlStdlib__List__map_513"), ElementsAre(0x80));
}

TEST_F(FunctionNames, ANameWithParametersIsOneFunction) {
    EXPECT_THAT(places("ns::Class::method(char const*)"), ElementsAre(0x20));
    EXPECT_THAT(places("ns::sort(std::vector<int,std::allocator<int>>, int)"), ElementsAre(0x50));
    // The star is a pointer here, though as a wildcard it would fit the next one too.
    EXPECT_THAT(places("ns::f(char*)"), ElementsAre(0xa0));
}

TEST_F(FunctionNames, WordsThatTheSymbolAbbreviatesAreFound) {
    EXPECT_THAT(places("ns::Box<int>::add"), ElementsAre(0xc0));
    EXPECT_THAT(places("ns::Box<int>::add(ns::Box<int> const&)"), ElementsAre(0xc0));
    EXPECT_THAT(places("ns::Box<int>::operator+="), ElementsAre(0xd0));
    EXPECT_THAT(places("std::allocator<char>::allocate"), ElementsAre(0xe0));
    EXPECT_THAT(places("a::inner::twice*"), ElementsAre(0x70));
    EXPECT_THAT(places("ns::Other::method"), IsEmpty());
}

TEST_F(FunctionNames, ANameWithoutParametersIsAllOverloadsAndSaysSo) {
    const auto plan = compile("ns::Class::method");
    ASSERT_TRUE(plan) << plan.error().what;
    ASSERT_EQ(plan->files.at(0).sites.size(), 2u);
    ASSERT_EQ(plan->points.size(), 1u);
    EXPECT_EQ(plan->points[0].name, "ns::Class::method");
    EXPECT_THAT(plan->warnings,
                ElementsAre(HasSubstr("is 2 functions of " + path +
                                      ", and all are probed: ns::Class::method(char const*); "
                                      "ns::Class::method(int)")));
}

TEST_F(FunctionNames, TwoSymbolsOfOnePlaceAreOneFunction) {
    const auto plan = compile("ns::Class::Class");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->files.at(0).sites.size(), 1u);
    EXPECT_THAT(plan->warnings, IsEmpty());
}

TEST_F(FunctionNames, APlainNameIsOfBothLanguages) {
    EXPECT_THAT(places("plain"), UnorderedElementsAre(0, 0x60));
}

TEST_F(FunctionNames, WildcardsFitSourceNames) {
    EXPECT_THAT(places("ns::Class::*"), UnorderedElementsAre(0x10, 0x20, 0x30, 0x40));
    EXPECT_THAT(places("*::twice*"), ElementsAre(0x70));
    EXPECT_THAT(places("Stdlib.List.*"), ElementsAre(0x80));
    EXPECT_THAT(places("GHC.*"), ElementsAre(0x90));
    EXPECT_THAT(places("_ZN2ns5Class*"), UnorderedElementsAre(0x10, 0x20, 0x30, 0x40));
}

TEST_F(FunctionNames, ThePointIsCalledAsInTheSource) {
    const auto plan = compile("_ZN2ns5Class6methodEi", "+0x4");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->points.at(0).name, "ns::Class::method+0x4");
    EXPECT_EQ(plan->points.at(0).category, "app");
}

TEST_F(FunctionNames, AWildcardsProbesAreSpelledSoThatTheyCanBePasted) {
    const auto plan = compile("ns::Class::C*");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->probes.at(0).spec, "u:" + path + ":\"ns::Class::Class\"");
}

TEST_F(FunctionNames, HintsKnowSourceNames) {
    const auto plan = compile("ns::Class::metod");
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().hint, HasSubstr("ns::Class::method"));
}

TEST_F(FunctionNames, APartOfAFunctionIsNotItself) {
    EXPECT_THAT(places("ns::Class::method.cold"), ElementsAre(0x40));
    EXPECT_THAT(places("ns::Class::method(int)"), ElementsAre(0x10));
}

}  // namespace
}  // namespace tracer
