// SPDX-License-Identifier: Apache-2.0
//
// Debug information of the same functions from several compilers, with and without optimisation.
// Where a parameter is said to be, its value is: the programs are stopped at each entry.
#include "symbol/dwarf_function.h"

#include "symbol/demangle.h"
#include "symbol/symbol_table.h"
#include "unit/symbol/entry_stops.h"

#include <cstring>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Expected {
    std::string function;
    std::string parameter;
    std::vector<int64_t> words;  // eight bytes each; empty: in no place that a probe can read
};

class DwarfFunction : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        path = std::string(TRACER_TEST_PROGRAMS "/") + GetParam();
        auto opened = ElfFile::open(path);
        if (!opened) GTEST_SKIP() << "not built: " << path;
        elf = std::move(*opened);
        auto table = SymbolTable::load(*elf);
        ASSERT_TRUE(table) << table.error().what;
        for (const auto& symbol : table->functions()) {
            const auto name = demangle(symbol.name);
            addresses.emplace(name ? name->bare : symbol.name, symbol.vaddr);
        }
        auto dwarf = DwarfInfo::open(*elf);
        ASSERT_TRUE(dwarf) << dwarf.error().what;
        info.emplace(std::move(*dwarf));
    }

    FunctionArguments arguments(const std::string& function) {
        const auto found = addresses.find(function);
        if (found == addresses.end()) {
            ADD_FAILURE() << "no function " << function;
            return {};
        }
        auto result = info->function_at(found->second);
        EXPECT_TRUE(result) << function << ": " << result.error().what;
        return result ? std::move(*result) : FunctionArguments{};
    }

    void check(const Expected& expected, const test::EntryStop& stop) {
        const auto all = arguments(expected.function);
        const auto* parameter = all.find(expected.parameter);
        const auto where = expected.function + ": " + expected.parameter;
        ASSERT_NE(parameter, nullptr) << where;
        const auto bytes = stop.read(parameter->place, parameter->type.bytes);
        if (expected.words.empty()) {
            EXPECT_FALSE(bytes) << where;
            EXPECT_FALSE(parameter->place.reason.empty()) << where;
            return;
        }
        ASSERT_TRUE(bytes) << where << ": " << parameter->place.reason;
        for (size_t i = 0; i < expected.words.size(); ++i) {
            const auto count = std::min<size_t>(8, bytes->size() - 8 * i);
            EXPECT_EQ(std::memcmp(bytes->data() + 8 * i, &expected.words[i], count), 0)
                << where << " word " << i;
        }
    }

    void check_at_entries(const std::vector<Expected>& expected) {
        std::vector<uint64_t> wanted;
        for (const auto& row : expected) {
            const auto found = addresses.find(row.function);
            ASSERT_NE(found, addresses.end()) << row.function;
            wanted.push_back(found->second);
        }
        const auto count = std::set<uint64_t>(wanted.begin(), wanted.end()).size();
        const int hits =
            test::stop_at_entries(path, wanted, [&](uint64_t address, const auto& stop) {
                for (const auto& row : expected) {
                    if (addresses.at(row.function) == address) check(row, stop);
                }
            });
        EXPECT_EQ(hits, static_cast<int>(count));
    }

    std::string path;
    std::optional<ElfFile> elf;
    std::map<std::string, uint64_t> addresses;  // by name as the source has it
    std::optional<DwarfInfo> info;
};

class DwarfFunctionOfC : public DwarfFunction {};
class DwarfFunctionOfCxx : public DwarfFunction {};

int64_t words_of(int32_t low, int32_t high) {
    return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) |
                                static_cast<uint32_t>(low));
}

TEST_P(DwarfFunctionOfC, PlacesHoldTheValuesAtTheEntry) {
    check_at_entries({
        {"c_integers", "a", {-1}},
        {"c_integers", "b", {2}},
        {"c_integers", "c", {-3}},
        {"c_integers", "d", {4}},
        {"c_integers", "e", {1}},
        {"c_integers", "f", {5}},
        {"c_many", "a", {1}},
        {"c_many", "f", {6}},
        {"c_many", "g", {70}},
        {"c_many", "h", {-80}},
        {"c_floats", "x", {}},
        {"c_floats", "n", {21}},
        {"c_floats", "y", {}},
        {"c_floats", "m", {-22}},
        {"c_structures", "s", {words_of(-3, 4)}},
        {"c_structures", "p", {5, -6}},
        {"c_structures", "last", {31}},
        {"c_memory", "l", {11, 12, 13, 14}},
        {"c_memory", "n", {41}},
        {"c_memory", "k", {0x0102030401}},
        {"c_memory", "r", {}},
        {"c_memory", "m", {42}},
        {"c_no_room", "e", {5}},
        {"c_no_room", "p", {5, -6}},
        {"c_no_room", "f", {51}},
        {"c_returns_large", "n", {61}},
        {"c_long_double", "n", {71}},
        {"c_long_double", "m", {73}},
    });
}

