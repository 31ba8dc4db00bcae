// SPDX-License-Identifier: Apache-2.0
//
// Files and operands of machines other than this one: read, typed and named, never compiled.
#include "symbol/foreign_operand.h"

#include "symbol/aarch64_operand.h"
#include "symbol/att_operand.h"
#include "symbol/usdt_notes.h"
#include "unit/symbol/foreign_elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ForeignElf;
using ::testing::HasSubstr;

Result<ElfFile> open_bytes(std::vector<std::byte> bytes, ElfScope scope = ElfScope::any) {
    return ElfFile::from_bytes(FileBytes::from_memory(std::move(bytes), "test.elf"), scope);
}

ForeignElf i386_file() {
    return ForeignElf(EM_386, true)
        .note("first", "-4@4(%esp) 1@%al 4f@counter", ForeignElf::kCode, ForeignElf::kBase + 8)
        .note("second", "", ForeignElf::kCode + 1)
        .note("outside", "", 0x1000);
}

TEST(ForeignElf, IsRefusedWhereItWouldBeProbed) {
    const auto refused = open_bytes(i386_file().build(), ElfScope::native);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("another machine (i386)"));
    EXPECT_THAT(refused.error().hint, HasSubstr("tracer list"));
    EXPECT_THAT(open_bytes(ForeignElf(EM_AARCH64, false).build(), ElfScope::native).error().what,
                HasSubstr("another machine (aarch64)"));
    EXPECT_THAT(open_bytes(ForeignElf(EM_X86_64, true).build(), ElfScope::native).error().what,
                HasSubstr("another machine (x32)"));
}

TEST(ForeignElf, IsRefusedWhenItsMachineIsUnknown) {
    EXPECT_THAT(open_bytes(ForeignElf(EM_RISCV, false).build()).error().what,
                HasSubstr("ELF machine 243"));
    // Neither has files of this class.
    EXPECT_FALSE(open_bytes(ForeignElf(EM_386, false).build()));
    EXPECT_FALSE(open_bytes(ForeignElf(EM_AARCH64, true).build()));
    auto big_endian = i386_file().build();
    big_endian[EI_DATA] = std::byte{ELFDATA2MSB};
    EXPECT_THAT(open_bytes(big_endian).error().what, HasSubstr("little-endian"));
}

TEST(ForeignElf, NotesOf32BitFilesHaveShortAddresses) {
    const auto file = open_bytes(i386_file().build());
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->machine(), ElfMachine::i386);
    EXPECT_TRUE(file->is_32_bit());
    EXPECT_FALSE(file->is_native());
    const auto notes = read_usdt_notes(*file);
    ASSERT_TRUE(notes);
    ASSERT_EQ(notes->notes.size(), 2u);
    EXPECT_EQ(notes->malformed, 1u);
    const auto& first = notes->notes[0];
    EXPECT_EQ(first.provider, "app");
    EXPECT_EQ(first.name, "first");
    EXPECT_EQ(first.location_vaddr, ForeignElf::kCode);
    EXPECT_EQ(first.location_offset, 0x200u);
    EXPECT_EQ(first.semaphore_offset, 8u);
    EXPECT_EQ(notes->notes[1].semaphore_vaddr, 0u);
}

TEST(ForeignElf, NotesOfPrelinked32BitFilesMoveModulo2To32) {
    const auto file = open_bytes(
        ForeignElf(EM_386, true)
            .base_section(0x100)
            .note("moved", "", ForeignElf::kCode - 0x200, ForeignElf::kBase - 0x200, 0xffffff00)
            .build());
    ASSERT_TRUE(file);
    const auto notes = read_usdt_notes(*file);
    ASSERT_EQ(notes->notes.size(), 1u);
    EXPECT_EQ(notes->notes[0].location_vaddr, ForeignElf::kCode);
    EXPECT_EQ(notes->notes[0].semaphore_vaddr, ForeignElf::kBase);
}

