// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf_file.h"

#include "symbol/symbol_table.h"
#include "symbol/usdt_notes.h"
#include "unit/symbol/elf_builder.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::HasSubstr;

Result<ElfFile> open_bytes(std::vector<std::byte> bytes) {
    return ElfFile::from_bytes(FileBytes::from_memory(std::move(bytes), "test.elf"));
}

Result<ElfFile> open_built(const ElfBuilder& builder) {
    return open_bytes(builder.build());
}

ElfBuilder rich_builder() {
    ElfBuilder builder;
    builder.function("main", ElfBuilder::kText, 16)
        .function("helper@@V_1", ElfBuilder::kText + 16, 8)
        .object("counter", ElfBuilder::kData + 8)
        .note("app", "start", "4@%edi 8@counter(%rip)", ElfBuilder::kText + 4,
              ElfBuilder::kData + 16)
        .note("app", "stop", "", ElfBuilder::kText + 5);
    return builder;
}

// Everything the layer reads from a file; only that it returns matters.
void read_all(const ElfFile& file) {
    (void)file.build_id();
    (void)file.dynamic();
    (void)file.is_go();
    (void)file.is_debug_only();
    auto notes = read_usdt_notes(file);
    auto symbols = SymbolTable::load(file);
    if (notes) {
        for (const auto& note : notes->notes) (void)file.read(note.location_offset, 5);
    }
}

TEST(ElfFile, RefusesOtherFilesByName) {
    EXPECT_THAT(open_bytes({}).error().what, HasSubstr("not an ELF file"));
    EXPECT_THAT(open_bytes(std::vector<std::byte>(100)).error().what, HasSubstr("not an ELF file"));
    ElfBuilder foreign;
    foreign.header().e_machine = EM_AARCH64;
    EXPECT_THAT(open_built(foreign).error().what, HasSubstr("another machine"));
    ElfBuilder object(ET_REL);
    EXPECT_THAT(open_built(object).error().what, HasSubstr("object or core"));
    EXPECT_EQ(ElfFile::open("/nonexistent/file").error().code, ErrorCode::not_found);
    EXPECT_THAT(ElfFile::open("/dev").error().what, HasSubstr("not a regular file"));
}

TEST(ElfFile, DoesNotHangOnAFifo) {
    test::TemporaryFolder folder;
    const auto path = folder.path() + "/fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(ElfFile::open(path).error().what, HasSubstr("not a regular file"));
}

TEST(ElfFile, TranslatesAddressesBySegment) {
    auto file = open_built(ElfBuilder());
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->file_offset_of(ElfBuilder::kText), 0x200u);
    EXPECT_EQ(file->file_offset_of(ElfBuilder::kData + 4), ElfBuilder::kDataOffset + 4);
    EXPECT_EQ(file->file_offset_of(ElfBuilder::kBase - 1), std::nullopt);
    EXPECT_EQ(file->file_offset_of(ElfBuilder::kBss), std::nullopt);
    EXPECT_TRUE(file->is_in_bss(ElfBuilder::kBss));
    EXPECT_FALSE(file->is_in_bss(ElfBuilder::kBss - 1));
    EXPECT_FALSE(file->is_in_bss(ElfBuilder::kBss + 0x100));
}

TEST(ElfFile, KnowsLanguagesBySections) {
    EXPECT_TRUE(open_built(ElfBuilder().section(".gopclntab", SHT_PROGBITS, "x"))->is_go());
    EXPECT_TRUE(open_built(ElfBuilder().section(".note.go.buildid", SHT_NOTE, "x"))->is_go());
    auto throwing = open_built(ElfBuilder().section(".gcc_except_table", SHT_PROGBITS, "x"));
    EXPECT_TRUE(throwing->has_cxx_exceptions());
    EXPECT_FALSE(throwing->is_go());
    EXPECT_FALSE(throwing->is_ghc());
    EXPECT_TRUE(open_built(ElfBuilder().section(".text", SHT_NOBITS, "x"))->is_debug_only());
}

TEST(SymbolTable, FindsFunctionsAndObjects) {
    auto file = open_built(rich_builder());
    ASSERT_TRUE(file);
    auto table = SymbolTable::load(*file);
    ASSERT_TRUE(table) << table.error().what;
    ASSERT_EQ(table->functions().size(), 2u);
    EXPECT_EQ(table->functions()[0].name, "main");
    EXPECT_EQ(table->functions()[0].file_offset, 0x200u);
    EXPECT_EQ(table->functions()[1].name, "helper");
    EXPECT_EQ(table->address_of("counter"), ElfBuilder::kData + 8);
    EXPECT_EQ(table->address_of("nothing"), std::nullopt);
}

TEST(SymbolTable, ListsAFunctionOfTwoTablesOnce) {
    auto builder = ElfBuilder()
                       .function("f", ElfBuilder::kText)
                       .function("f", ElfBuilder::kText)
                       .function("f", ElfBuilder::kText + 32);
    auto table = SymbolTable::load(*open_built(builder));
    ASSERT_TRUE(table);
    EXPECT_EQ(table->functions().size(), 2u);
}

TEST(SymbolTable, RefusesToChooseBetweenLocalsOfOneName) {
    auto builder = ElfBuilder()
                       .object("twice", ElfBuilder::kData, false)
                       .object("twice", ElfBuilder::kData + 8, false)
                       .object("shadowed", ElfBuilder::kData, false)
                       .object("shadowed", ElfBuilder::kData + 16, true);
    auto table = SymbolTable::load(*open_built(builder));
    ASSERT_TRUE(table);
    EXPECT_EQ(table->address_of("twice"), std::nullopt);
    EXPECT_EQ(table->address_of("shadowed"), ElfBuilder::kData + 16);
}