// GCC says nothing of a __int128 in optimised code.
TEST_P(DwarfFunctionOfC, AWideIntegerIsInTwoRegistersOrNotTold) {
    const auto all = arguments("c_long_double");
    const auto* wide = all.find("wide");
    ASSERT_NE(wide, nullptr);
    if (wide->place.kind == PlaceKind::none) {
        EXPECT_THAT(wide->place.reason, HasSubstr("does not say where it is"));
    } else {
        check_at_entries({{"c_long_double", "wide", {-72, -1}}});
    }
}

TEST_P(DwarfFunctionOfC, APartInAVectorRegisterIsLeftOut) {
    const auto all = arguments("c_structures");
    const auto* mixed = all.find("m");
    ASSERT_NE(mixed, nullptr);
    EXPECT_EQ(mixed->place.kind, PlaceKind::registers);
    EXPECT_EQ(mixed->place.registers[0], TR_REG_RCX);
    EXPECT_EQ(mixed->place.registers[1], std::nullopt);
}

TEST_P(DwarfFunctionOfC, TypesAreThoseOfTheSource) {
    const auto all = arguments("c_integers");
    ASSERT_EQ(all.parameters.size(), 6u);
    EXPECT_EQ(all.name, "c_integers");
    const auto& types = all.parameters;
    EXPECT_EQ(types[0].type.form, DwarfForm::integer);
    EXPECT_EQ(types[0].type.bytes, 1u);
    EXPECT_TRUE(types[0].type.is_signed);
    EXPECT_EQ(types[0].type.name, "int8_t");
    EXPECT_FALSE(types[1].type.is_signed);
    EXPECT_EQ(types[1].type.bytes, 2u);
    EXPECT_EQ(types[4].type.form, DwarfForm::boolean);
    EXPECT_EQ(types[5].type.form, DwarfForm::enumeration);
    EXPECT_TRUE(types[5].type.is_signed);
    const auto names = enumerators_of(types[5].type);
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(names[0].name, "kRed");
    EXPECT_EQ(names[0].value, -1);
    EXPECT_EQ(names[1].value, 5);
    const auto floats = arguments("c_floats");
    EXPECT_EQ(floats.parameters.at(0).type.form, DwarfForm::floating);
    EXPECT_EQ(floats.parameters.at(0).type.bytes, 8u);
    EXPECT_EQ(floats.parameters.at(2).type.bytes, 4u);
}

TEST_P(DwarfFunctionOfC, PointersKnowWhatTheyLeadTo) {
    const auto all = arguments("c_request");
    ASSERT_EQ(all.parameters.size(), 3u);
    EXPECT_EQ(all.parameters[0].type.name, "const struct request *");
    EXPECT_FALSE(all.parameters[0].type.points_to_text);
    EXPECT_TRUE(all.parameters[1].type.points_to_text);
    EXPECT_EQ(all.parameters[1].type.name, "const char *");
    EXPECT_FALSE(all.parameters[2].type.points_to_text);
    const auto target = pointed_type(all.parameters[2].type);
    ASSERT_TRUE(target);
    EXPECT_EQ(target->name, "int");
    EXPECT_FALSE(pointed_type(*target));
}