TEST(ForeignElf, NotesOfAarch64HaveTheOperandsOfTheirText) {
    const auto file =
        open_bytes(ForeignElf(EM_AARCH64, false)
                       .note("copied", "-4@[sp, 8] 8@x0  1@[x1, x2, lsl 0] 8f@5", ForeignElf::kCode)
                       .build());
    ASSERT_TRUE(file) << file.error().what;
    const auto notes = read_usdt_notes(*file);
    ASSERT_EQ(notes->notes.size(), 1u);
    size_t total = 0;
    const auto operands = describe_foreign_operands(notes->notes[0].arguments, *file, &total);
    ASSERT_EQ(operands.size(), 4u);
    EXPECT_EQ(total, 4u);
    EXPECT_EQ(operands[0].text, "-4@[sp, 8]");
    EXPECT_TRUE(operands[0].is_signed);
    EXPECT_EQ(operands[0].bytes, 4);
    EXPECT_EQ(operands[1].bytes, 8);
    EXPECT_EQ(operands[2].bytes, 1);
    EXPECT_TRUE(operands[3].is_float);
    for (const auto& operand : operands) {
        EXPECT_FALSE(operand.is_readable());
        EXPECT_EQ(operand.reason, "an operand of aarch64");
    }
}

TEST(ForeignElf, EveryTruncationIsRefusedOrRead) {
    for (const auto& whole :
         {i386_file().build(),
          ForeignElf(EM_AARCH64, false).note("a", "8@x0", ForeignElf::kCode).build()}) {
        for (size_t length = 0; length < whole.size(); ++length) {
            const auto file =
                open_bytes({whole.begin(), whole.begin() + static_cast<long>(length)});
            // The section headers are last, so no shorter file is whole.
            EXPECT_FALSE(file) << length;
        }
    }
}

CompiledOperand describe(std::string_view text, ElfMachine machine) {
    return describe_foreign_operand(text, machine, "there");
}

TEST(I386Operand, EveryFormOfItsCompilersIsKnown) {
    // What gcc 12 and clang 14 write for "nor" at -O0 and -O2, with and without -fPIC.
    for (auto text : {"-4@%eax",
                      "1@%bl",
                      "-2@%si",
                      "-4@4(%esp)",
                      "4@-92(%ebp)",
                      "-4@(%ecx,%ebp)",
                      "-4@12(%ecx,%ebp)",
                      "4@(%ecx,%edi,4)",
                      "-4@gv",
                      "4@gv+8",
                      "-4@arr(,%eax,4)",
                      "-4@arr@GOTOFF(%edx,%esi,4)",
                      "8f@.LCPI0_0@GOTOFF(%eax)",
                      "-4@%gs:tls@ntpoff",
                      "-4@%gs:0",
                      "-8@$81985529216486895",
                      "-4@$-5",
                      "4f@28(%esp)",
                      "8f@%esi",
                      "8@%esi",
                      "4@%gs:12(%ecx)",
                      "-4@$gv"}) {
        EXPECT_EQ(describe(text, ElfMachine::i386).reason, "an operand of there") << text;
    }
}

TEST(I386Operand, SizesAreThoseOfTheText) {
    const auto narrow = describe("-1@%ah", ElfMachine::i386);
    EXPECT_TRUE(narrow.is_signed);
    EXPECT_EQ(narrow.bytes, 1);
    EXPECT_EQ(describe("4@%al", ElfMachine::i386).bytes, 1);
    // The first of a pair of registers.
    EXPECT_EQ(describe("8@%eax", ElfMachine::i386).bytes, 8);
    EXPECT_EQ(describe("%eax", ElfMachine::i386).bytes, 4);
    EXPECT_EQ(describe("4(%esp)", ElfMachine::i386).bytes, 4);
    EXPECT_TRUE(describe("8f@(%eax)", ElfMachine::i386).is_float);
}

TEST(I386Operand, SaysWhatIsWrong) {
    const auto reason = [](std::string_view text) {
        return describe(text, ElfMachine::i386).reason;
    };
    for (auto text : {"8@%rax", "4@%r8d", "1@%sil", "1@%spl", "4@(%rax)", "4@(%ax)"}) {
        EXPECT_THAT(reason(text),
                    testing::AnyOf(HasSubstr("unknown register"), HasSubstr("32 or 64 bits")))
            << text;
    }
    EXPECT_THAT(reason("4@%fs:0"), HasSubstr("not the segment"));
    EXPECT_THAT(reason("4f@%xmm0"), HasSubstr("vector register"));
    EXPECT_THAT(reason("16@(%eax)"), HasSubstr("16 bytes"));
    EXPECT_THAT(reason("4@gv@PLT"), HasSubstr("relocation"));
}

Aarch64Place parse(std::string_view text) {
    Aarch64Place place;
    EXPECT_EQ(parse_aarch64_place(text, place), "") << text;
    return place;
}

