// SPDX-License-Identifier: Apache-2.0
#include "packs/pack_match.h"

#include "packs/pack_file.h"
#include "unit/packs/pack_texts.h"
#include "unit/symbol/elf_builder.h"

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPython = "/usr/bin/python3.11";
constexpr const char* kLibstdcxx = "/lib/x86_64-linux-gnu/libstdc++.so.6";

ProbeFile in_memory(const ElfBuilder& builder, const std::string& name = "/opt/demod") {
    auto elf = ElfFile::from_bytes(FileBytes::from_memory(builder.build(), name));
    EXPECT_TRUE(elf) << elf.error().what;
    return {{name, name}, std::move(*elf), {}};
}

ProbeFile on_disk(const std::string& path) {
    auto elf = ElfFile::open(path);
    EXPECT_TRUE(elf) << elf.error().what;
    return {{path, path}, std::move(*elf), {}};
}

bool does_fit(std::string_view match, ProbeFile& file, bool is_executable = false) {
    const auto pack = parse_pack(matching(match), "t");
    EXPECT_TRUE(pack) << pack.error().what;
    return pack && fits(*pack, file, is_executable);
}

ElfBuilder demo() {
    ElfBuilder builder;
    builder.function("demo_start", ElfBuilder::kText)
        .object("demo_version", ElfBuilder::kData)
        .note("demo", "one", "", ElfBuilder::kText + 8)
        .note("demo", "two", "", ElfBuilder::kText + 9)
        .section(".demo.info", SHT_PROGBITS, "x");
    return builder;
}

TEST(PackMatch, AsksForProviders) {
    auto file = in_memory(demo());
    EXPECT_TRUE(does_fit("[[match]]\nprovider = \"demo\"\n", file));
    EXPECT_TRUE(does_fit("[[match]]\nprovider = \"de*\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nprovider = \"dem\"\n", file));
    auto plain = in_memory(ElfBuilder().function("f", ElfBuilder::kText));
    EXPECT_FALSE(does_fit("[[match]]\nprovider = \"demo\"\n", plain));
}

TEST(PackMatch, AsksForTheAbsenceOfProviders) {
    auto file = in_memory(demo());
    EXPECT_FALSE(
        does_fit("[[match]]\nsection = \".demo.info\"\nwithout_provider = \"demo\"\n", file));
    EXPECT_TRUE(
        does_fit("[[match]]\nsection = \".demo.info\"\nwithout_provider = \"other\"\n", file));
}

TEST(PackMatch, AsksForSections) {
    auto file = in_memory(demo());
    EXPECT_TRUE(does_fit("[[match]]\nsection = \".demo.info\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nsection = \".demo.inf\"\n", file));
}

TEST(PackMatch, AsksForCode) {
    constexpr std::string_view kCode =
        "[[code]]\nname = \"enter\"\n"
        "bytes = \"48 83 ec 30 48 89 e0 48 81 ec 00 40 00 00 48 89\"\n"
        "[[match]]\nexecutable = \"*\"\ncode = \"enter\"\n";
    const std::vector<uint8_t> bytes = {0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0xe0, 0x48,
                                        0x81, 0xec, 0x00, 0x40, 0x00, 0x00, 0x48, 0x89};
    auto once = in_memory(ElfBuilder().code(ElfBuilder::kText + 0x33, bytes));
    EXPECT_TRUE(does_fit(kCode, once, true));
    EXPECT_FALSE(does_fit(kCode, once, false));
    auto never = in_memory(ElfBuilder());
    EXPECT_FALSE(does_fit(kCode, never, true));
    auto twice = in_memory(
        ElfBuilder().code(ElfBuilder::kText + 0x33, bytes).code(ElfBuilder::kText + 0x70, bytes));
    EXPECT_FALSE(does_fit(kCode, twice, true));
}

TEST(PackMatch, AsksForDefinedSymbols) {
    auto file = in_memory(demo());
    EXPECT_TRUE(does_fit("[[match]]\nsymbol = \"demo_start\"\n", file));
    EXPECT_TRUE(does_fit("[[match]]\nsymbol = \"demo_version\"\n", file));
    EXPECT_TRUE(does_fit("[[match]]\nsymbol = \"*_sta?t\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nsymbol = \"demo\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nsymbol = \"emo_start\"\n", file));
}

TEST(PackMatch, TakesExecutablesByNameOnlyWhereTheyAreRun) {
    auto file = in_memory(demo());
    EXPECT_TRUE(does_fit("[[match]]\nexecutable = \"demod\"\n", file, true));
    EXPECT_TRUE(does_fit("[[match]]\nexecutable = \"demo?\"\n", file, true));
    EXPECT_FALSE(does_fit("[[match]]\nexecutable = \"demod\"\n", file, false));
    EXPECT_FALSE(does_fit("[[match]]\nexecutable = \"demo\"\n", file, true));
}

