// SPDX-License-Identifier: Apache-2.0
//
// Tables of Go functions: all four forms, made here; a real program's against its own symbols; and
// tables that are cut or bent.
#include "symbol/go_functions.h"

#include "unit/symbol/elf_builder.h"
#include "unit/symbol/go_table_builder.h"

#include <filesystem>
#include <map>

#include <elf.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using test::GoTableBuilder;
using test::GoTableForm;
using test::GoTableRow;

constexpr uint64_t kTable = ElfBuilder::kBase + 0x3000;
constexpr uint8_t kAdded = 21;
constexpr uint8_t kAssembly = 4;

constexpr GoTableForm kForms[] = {test::kGoForm12, test::kGoForm116, test::kGoForm118,
                                  test::kGoForm120};

std::vector<GoTableRow> some_rows() {
    return {{0x00, "main.main", 0, 0},
            {0x20, "runtime.deferreturn", kAdded, 0},
            {0x60, "main.Map[...]", 0, 0}};
}

Result<ElfFile> open(const ElfBuilder& builder) {
    return ElfFile::from_bytes(FileBytes::from_memory(builder.build(), "go"));
}

Result<std::vector<FunctionSymbol>> read(const std::string& table,
                                         const std::string& section = ".gopclntab") {
    const auto file =
        open(ElfBuilder()
                 .section(".note.go.buildid", SHT_NOTE, "")
                 .section(".text", SHT_PROGBITS, std::string(16, 'x'), ElfBuilder::kText)
                 .section(section, SHT_PROGBITS, table, kTable));
    EXPECT_TRUE(file) << file.error().what;
    return read_go_functions(*file);
}

std::map<std::string, uint64_t> by_name(const std::vector<FunctionSymbol>& functions) {
    std::map<std::string, uint64_t> found;
    for (const auto& function : functions) found[function.name] = function.vaddr;
    return found;
}

TEST(GoFunctions, EveryFormSaysTheSame) {
    for (const auto& form : kForms) {
        const auto functions = read(GoTableBuilder(form, some_rows()).build());
        ASSERT_TRUE(functions) << functions.error().what;
        ASSERT_EQ(functions->size(), 3u) << form.number;
        EXPECT_EQ((*functions)[0].name, "main.main");
        EXPECT_EQ((*functions)[0].vaddr, ElfBuilder::kText);
        EXPECT_EQ((*functions)[0].bytes, 0x20u);
        EXPECT_EQ((*functions)[0].file_offset, ElfBuilder::kText - ElfBuilder::kBase);
        EXPECT_EQ((*functions)[1].vaddr, ElfBuilder::kText + 0x20);
        EXPECT_EQ((*functions)[1].bytes, 0x40u);
        EXPECT_EQ((*functions)[2].name, "main.Map[...]");
        EXPECT_EQ((*functions)[2].bytes, 0xa0u);
    }
}

// Function and stand-in have one name in the table; only the one that is called so is kept plain.
TEST(GoFunctions, StandInsOfAnotherConventionHaveAnotherName) {
    for (const auto& form : {test::kGoForm116, test::kGoForm118, test::kGoForm120}) {
        auto rows = some_rows();
        rows.push_back({0x80, "runtime.newproc", 0, 0});
        rows.push_back({0x90, "runtime.asmcgocall", 2, kAssembly | 2});
        rows.push_back({0xa0, "runtime.futex", 0, kAssembly});
        rows.push_back({0xb0, "aeshashbody", 0, kAssembly});
        rows.push_back({0xc0, "main.Twice[...]", 0, 0});
        rows.push_back({0xd0, "main.Twice[...]", 0, 0});
        rows.push_back({0xe0, "runtime.asmcgocall", kAdded, 0});
        rows.push_back({0xf0, "runtime.newproc", kAdded, 0});
        const auto functions = read(GoTableBuilder(form, rows).build());
        ASSERT_TRUE(functions) << functions.error().what;
        ASSERT_EQ(functions->size(), rows.size());
        auto found = by_name(*functions);
        EXPECT_EQ(found["runtime.newproc"], ElfBuilder::kText + 0x80);
        EXPECT_EQ(found["runtime.newproc.abi0"], ElfBuilder::kText + 0xf0);
        EXPECT_EQ(found["runtime.asmcgocall"], ElfBuilder::kText + 0xe0);
        EXPECT_EQ(found["runtime.asmcgocall.abi0"], ElfBuilder::kText + 0x90);
        EXPECT_EQ(found["runtime.futex.abi0"], ElfBuilder::kText + 0xa0);
        EXPECT_EQ(found["aeshashbody"], ElfBuilder::kText + 0xb0);
        EXPECT_EQ(found["main.Twice[...]"], ElfBuilder::kText + 0xd0);  // both
    }
}