TEST(Aarch64Operand, Registers) {
    EXPECT_EQ(parse("x0").kind, Aarch64PlaceKind::reg);
    EXPECT_EQ(parse("x30").reg.number, 30);
    EXPECT_EQ(parse("w1").reg.number, 1);
    EXPECT_EQ(parse("w1").reg.bytes, 4);
    EXPECT_EQ(parse("sp").reg.number, kAarch64StackPointer);
    EXPECT_EQ(parse("wzr").reg.number, kAarch64Zero);
    EXPECT_EQ(parse("xzr").reg.bytes, 8);
    EXPECT_EQ(parse("fp").reg.number, 29);
    EXPECT_EQ(parse("lr").reg.number, 30);
}

TEST(Aarch64Operand, Constants) {
    EXPECT_EQ(parse("5").kind, Aarch64PlaceKind::immediate);
    EXPECT_EQ(parse("5").number, 5);
    EXPECT_EQ(parse("#-5").number, -5);
    EXPECT_EQ(parse("-9223372036854775808").number, INT64_MIN);
    EXPECT_EQ(parse("18446744073709551615").number, -1);
    EXPECT_EQ(parse("0x10").number, 16);
}

TEST(Aarch64Operand, Memory) {
    const auto plain = parse("[x8]");
    EXPECT_EQ(plain.kind, Aarch64PlaceKind::memory);
    EXPECT_EQ(plain.reg.number, 8);
    EXPECT_FALSE(plain.index);
    EXPECT_EQ(parse("[sp, 60]").number, 60);
    EXPECT_EQ(parse("[sp,#-16]").number, -16);
    const auto scaled = parse("[x0, x1, lsl 3]");
    EXPECT_EQ(scaled.index->number, 1);
    EXPECT_EQ(scaled.shift, 3);
    EXPECT_EQ(parse("[x0, x1]").index->bytes, 8);
    const auto word = parse("[x0, w1, sxtw #2]");
    EXPECT_EQ(word.extend, Aarch64Extend::sxtw);
    EXPECT_EQ(word.shift, 2);
    EXPECT_EQ(parse("[x0, w1, uxtw]").shift, 0);
    EXPECT_EQ(parse("[x0, x1, sxtx 1]").extend, Aarch64Extend::sxtx);
    const auto symbol = parse("[x0, :lo12:counter+8]");
    EXPECT_EQ(symbol.symbol, "counter");
    EXPECT_EQ(symbol.number, 8);
    EXPECT_EQ(parse("[x0, #:lo12:counter-4]").number, -4);
}

TEST(Aarch64Operand, RefusesWhatItsAssemblerDoes) {
    for (auto text : {"",
                      "#",
                      "-",
                      "x31",
                      "w31",
                      "x00",
                      "x",
                      "x1x",
                      "[",
                      "[]",
                      "[x0",
                      "[x0]!",
                      "[x0], 8",
                      "[w0]",
                      "[xzr]",
                      "[5]",
                      "[x0, ]",
                      "[x0, sp]",
                      "[x0, w1]",
                      "[x0, x1, lsl]",
                      "[x0, x1, lsl 5]",
                      "[x0, x1, lsl -1]",
                      "[x0, x1, uxtw 2]",
                      "[x0, w1, sxtx 2]",
                      "[x0, x1, asr 2]",
                      "[x0, x1, lsl 3, 4]",
                      "[x0, :lo12:]",
                      "[x0, :lo12:a+]",
                      "[x0, 99999999999999999999]",
                      "%rax",
                      "8(%rsp)"}) {
        Aarch64Place place;
        EXPECT_NE(parse_aarch64_place(text, place), "") << text;
    }
    Aarch64Place place;
    EXPECT_THAT(parse_aarch64_place("d0", place), HasSubstr("vector register"));
    EXPECT_THAT(parse_aarch64_place("q31", place), HasSubstr("vector register"));
}

TEST(Aarch64Operand, ValuesAreNoWiderThanTheirRegister) {
    EXPECT_EQ(describe("8@w1", ElfMachine::aarch64).bytes, 4);
    EXPECT_EQ(describe("1@w1", ElfMachine::aarch64).bytes, 1);
    EXPECT_EQ(describe("w1", ElfMachine::aarch64).bytes, 4);
    EXPECT_TRUE(describe("-3", ElfMachine::aarch64).is_signed);
}

}  // namespace
}  // namespace tracer