TEST(UsdtNotes, ReadsSitesAndSemaphores) {
    auto notes = read_usdt_notes(*open_built(rich_builder()));
    ASSERT_TRUE(notes) << notes.error().what;
    ASSERT_EQ(notes->notes.size(), 2u);
    const auto& start = notes->notes[0];
    EXPECT_EQ(start.provider, "app");
    EXPECT_EQ(start.name, "start");
    EXPECT_EQ(start.arguments, "4@%edi 8@counter(%rip)");
    EXPECT_EQ(start.location_offset, 0x204u);
    EXPECT_EQ(start.semaphore_offset, ElfBuilder::kDataOffset + 16);
    EXPECT_FALSE(start.is_semaphore_in_bss);
    EXPECT_EQ(notes->notes[1].semaphore_vaddr, 0u);
    EXPECT_EQ(notes->malformed, 0u);
}

TEST(UsdtNotes, FlagsASemaphoreWithoutAPlaceInTheFile) {
    auto builder = ElfBuilder().note("p", "n", "", ElfBuilder::kText, ElfBuilder::kBss + 8);
    auto notes = read_usdt_notes(*open_built(builder));
    ASSERT_EQ(notes->notes.size(), 1u);
    EXPECT_TRUE(notes->notes[0].is_semaphore_in_bss);
    EXPECT_EQ(notes->notes[0].semaphore_offset, 0u);
}

TEST(UsdtNotes, FollowsAPrelinkedFile) {
    auto builder =
        ElfBuilder()
            .section(".stapsdt.base", SHT_PROGBITS, "x", 0x9100)
            .note("p", "n", "", ElfBuilder::kText - 0x100, ElfBuilder::kData - 0x100, 0x9000)
            .note("p", "m", "", ElfBuilder::kText, 0, 0);
    auto notes = read_usdt_notes(*open_built(builder));
    ASSERT_EQ(notes->notes.size(), 2u);
    EXPECT_EQ(notes->notes[0].location_vaddr, ElfBuilder::kText);
    EXPECT_EQ(notes->notes[0].semaphore_vaddr, ElfBuilder::kData);
    EXPECT_EQ(notes->notes[1].location_vaddr, ElfBuilder::kText);
    EXPECT_EQ(notes->notes[1].semaphore_vaddr, 0u);
}

TEST(UsdtNotes, CountsWhatItLeavesOut) {
    auto builder = ElfBuilder()
                       .note("p", "outside", "", 0x10)
                       .note("", "nameless", "", ElfBuilder::kText)
                       .note("p", "good", "", ElfBuilder::kText);
    auto notes = read_usdt_notes(*open_built(builder));
    ASSERT_EQ(notes->notes.size(), 1u);
    EXPECT_EQ(notes->malformed, 2u);
    // A descriptor that claims more bytes than the section has.
    auto huge =
        ElfBuilder().section(".note.stapsdt", SHT_NOTE,
                             std::string("\x08\0\0\0\xff\xff\xff\xff\x03\0\0\0stapsdt\0", 20));
    notes = read_usdt_notes(*open_built(huge));
    EXPECT_TRUE(notes->notes.empty());
    EXPECT_EQ(notes->malformed, 1u);
}

TEST(HostileElf, EveryTruncationIsRefusedOrRead) {
    const auto whole = rich_builder().build();
    size_t refused = 0;
    for (size_t length = 0; length < whole.size(); ++length) {
        auto file = open_bytes({whole.begin(), whole.begin() + static_cast<long>(length)});
        if (file) {
            read_all(*file);
        } else {
            ++refused;
        }
    }
    // The section headers are last, so no shorter file is whole.
    EXPECT_EQ(refused, whole.size());
}

TEST(HostileElf, EveryFlippedBitIsSurvived) {
    const auto whole = rich_builder().build();
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
        auto bytes = whole;
        bytes[bit / 8] ^= std::byte{static_cast<uint8_t>(1u << (bit % 8))};
        if (auto file = open_bytes(std::move(bytes))) read_all(*file);
    }
}

TEST(HostileElf, GiantCountsAllocateNothing) {
    const auto whole = rich_builder().build();
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof(header));
    auto with_header = [&](const Elf64_Ehdr& changed) {
        auto bytes = whole;
        std::memcpy(bytes.data(), &changed, sizeof(changed));
        return open_bytes(std::move(bytes));
    };
    auto many_sections = header;
    many_sections.e_shnum = 0xffff;
    EXPECT_FALSE(with_header(many_sections));
    auto many_segments = header;
    many_segments.e_phnum = 0xfffe;
    EXPECT_FALSE(with_header(many_segments));
    auto far_away = header;
    far_away.e_shoff = ~0ull - 8;
    EXPECT_FALSE(with_header(far_away));
    // The true count in section 0: larger than any file.
    auto extended = whole;
    Elf64_Shdr first{};
    first.sh_size = ~0ull / sizeof(Elf64_Shdr);
    std::memcpy(extended.data() + header.e_shoff, &first, sizeof(first));
    auto extended_header = header;
    extended_header.e_shnum = 0;
    std::memcpy(extended.data(), &extended_header, sizeof(header));
    auto refused = open_bytes(std::move(extended));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace tracer