TEST(PackMatch, TakesTheNameOfAFileWithoutSoname) {
    auto file = in_memory(demo(), "/opt/lib/libdemo.so.1.2");
    EXPECT_TRUE(does_fit("[[match]]\nsoname = \"libdemo.so*\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nsoname = \"libdemo\"\n", file));
}

TEST(PackMatch, NeedsAllOfOneMatch) {
    auto file = in_memory(demo());
    EXPECT_FALSE(does_fit("[[match]]\nprovider = \"demo\"\nsymbol = \"nothing\"\n", file));
    EXPECT_TRUE(
        does_fit("[[match]]\nsymbol = \"nothing\"\n[[match]]\nprovider = \"demo\"\n", file));
}

TEST(PackMatch, AsksForBuildIds) {
    auto file = on_disk(kPython);
    const auto id = file.elf().build_id();
    ASSERT_FALSE(id.empty());
    EXPECT_TRUE(does_fit("[[match]]\nbuild_id = \"" + id + "\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nbuild_id = \"" + id.substr(1) + "\"\n", file));
}

TEST(PackMatch, KnowsARealPython) {
    auto file = on_disk(kPython);
    EXPECT_TRUE(does_fit("[[match]]\nprovider = \"python\"\n", file));
    EXPECT_TRUE(does_fit("[[match]]\nexecutable = \"python3*\"\n", file, true));
    EXPECT_TRUE(does_fit("[[match]]\nsymbol = \"PyGC_Collect\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nprovider = \"ruby\"\n", file));
    EXPECT_FALSE(does_fit("[[match]]\nwithout_provider = \"python\"\nexecutable = \"python3*\"\n",
                          file, true));
}

// The library defines what it throws with; programs that are linked with it only ask for it.
TEST(PackMatch, TellsDefinitionsFromReferences) {
    auto library = on_disk(kLibstdcxx);
    EXPECT_TRUE(does_fit("[[match]]\nsymbol = \"__cxa_throw\"\n", library));
    EXPECT_TRUE(does_fit("[[match]]\nsoname = \"libstdc++.so.*\"\n", library));
    auto program = on_disk("/proc/self/exe");
    auto names = program.elf().dynamic();
    ASSERT_TRUE(names);
    EXPECT_THAT(names->needed, testing::Contains("libstdc++.so.6"));
    EXPECT_FALSE(does_fit("[[match]]\nsymbol = \"__cxa_throw\"\n", program));
}

TEST(PackMatch, FindsAllPacksOfAFileByName) {
    TemporaryFolder folder;
    const auto write = [&](const std::string& name, std::string_view match) {
        std::ofstream(folder.path() + "/" + name + ".toml") << matching(match, name);
        return folder.path() + "/" + name + ".toml";
    };
    auto catalog =
        PackCatalog::load({.files = {write("zz-two", "[[match]]\nprovider = \"demo\"\n"),
                                     write("zz-one", "[[match]]\nsymbol = \"demo_s*\"\n"),
                                     write("zz-not", "[[match]]\nsection = \".x\"\n")},
                           .folder = {}});
    ASSERT_TRUE(catalog) << catalog.error().what;
    auto file = in_memory(demo());
    std::vector<std::string> found;
    for (const auto& fit : find_packs(*catalog, file, false)) found.push_back(fit.pack->name);
    EXPECT_THAT(found, ElementsAre("zz-one", "zz-two"));
}

// Files are of whoever runs them: tables that lead nowhere fit nothing, and end no recording.
TEST(PackMatch, BearsFilesWithBentTables) {
    auto bent = demo().build();
    size_t readable = 0;
    for (size_t at = 0; at < bent.size(); at += 3) {
        auto bytes = bent;
        bytes[at] ^= std::byte{0xff};
        auto elf = ElfFile::from_bytes(FileBytes::from_memory(std::move(bytes), "/opt/demod"));
        if (!elf) continue;
        ++readable;
        ProbeFile file({"/opt/demod", "/opt/demod"}, std::move(*elf), {});
        static_cast<void>(
            does_fit("[[match]]\nprovider = \"demo\"\nsymbol = \"demo_*\"\n"
                     "soname = \"demod\"\nbuild_id = \"ab\"\n[[match]]\n"
                     "symbol = \"nothing*\"\n",
                     file));
    }
    EXPECT_GT(readable, 100U);
}

TEST(PackMatch, BearsFilesThatAreCut) {
    const auto whole = demo().build();
    for (size_t size = 0; size < whole.size(); size += 11) {
        auto elf = ElfFile::from_bytes(FileBytes::from_memory(
            {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}, "/opt/demod"));
        if (!elf) continue;
        ProbeFile file({"/opt/demod", "/opt/demod"}, std::move(*elf), {});
        EXPECT_FALSE(does_fit("[[match]]\nsymbol = \"nothing\"\n", file));
    }
}

}  // namespace
}  // namespace tracer::test