std::string relocation(uint64_t vaddr, uint64_t addend) {
    const Elf64_Rela entry{vaddr, R_X86_64_RELATIVE, static_cast<Elf64_Sxword>(addend)};
    return {static_cast<const char*>(static_cast<const void*>(&entry)), sizeof(entry)};
}

TEST(GoFunctions, TheCodeIsFoundWhereTheLinkerLeftItsAddress) {
    const auto table = GoTableBuilder(test::kGoForm120, some_rows()).code_word(0);
    // Go's linker: the whole of .text is its own.
    const auto own = read(table.build());
    ASSERT_TRUE(own) << own.error().what;
    EXPECT_EQ(own->front().vaddr, ElfBuilder::kText);
    // Another one: a relocation says it, and the table is among other constants.
    const std::string other_constants(24, '\5');
    const auto placed = [&](const std::string& relocations) {
        const auto file = open(
            ElfBuilder()
                .section(".note.go.buildid", SHT_NOTE, "")
                .section(".text", SHT_PROGBITS, "x", ElfBuilder::kText)
                .section(".init", SHT_PROGBITS, "x")
                .section(".rela.dyn", SHT_RELA, relocations)
                .section(".data.rel.ro", SHT_PROGBITS, other_constants + table.build(), kTable));
        EXPECT_TRUE(file);
        return read_go_functions(*file);
    };
    const uint64_t word_at = kTable + other_constants.size() + 24;
    const auto relocated = placed(relocation(word_at + 8, ElfBuilder::kText) +
                                  relocation(word_at, ElfBuilder::kText + 0x40));
    ASSERT_TRUE(relocated) << relocated.error().what;
    EXPECT_EQ(relocated->front().vaddr, ElfBuilder::kText + 0x40);
    // Addresses outside of the code, and none at all.
    for (const auto& relocations : {relocation(word_at, 0x10), std::string(7, 'x')}) {
        const auto unknown = placed(relocations);
        ASSERT_FALSE(unknown);
        EXPECT_NE(unknown.error().what.find("begins is not known"), std::string::npos);
    }
}

TEST(GoFunctions, FilesWithoutATableHaveNone) {
    const auto plain = open(ElfBuilder().section(".data.rel.ro", SHT_PROGBITS, "x"));
    ASSERT_TRUE(plain);
    EXPECT_TRUE(read_go_functions(*plain)->empty());
    const auto own = ElfFile::open("/proc/self/exe");
    ASSERT_TRUE(own);
    EXPECT_TRUE(read_go_functions(*own)->empty());
}

TEST(GoFunctions, TablesOfAnotherFormAreRefused) {
    auto table = GoTableBuilder(test::kGoForm120, some_rows()).build();
    for (const auto& [at, value] :
         std::map<size_t, char>{{0, '\7'}, {4, '\1'}, {6, '\4'}, {7, '\4'}}) {
        auto other = table;
        other[at] = value;
        const auto functions = read(other);
        ASSERT_FALSE(functions) << at;
        EXPECT_EQ(functions.error().code, ErrorCode::bad_input);
    }
    for (const uint64_t added : {uint64_t{100}, ~uint64_t{0} - 3, ~uint64_t{0} / 2}) {
        const auto too_many = GoTableBuilder(test::kGoForm120, some_rows()).count_added(added);
        EXPECT_FALSE(read(too_many.build())) << added;
    }
}