TEST_P(DwarfFunctionOfC, MembersAreFoundByName) {
    const auto all = arguments("c_request");
    const auto& request = all.parameters.at(0).type;
    const auto offset_of = [&](const char* name) -> int64_t {
        const auto member = find_member(request, name);
        return member ? static_cast<int64_t>(member->offset) : -1;
    };
    EXPECT_EQ(offset_of("id"), 0);
    EXPECT_EQ(offset_of("path"), 8);
    EXPECT_EQ(offset_of("number"), 16);  // of the union without a name
    EXPECT_EQ(offset_of("both"), 16);
    EXPECT_EQ(offset_of("peer"), 32);
    EXPECT_EQ(offset_of("next"), 40);
    const auto flags = find_member(request, "flags");
    const auto level = find_member(request, "level");
    ASSERT_TRUE(flags && level);
    EXPECT_EQ(flags->offset, 4u);
    EXPECT_EQ(flags->bits, 3u);
    EXPECT_EQ(flags->bit_offset, 0u);
    EXPECT_EQ(level->bits, 7u);
    EXPECT_EQ(level->bit_offset, 3u);
    EXPECT_TRUE(level->type.is_signed);
    EXPECT_TRUE(find_member(request, "path")->type.points_to_text);
    // Through the pointer to the same structure again, as arg:req->next->peer does.
    const auto next = find_member(request, "next");
    ASSERT_TRUE(next);
    const auto peer = find_member(next->type, "peer");
    ASSERT_TRUE(peer) << peer.error().what;
    const auto name = find_member(peer->type, "name");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->offset, 2u);
    EXPECT_EQ(name->type.form, DwarfForm::array);
    EXPECT_EQ(element_count(name->type), 6u);
    EXPECT_EQ(name->type.bytes, 6u);
}

TEST_P(DwarfFunctionOfC, AMemberThatIsNotThereIsRefusedWithThoseThatAre) {
    const auto all = arguments("c_request");
    const auto missing = find_member(all.parameters.at(0).type, "pth");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_THAT(missing.error().hint, HasSubstr("id, flags, level, path"));
    EXPECT_FALSE(find_member(all.parameters.at(1).type, "x"));
}

TEST_P(DwarfFunctionOfC, ReturnsAreInTheirRegisters) {
    const auto variadic = arguments("c_variadic");
    EXPECT_TRUE(variadic.is_variadic);
    ASSERT_EQ(variadic.parameters.size(), 1u);
    EXPECT_EQ(variadic.return_place.registers[0], TR_REG_RAX);
    EXPECT_EQ(variadic.return_type.bytes, 4u);
    const auto real = arguments("c_returns_real");
    EXPECT_EQ(real.return_place.kind, PlaceKind::none);
    EXPECT_THAT(real.return_place.reason, HasSubstr("vector register"));
    EXPECT_TRUE(arguments("c_returns_large").return_place.is_indirect);
    EXPECT_THAT(arguments("c_many").return_place.reason, HasSubstr("returns nothing"));
}

TEST_P(DwarfFunctionOfC, AnAddressInsideAFunctionIsNoEntry) {
    const auto inside = info->function_at(addresses.at("c_many") + 1);
    ASSERT_FALSE(inside);
    EXPECT_EQ(inside.error().code, ErrorCode::not_found);
    EXPECT_FALSE(info->function_at(0));
    EXPECT_FALSE(info->function_at(UINT64_MAX));
}

TEST_P(DwarfFunctionOfC, TypesOutliveTheInformationTheyCameFrom) {
    Result<FunctionArguments> all = fail(ErrorCode::internal, "not asked");
    {
        const auto other = DwarfInfo::open(*elf);
        ASSERT_TRUE(other);
        all = other->function_at(addresses.at("c_request"));
    }
    ASSERT_TRUE(all);
    EXPECT_TRUE(find_member(all->parameters.at(0).type, "next"));
}

INSTANTIATE_TEST_SUITE_P(Compilers,
                         DwarfFunctionOfC,
                         ::testing::Values("dwarf_c_gcc_o0",
                                           "dwarf_c_gcc_o2",
                                           "dwarf_c_gcc_v4",
                                           "dwarf_c_clang_o0",
                                           "dwarf_c_clang_o2"),
                         [](const auto& each) { return std::string(each.param); });

class DwarfFunctionOfOptimisedC : public DwarfFunction {};

TEST_P(DwarfFunctionOfOptimisedC, AParameterThatWasRemovedShiftsNoOther) {
    check_at_entries({{"c_pruned.constprop.0", "kept", {34}}});
    const auto all = arguments("c_pruned.constprop.0");
    const auto* constant = all.find("constant");
    if (constant == nullptr) return;  // not even its name is left
    const bool is_known = constant->place.kind == PlaceKind::constant;
    EXPECT_TRUE(is_known ? constant->place.constant == 12 : !constant->place.reason.empty());
}

