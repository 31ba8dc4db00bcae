// SPDX-License-Identifier: Apache-2.0
#include "symbol/got_slots.h"

#include "unit/symbol/elf_builder.h"

#include <elf.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;

constexpr uint32_t kSymbolsNumber = 1;
constexpr uint32_t kNamesNumber = 2;

template <typename T>
std::string bytes_of(const T& value) {
    return {static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value)};
}

std::string relocation(uint64_t slot, uint32_t symbol, uint32_t type) {
    return bytes_of(Elf64_Rela{slot, ELF64_R_INFO(static_cast<uint64_t>(symbol), type), 0});
}

// Symbols: 0 none, 1 "first", 2 "second", 3 a name outside of the table.
ElfBuilder with_relocations(const std::string& relocations) {
    const std::string names("\0first\0second\0", 14);
    std::string symbols = bytes_of(Elf64_Sym{});
    for (const uint32_t name : {1u, 7u, 99u}) {
        Elf64_Sym symbol{};
        symbol.st_name = name;
        symbols += bytes_of(symbol);
    }
    return ElfBuilder()
        .section(".dynsym", SHT_DYNSYM, symbols, 0, kNamesNumber)
        .section(".dynstr", SHT_STRTAB, names)
        .section(".rela.dyn", SHT_RELA, relocations, 0, kSymbolsNumber);
}

GotSlots load(const ElfBuilder& builder) {
    auto file = ElfFile::from_bytes(FileBytes::from_memory(builder.build(), "test.elf"));
    EXPECT_TRUE(file) << file.error().what;
    auto slots = GotSlots::load(*file);
    EXPECT_TRUE(slots) << slots.error().what;
    return std::move(*slots);
}

TEST(GotSlots, FindsSlotsBySymbol) {
    const auto slots = load(with_relocations(relocation(0x3ff0, 1, R_X86_64_GLOB_DAT) +
                                             relocation(0x3ff8, 2, R_X86_64_GLOB_DAT)));
    EXPECT_EQ(slots.slot_of("first"), 0x3ff0u);
    EXPECT_EQ(slots.slot_of("second"), 0x3ff8u);
    EXPECT_EQ(slots.slot_of("third"), std::nullopt);
}

TEST(GotSlots, PassesOverOtherRelocationsAndBrokenOnes) {
    const auto slots = load(with_relocations(
        relocation(0x3fe0, 1, R_X86_64_JUMP_SLOT) + relocation(0x3fe8, 0, R_X86_64_GLOB_DAT) +
        relocation(0x3ff0, 3, R_X86_64_GLOB_DAT) + relocation(0x3ff8, 77, R_X86_64_GLOB_DAT) +
        std::string(7, '\x11')));
    EXPECT_EQ(slots.slot_of("first"), std::nullopt);
    EXPECT_EQ(slots.slot_of(""), std::nullopt);
}

TEST(GotSlots, SurvivesTablesThatNameNoOther) {
    const auto entry = relocation(0x3ff0, 1, R_X86_64_GLOB_DAT);
    for (const uint32_t link : {0u, 1u, 2u, 0xffffffffu}) {
        const auto slots = load(ElfBuilder()
                                    .section(".dynsym", SHT_DYNSYM, std::string(48, '\1'), 0, link)
                                    .section(".rela.dyn", SHT_RELA, entry, 0, link));
        EXPECT_EQ(slots.slot_of("first"), std::nullopt) << link;
    }
}

// Every dynamic program's start code asks for this one.
TEST(GotSlots, OwnProgramHasSlots) {
    const auto file = ElfFile::open("/proc/self/exe");
    ASSERT_TRUE(file);
    const auto slots = GotSlots::load(*file);
    ASSERT_TRUE(slots);
    const auto slot = slots->slot_of("__gmon_start__");
    ASSERT_TRUE(slot);
    EXPECT_TRUE(file->file_offset_of(*slot));
}

}  // namespace
}  // namespace tracer