TEST(GoFunctions, NothingIsReadBehindACutTable) {
    for (const auto& form : kForms) {
        const auto whole = GoTableBuilder(form, some_rows()).build();
        for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
            const auto functions = read(whole.substr(0, bytes));
            if (!functions) continue;
            EXPECT_LE(functions->size(), 3u);
        }
        for (size_t at = 8; at < whole.size(); ++at) {
            auto bent = whole;
            bent[at] = '\xff';
            const auto functions = read(bent);
            if (!functions) continue;
            for (const auto& function : *functions) {
                EXPECT_GE(function.vaddr, ElfBuilder::kBase);
                EXPECT_LT(function.vaddr, ElfBuilder::kTextEnd);
            }
        }
    }
}

TEST(GoFunctions, AStrippedProgramHasThemAsSymbols) {
    const auto file =
        open(ElfBuilder()
                 .section(".text", SHT_PROGBITS, std::string(16, 'x'), ElfBuilder::kText)
                 .section(".gopclntab", SHT_PROGBITS,
                          GoTableBuilder(test::kGoForm120, some_rows()).build()));
    ASSERT_TRUE(file);
    const auto symbols = SymbolTable::load(*file);
    ASSERT_TRUE(symbols) << symbols.error().what;
    EXPECT_EQ(symbols->functions().size(), 3u);
    EXPECT_EQ(symbols->address_of("main.main"), ElfBuilder::kText);
    EXPECT_TRUE(symbols->remarks().empty());
}

TEST(GoFunctions, ATableThatCannotBeReadIsRemarked) {
    const auto file = open(ElfBuilder().section(".gopclntab", SHT_PROGBITS, "x"));
    ASSERT_TRUE(file);
    const auto symbols = SymbolTable::load(*file);
    ASSERT_TRUE(symbols);
    EXPECT_TRUE(symbols->empty());
    EXPECT_EQ(symbols->remarks().size(), 1u);
}

// The table of a program that was not stripped says what its symbols say.
TEST(GoFunctions, ARealProgramHasThoseOfItsSymbolTable) {
    const std::string path = std::string(TRACER_TEST_PROGRAMS) + "/go_stacks";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no Go compiler built " << path;
    const auto file = ElfFile::open(path);
    ASSERT_TRUE(file);
    const auto functions = read_go_functions(*file);
    const auto symbols = SymbolTable::load(*file);
    ASSERT_TRUE(functions) << functions.error().what;
    ASSERT_TRUE(symbols);
    std::map<uint64_t, const FunctionSymbol*> by_address;
    for (const auto& symbol : symbols->functions()) {
        // Labels of the linker's, not functions.
        if (symbol.name == "runtime.text" || symbol.name == "runtime.etext") continue;
        by_address[symbol.vaddr] = &symbol;
    }
    EXPECT_GT(functions->size(), 1000u);
    EXPECT_EQ(functions->size(), by_address.size());
    size_t same_names = 0;
    for (const auto& function : *functions) {
        const auto symbol = by_address.find(function.vaddr);
        ASSERT_NE(symbol, by_address.end()) << function.name;
        EXPECT_EQ(symbol->second->file_offset, function.file_offset);
        // The table counts what fills the place up to the next function.
        EXPECT_GE(function.bytes, symbol->second->bytes) << function.name;
        if (function.name == symbol->second->name) {
            ++same_names;
            continue;
        }
        // Assembly with Go's own convention; types in brackets are left out.
        EXPECT_TRUE(function.name == symbol->second->name + ".abi0" ||
                    function.name.find("[...]") != std::string::npos)
            << function.name << ' ' << symbol->second->name;
    }
    EXPECT_GT(same_names, functions->size() * 9 / 10);
}

}  // namespace
}  // namespace tracer