INSTANTIATE_TEST_SUITE_P(Gcc,
                         DwarfFunctionOfOptimisedC,
                         ::testing::Values("dwarf_c_gcc_o2", "dwarf_c_gcc_v4"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(DwarfFunctionOfCxx, PlacesHoldTheValuesAtTheEntry) {
    check_at_entries({
        {"shop::Cart::Cart", "n", {201}},
        {"shop::Cart::add", "n", {202}},
        {"shop::Cart::add", "state", {200}},
        {"shop::Cart::total", "n", {203}},
        {"shop::owners", "owner", {205}},
        {"shop::owners", "n", {206}},
        {"shop::typed<int>", "value", {-207}},
        {"shop::typed<int>", "hidden", {0}},
        {"shop::guarded", "n", {211}},
        {"shop::guarded", "m", {212}},
    });
}

TEST_P(DwarfFunctionOfCxx, AReturnedObjectTakesTheFirstRegister) {
    const auto all = arguments("shop::Cart::title");
    const auto* n = all.find("n");
    ASSERT_NE(n, nullptr);
    if (all.return_type.form == DwarfForm::none) {
        // clang tells std::string only where it is instantiated: then nothing is certain.
        EXPECT_THAT(n->place.reason, HasSubstr("does not tell"));
    } else {
        check_at_entries({{"shop::Cart::title", "n", {4}}});
    }
}

TEST_P(DwarfFunctionOfCxx, BaseClassesAreSearchedForMembers) {
    const auto all = arguments("shop::Cart::add");
    const auto* self = all.find("this");
    ASSERT_NE(self, nullptr);
    EXPECT_TRUE(self->is_artificial);
    EXPECT_EQ(self->place.registers[0], TR_REG_RDI);
    EXPECT_EQ(find_member(self->type, "base_value")->offset, 0u);
    EXPECT_EQ(find_member(self->type, "other_value")->offset, 8u);
    EXPECT_EQ(find_member(self->type, "count_")->offset, 12u);
    const auto all_members = members_of(*pointed_type(self->type));
    ASSERT_TRUE(all_members);
    EXPECT_EQ(all_members->size(), 3u);
    const auto fixed = find_member(self->type, "instances");
    ASSERT_FALSE(fixed);
}

TEST_P(DwarfFunctionOfCxx, EnumerationsKnowTheirSize) {
    const auto all = arguments("shop::Cart::add");
    const auto* state = all.find("state");
    ASSERT_NE(state, nullptr);
    EXPECT_EQ(state->type.form, DwarfForm::enumeration);
    EXPECT_EQ(state->type.bytes, 1u);
    EXPECT_FALSE(state->type.is_signed);
    EXPECT_EQ(enumerators_of(state->type).at(1).value, 200);
}

TEST_P(DwarfFunctionOfCxx, ReferencesArePointers) {
    const auto all = arguments("shop::owners");
    const auto* cart = all.find("cart");
    ASSERT_NE(cart, nullptr);
    EXPECT_EQ(cart->type.form, DwarfForm::pointer);
    EXPECT_EQ(find_member(cart->type, "count_")->offset, 12u);
    EXPECT_TRUE(all.find("owner")->place.is_indirect);
}

TEST_P(DwarfFunctionOfCxx, AClassThatIsOnlyDeclaredHasNoMembers) {
    const auto all = arguments("shop::typed<int>");
    const auto member = find_member(all.find("hidden")->type, "x");
    ASSERT_FALSE(member);
    EXPECT_THAT(member.error().what, HasSubstr("only declared"));
}

INSTANTIATE_TEST_SUITE_P(Compilers,
                         DwarfFunctionOfCxx,
                         ::testing::Values("dwarf_cxx_gcc_o0",
                                           "dwarf_cxx_gcc_o2",
                                           "dwarf_cxx_clang_o0",
                                           "dwarf_cxx_clang_o2"),
                         [](const auto& each) { return std::string(each.param); });

TEST(DwarfInfo, AFileWithoutDebugInformationIsRefusedWithTheCure) {
    const auto elf = ElfFile::open("/bin/true");
    ASSERT_TRUE(elf);
    const auto info = DwarfInfo::open(*elf);
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().code, ErrorCode::not_found);
    EXPECT_THAT(info.error().hint, HasSubstr("-g"));
}

}  // namespace
}  // namespace tracer
