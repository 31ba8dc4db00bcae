// SPDX-License-Identifier: Apache-2.0
#include "packs/pack_match.h"
#include "unit/symbol/elf_builder.h"

#include <string>
#include <utility>

#include <elf.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

std::string version_of(const Pack& pack, const ElfBuilder& builder, const std::string& path) {
    auto elf = ElfFile::from_bytes(FileBytes::from_memory(builder.build(), path));
    EXPECT_TRUE(elf) << elf.error().what;
    ProbeFile file({path, path}, std::move(*elf), {});
    return find_runtime_version(pack, file);
}

std::string by_path(const std::string& pattern, const std::string& name) {
    Pack pack;
    pack.version_path = pattern;
    return version_of(pack, ElfBuilder(), "/usr/bin/" + name);
}

std::string by_text(const std::string& pattern,
                    const std::string& content,
                    const std::string& section = {}) {
    Pack pack;
    pack.version_text = pattern;
    pack.version_section = section;
    return version_of(pack, ElfBuilder().section(".rodata", SHT_PROGBITS, content), "/opt/x");
}

TEST(RuntimeVersion, IsFoundInTheName) {
    EXPECT_EQ(by_path("python{}", "python3.11"), "3.11");
    EXPECT_EQ(by_path("*python{}*", "libpython3.11.so.1.0"), "3.11");
    EXPECT_EQ(by_path("*python{}*", "python3.12"), "3.12");
    EXPECT_EQ(by_path("libx.so.{}", "libx.so.10.2.1"), "10.2.1");
    EXPECT_EQ(by_path("{}-demo", "12-demo"), "12");
}

TEST(RuntimeVersion, IsAWholeNumber) {
    EXPECT_EQ(by_path("*{}", "x11"), "11");
    EXPECT_EQ(by_path("php{}", "php8.2."), "");
    EXPECT_EQ(by_path("python{}", "python"), "");
    EXPECT_EQ(by_path("python{}", "python3.11d"), "");
    EXPECT_EQ(by_path("python{}", "python3..11"), "");
}

// What stands behind the place may begin with digits and dots itself.
TEST(RuntimeVersion, LeavesToThePatternWhatIsThePatterns) {
    EXPECT_EQ(by_path("a{}.0", "a1.2.0"), "1.2");
}

TEST(RuntimeVersion, IsFoundInReadOnlyData) {
    const std::string content("zero\0PostgreSQL %s\0PostgreSQL 15.8 (Debian)\0", 44);
    EXPECT_EQ(by_text("PostgreSQL {}", content), "15.8");
    EXPECT_EQ(by_text("PostgreSQL {} (Deb", content), "15.8");
    EXPECT_EQ(by_text("PostgreSQL {} (Red", content), "");
    EXPECT_EQ(by_text("MySQL {}", content), "");
}

TEST(RuntimeVersion, EndsBeforeAFullStop) {
    EXPECT_EQ(by_text("is {}", "this is 2.1. And"), "2.1");
}

TEST(RuntimeVersion, IsLookedForInOneSectionIfSaid) {
    Pack pack;
    pack.version_text = "go{}";
    const auto file = ElfBuilder()
                          .section(".rodata", SHT_PROGBITS, "cargo1")
                          .section(".go.buildinfo", SHT_PROGBITS, "\xff Go buildinf:go1.19.8");
    EXPECT_EQ(version_of(pack, file, "/opt/x"), "1");
    pack.version_section = ".go.buildinfo";
    EXPECT_EQ(version_of(pack, file, "/opt/x"), "1.19.8");
}

TEST(RuntimeVersion, PrefersTheName) {
    Pack pack;
    pack.version_path = "x{}";
    pack.version_text = "demo {}";
    const auto file = ElfBuilder().section(".rodata", SHT_PROGBITS, "demo 2.1");
    EXPECT_EQ(version_of(pack, file, "/opt/x3"), "3");
    EXPECT_EQ(version_of(pack, file, "/opt/x"), "2.1");
}

// Data are read in pieces: a text that lies across their border is found, and in full.
TEST(RuntimeVersion, IsFoundAcrossPieces) {
    constexpr size_t kPiece = size_t{1} << 20;
    for (const size_t before : {kPiece - 20, kPiece - 7, kPiece - 5, kPiece - 1, kPiece}) {
        EXPECT_EQ(by_text("demo {}", std::string(before, 'x') + "demo 3.11.4 "), "3.11.4")
            << before;
    }
}

TEST(RuntimeVersion, IsThatOfTheNewestSymbol) {
    Pack pack;
    pack.version_symbols = {{"4", "start"}, {"5.0", "events"}, {"5.1", "users"}};
    ElfBuilder builder;
    EXPECT_EQ(version_of(pack, builder, "/opt/x"), "");
    builder.function("start", ElfBuilder::kText);
    EXPECT_EQ(version_of(pack, builder, "/opt/x"), "4");
    builder.object("users", ElfBuilder::kData);
    EXPECT_EQ(version_of(pack, builder, "/opt/x"), "5.1");
    pack.version_path = "x{}";
    EXPECT_EQ(version_of(pack, builder, "/opt/x3.2"), "3.2") << "its name says it first";
}

TEST(RuntimeVersion, OfARealPythonIsItsNames) {
    Pack pack;
    pack.version_path = "python{}";
    auto elf = ElfFile::open("/usr/bin/python3.11");
    ASSERT_TRUE(elf) << elf.error().what;
    ProbeFile file({"/usr/bin/python3.11", "/usr/bin/python3.11"}, std::move(*elf), {});
    EXPECT_EQ(find_runtime_version(pack, file), "3.11");
    pack.version_path.clear();
    pack.version_text = "Underscores in numeric literals are only supported in Python {}";
    EXPECT_EQ(find_runtime_version(pack, file), "3.6");
}

}  // namespace
}  // namespace tracer::test
