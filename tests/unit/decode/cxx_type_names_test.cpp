// SPDX-License-Identifier: Apache-2.0
#include "decode/cxx_type_names.h"

#include "decoder_fixture.h"

#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tracer {
namespace {

struct OfThisFile {};

TEST(CxxTypeNames, AreThoseOfTheSource) {
    CxxTypeNames names;
    EXPECT_EQ(names.name_of(typeid(std::runtime_error).name()), "std::runtime_error");
    EXPECT_EQ(names.name_of(typeid(int).name()), "int");
    EXPECT_EQ(names.name_of(typeid(const char*).name()), "char const*");
    EXPECT_EQ(names.name_of(typeid(std::vector<std::vector<int>>).name()),
              "std::vector<std::vector<int, std::allocator<int> >, "
              "std::allocator<std::vector<int, std::allocator<int> > > >");
}

TEST(CxxTypeNames, OfOneFileAloneLoseTheirMark) {
    CxxTypeNames names;
    // name() leaves the mark out; memory has it.
    const std::string marked = std::string("*") + typeid(OfThisFile).name();
    EXPECT_EQ(names.name_of(marked), "tracer::(anonymous namespace)::OfThisFile");
}

TEST(CxxTypeNames, WhatIsNoneStaysAsItIs) {
    CxxTypeNames names;
    for (const std::string_view text :
         {"", "*", "**i", "St13runtime_erro", "a b", "_Z1fv*", "\xff"}) {
        EXPECT_EQ(names.name_of(text), text);
        EXPECT_EQ(names.name_of(text), text) << "when it is known";
    }
    EXPECT_EQ(names.name_of(std::string_view("i\0j", 3)), std::string_view("i\0j", 3));
}

// std::pair<int, int>, in a pair with itself, and so on: the name doubles each time. Back
// references count in base 36 from S_; the first are the templates, one a pair.
std::string doubled(size_t times) {
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name;
    for (size_t i = 0; i < times; ++i) name += "St4pairI";
    name += "iiE";
    for (size_t i = 1; i < times; ++i) {
        name += std::string("S") + kDigits[times + i - 2] + "_E";
    }
    return name;
}

TEST(CxxTypeNames, AreBounded) {
    CxxTypeNames names;
    EXPECT_NE(names.name_of(doubled(3)), doubled(3));
    EXPECT_EQ(names.name_of(doubled(9)), doubled(9)) << "larger than a name may be";
    std::string references;
    for (int i = 0; i < 17; ++i) references += "S_";
    const std::string many = "FvP1a" + references + "E";
    EXPECT_EQ(names.name_of(many), many) << "too many back references";
    const std::string_view few = std::string_view(many).substr(0, 5 + 2 * 16);
    EXPECT_NE(names.name_of(std::string(few) + "E"), std::string(few) + "E");
    const std::string identifier(600, 'a');
    const auto long_name = std::to_string(identifier.size()) + identifier;
    EXPECT_EQ(names.name_of(long_name), long_name);
}

// These are what the demangler never comes back from, or would not within a day.
TEST(CxxTypeNames, LeaveExpressionsAndPacksAlone) {
    CxxTypeNames names;
    for (const std::string_view text :
         {"AsrfpfpDpA3_TyonEvKKlS1_UlTnl1aTyS2_Tyon1a", "1aIDpiE", "DTfpE", "1aIXsZT_EE",
          "1aILN1bE99EEE", "99999999999999999999a", "9a", "S", "L", "U", "_", "D", "A", "1aIcvE"}) {
        EXPECT_EQ(names.name_of(text), text);
    }
}

TEST(CxxTypeNames, KnowTheFormsOfExceptions) {
    CxxTypeNames names;
    const std::vector<std::pair<std::string_view, std::string_view>> known{
        {"N3app5ErrorE", "app::Error"},
        {"N3app5ErrorILi5EEE", "app::Error<5>"},
        {"N3app5ErrorILin3ELb1EEE", "app::Error<-3, true>"},
        {"A3_c", "char [3]"},
        {"A_c", "char []"},
        {"PFivE", "int (*)()"},
        {"Dn", "decltype(nullptr)"},
        {"Z4mainE5Error", "main::Error"},
        {"Z4mainE5Error_0", "main::Error"},
        {"Z4mainE5Error__12_", "main::Error"},
        {"N3appUt0_E", "app::{unnamed type#2}"},
        {"NSt8ios_base7failureB5cxx11E", "std::ios_base::failure[abi:cxx11]"},
        {"N5boost10wrapexceptINS_6system12system_errorEEE",
         "boost::wrapexcept<boost::system::system_error>"},
    };
    for (const auto& [mangled, name] : known) EXPECT_EQ(names.name_of(mangled), name);
}

TEST(CxxTypeNames, ThoseOfAHitStayUntilRoomIsMade) {
    CxxTypeNames names;
    // More than are remembered.
    for (int i = 0; i < 5000; ++i) {
        names.make_room();
        const auto identifier = "error_" + std::to_string(i);
        const auto mangled = std::to_string(identifier.size()) + identifier;
        const auto first = names.name_of("St9exception");
        EXPECT_EQ(names.name_of(mangled), identifier);
        EXPECT_EQ(first, "std::exception");
    }
}

class DecoderCxxType : public DecoderTest {
protected:
    static constexpr uint32_t kThrow = 40;

    void SetUp() override {
        auto definitions = standard_definitions();
        definitions.points.push_back({.index = model::PointIndex{5},
                                      .category = "libstdcxx",
                                      .name = "throw",
                                      .arguments = {{"type", model::ValueType::string}}});
        definitions.probes.push_back({.probe_id = kThrow,
                                      .point = model::PointIndex{5},
                                      .slots = {model::ValueType::string},
                                      .cxx_type_slots = 1,
                                      .spec = "test",
                                      .name = {{"throw ", NamePiece::kText}, {"", 0}}});
        start(std::move(definitions));
    }
};

TEST_F(DecoderCxxType, IsShownInValuesAndNames) {
    const test::At at{.time_ns = 10, .tgid = 7, .tid = 7};
    feed(test::make_string_hit(at, kThrow, "St13runtime_error"));
    feed(test::make_string_hit(at, kThrow, "no name"));
    feed(test::make_string_hit(at, kThrow, "St13runtime", TR_STRING_CUT));
    feed(test::make_string_hit(at, kNamed, "St13runtime_error"));
    EXPECT_THAT(writer_.lines(), testing::ElementsAre(testing::HasSubstr("['std::runtime_error']"),
                                                      testing::HasSubstr("['no name']"),
                                                      testing::HasSubstr("['St13runtime'...]"),
                                                      testing::HasSubstr("['St13runtime_error']")));
    EXPECT_THAT(writer_.lines().front(), testing::HasSubstr("throw std::runtime_error"));
}

}  // namespace
}  // namespace tracer
