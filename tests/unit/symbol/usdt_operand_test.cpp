// SPDX-License-Identifier: Apache-2.0
//
// Operands compiled to read operations, checked by running those on fake registers and memory.
#include "symbol/usdt_operand.h"

#include "support/fake_machine.h"

#include <fstream>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::FakeMachine;

constexpr uint64_t kLocation = 0x1234;       // of the site, link-time
constexpr uint64_t kLoadBias = 0x7f0000000;  // where the file is mapped

OperandContext make_context(bool is_fixed_address) {
    OperandContext context;
    context.is_fixed_address = is_fixed_address;
    context.location_vaddr = kLocation;
    context.address_of = [](std::string_view name) -> std::optional<uint64_t> {
        if (name == "counter") return 0x4010;
        if (name == "local.1234") return 0x4100;
        return std::nullopt;
    };
    context.got_slot_of = [](std::string_view name) -> std::optional<uint64_t> {
        if (name == "elsewhere") return 0x3ff8;
        return std::nullopt;
    };
    context.thread_offset_of = [](std::string_view name) -> std::optional<int64_t> {
        if (name == "per_thread") return -24;
        return std::nullopt;
    };
    return context;
}

class UsdtOperand : public ::testing::Test {
protected:
    UsdtOperand() {
        machine.registers[TR_REG_RAX] = 0x1122334455668799;
        machine.registers[TR_REG_RBX] = 0x10000;
        machine.registers[TR_REG_RDI] = 3;
        machine.registers[TR_REG_RSP] = 0x20000;
        machine.registers[TR_REG_RBP] = 0x30000;
        machine.registers[TR_REG_R13] = 0x40000;
        machine.registers[TR_REG_FS_BASE] = 0x50000;
    }

    std::optional<uint64_t> read(std::string_view text, bool is_fixed_address = false) {
        auto context = make_context(is_fixed_address);
        machine.registers[TR_REG_RIP] = kLocation + (is_fixed_address ? 0 : kLoadBias);
        auto operand = compile_usdt_operand(text, context);
        EXPECT_TRUE(operand.is_readable()) << text << ": " << operand.reason;
        EXPECT_LE(operand.arg.op_count, TR_OPS_MAX);
        return machine.run(operand.arg);
    }

    std::string refuse(std::string_view text, bool is_fixed_address = false) {
        auto operand = compile_usdt_operand(text, make_context(is_fixed_address));
        EXPECT_FALSE(operand.is_readable()) << text;
        EXPECT_EQ(operand.arg.op_count, 0) << text;
        EXPECT_EQ(operand.arg.form, TR_ARG_UNREADABLE) << text;
        return operand.reason;
    }

    FakeMachine machine;
};

TEST_F(UsdtOperand, ReadsRegistersOfEveryWidth) {
    EXPECT_EQ(read("8@%rax"), 0x1122334455668799u);
    EXPECT_EQ(read("4@%eax"), 0x55668799u);
    EXPECT_EQ(read("2@%ax"), 0x8799u);
    EXPECT_EQ(read("1@%al"), 0x99u);
    EXPECT_EQ(read("1@%ah"), 0x87u);
    EXPECT_EQ(read("-4@%eax"), 0x55668799u);
    EXPECT_EQ(read("-2@%ax"), 0xffffffffffff8799u);
    EXPECT_EQ(read("-1@%al"), 0xffffffffffffff99u);
    EXPECT_EQ(read("-1@%ah"), 0xffffffffffffff87u);
    EXPECT_EQ(read("8@%r13"), 0x40000u);
}

TEST_F(UsdtOperand, ReadsNoMoreThanTheRegistersNameIsWide) {
    EXPECT_EQ(read("4@%al"), 0x99u);
    EXPECT_EQ(read("-4@%al"), 0xffffffffffffff99u);
}

TEST_F(UsdtOperand, KnowsEveryRegisterName) {
    const std::array<std::string_view, 16> names64 = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi",
                                                      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                      "r12", "r13", "r14", "r15"};
    const std::array<std::string_view, 16> names8 = {"al",   "bl",   "cl",   "dl",  "sil",  "dil",
                                                     "bpl",  "spl",  "r8b",  "r9b", "r10b", "r11b",
                                                     "r12b", "r13b", "r14b", "r15b"};
    for (size_t i = 0; i < names64.size(); ++i) {
        auto wide = compile_usdt_operand("8@%" + std::string(names64[i]), {});
        auto narrow = compile_usdt_operand("1@%" + std::string(names8[i]), {});
        ASSERT_TRUE(wide.is_readable() && narrow.is_readable()) << names64[i];
        EXPECT_EQ(wide.arg.ops[0].reg, narrow.arg.ops[0].reg) << names64[i];
    }
    for (auto name : {"%ebp", "%esp", "%r9d", "%r10w", "%bh", "%ch", "%dh", "%si", "%sp"}) {
        EXPECT_TRUE(compile_usdt_operand(name, {}).is_readable()) << name;
    }
    for (auto name : {"%r7", "%r16", "%r8x", "%xmm0", "%", "%raxx", "%r08", "%st"}) {
        EXPECT_FALSE(compile_usdt_operand(name, {}).is_readable()) << name;
    }
}

TEST_F(UsdtOperand, ReadsMemoryBehindARegister) {
    machine.store(0x30000 - 16, 0x8877665544332211, 8);
    EXPECT_EQ(read("8@-16(%rbp)"), 0x8877665544332211u);
    EXPECT_EQ(read("-4@-12(%rbp)"), 0xffffffff88776655u);
    EXPECT_EQ(read("4@-12(%rbp)"), 0x88776655u);
    EXPECT_EQ(read("2@-0x10(%rbp)"), 0x2211u);
    machine.store(0x20000, 77, 8);
    EXPECT_EQ(read("8@(%rsp)"), 77u);
    machine.store(0x40000, 78, 4);
    EXPECT_EQ(read("4@0(%r13)"), 78u);
}

TEST_F(UsdtOperand, ReadsScaledIndexes) {
    machine.store(0x10000 + 3 * 4, 1001, 4);
    EXPECT_EQ(read("-4@(%rbx,%rdi,4)"), 1001u);
    machine.store(0x10000 + 12 + 3 * 8, 1002, 8);
    EXPECT_EQ(read("8@12(%rbx,%rdi,8)"), 1002u);
    machine.store(0x10000 + 3, 9, 1);
    EXPECT_EQ(read("1@(%rbx,%rdi)"), 9u);
    machine.store(0x600 + 3 * 2, 1003, 2);
    EXPECT_EQ(read("2@0x600(,%rdi,2)"), 1003u);
    machine.store(3 * 8, 1004, 8);
    EXPECT_EQ(read("8@(,%rdi,8)"), 1004u);
}

TEST_F(UsdtOperand, FindsSymbolsRelativeToTheProbeInMovableFiles) {
    machine.store(kLoadBias + 0x4010, 501, 4);
    machine.store(kLoadBias + 0x4010 + 40, 502, 4);
    EXPECT_EQ(read("-4@counter(%rip)"), 501u);
    EXPECT_EQ(read("-4@40+counter(%rip)"), 502u);
    EXPECT_EQ(read("-4@counter+40(%rip)"), 502u);
    EXPECT_EQ(read("-4@counter"), 501u);
    EXPECT_EQ(read("-4@44+counter-4(%rip)"), 502u);
    machine.store(kLoadBias + 0x4100, 503, 8);
    EXPECT_EQ(read("8@local.1234(%rip)"), 503u);
    EXPECT_EQ(read("8@$counter"), kLoadBias + 0x4010);
}

TEST_F(UsdtOperand, ReadsAddressesFromTheGlobalOffsetTable) {
    machine.store(kLoadBias + 0x3ff8, 0x7f0011223344, 8);
    EXPECT_EQ(read("8@elsewhere@GOTPCREL(%rip)"), 0x7f0011223344u);
    machine.store(0x3ff8, 0x404010, 8);
    EXPECT_EQ(read("8@elsewhere@GOTPCREL(%rip)", true), 0x404010u);
    // A symbol of the file that has no slot.
    EXPECT_EQ(read("8@counter@GOTPCREL(%rip)"), kLoadBias + 0x4010);
    EXPECT_EQ(read("8@counter@GOTPCREL(%rip)", true), 0x4010u);
}

TEST_F(UsdtOperand, TakesSymbolsAsTheyAreInFixedFiles) {
    machine.store(0x4010, 601, 4);
    machine.store(0x4010 + 32, 602, 2);
    machine.store(0x4010 + 64 + 3 * 4, 603, 4);
    machine.store(0x4010 + 6, 204, 1);
    EXPECT_EQ(read("-4@counter", true), 601u);
    EXPECT_EQ(read("-4@counter(%rip)", true), 601u);
    EXPECT_EQ(read("2@counter+32", true), 602u);
    EXPECT_EQ(read("4@counter+64(,%rdi,4)", true), 603u);
    EXPECT_EQ(read("1@counter(%rdi,%rdi)", true), 204u);
    EXPECT_EQ(read("8@$counter+8", true), 0x4018u);
}

TEST_F(UsdtOperand, ReadsImmediates) {
    EXPECT_EQ(read("-4@$5"), 5u);
    EXPECT_EQ(read("-4@$-1"), ~0ull);
    EXPECT_EQ(read("4@$-1"), 0xffffffffu);
    EXPECT_EQ(read("1@$-56"), 200u);
    EXPECT_EQ(read("4@$-294967296"), 4000000000u);
    EXPECT_EQ(read("-8@$81985529216486895"), 81985529216486895u);
    EXPECT_EQ(read("8@$0xffffffffffffffff"), ~0ull);
    EXPECT_EQ(read("-8@$-9223372036854775808"), 0x8000000000000000u);
    EXPECT_EQ(read("$-3"), static_cast<uint64_t>(-3));
}

TEST_F(UsdtOperand, ReadsThreadLocalMemory) {
    machine.store(0x50000 - 24, 701, 8);
    EXPECT_EQ(read("8@%fs:per_thread@tpoff"), 701u);
    EXPECT_EQ(read("8@%fs:-24"), 701u);
    machine.store(0x50000 + 3 + 8, 702, 8);
    EXPECT_EQ(read("8@%fs:8(%rdi)"), 702u);
}

TEST_F(UsdtOperand, ReadsThreadLocalMemoryBehindALoadedBase) {
    machine.store(0x10000 - 24, 703, 8);
    EXPECT_EQ(read("8@per_thread@tpoff(%rbx)"), 703u);
    machine.store(0x10000 - 24 + 3 * 8 + 8, 704, 8);
    EXPECT_EQ(read("8@8+per_thread@tpoff(%rbx,%rdi,8)"), 704u);
    machine.store(0x50000 - 24 + 4, 705, 4);
    EXPECT_EQ(read("4@%fs:per_thread@tpoff+4"), 705u);
    machine.store(0x50000 - 24 + 3 * 4, 706, 4);
    EXPECT_EQ(read("4@%fs:per_thread@tpoff(,%rdi,4)"), 706u);
    EXPECT_EQ(read("-8@$per_thread@tpoff"), static_cast<uint64_t>(-24));
}

// The kernel saves no vector registers for a probe: att_operand.cpp says how that was found out.
TEST_F(UsdtOperand, SaysThatVectorRegistersCannotBeRead) {
    for (auto text : {"4f@%xmm0", "8f@%xmm15", "8@%mm1", "8f@%st(0)", "4f@%ymm31", "8@%k1"}) {
        EXPECT_NE(refuse(text).find("vector register"), std::string::npos) << text;
    }
    EXPECT_TRUE(compile_usdt_operand("8f@%xmm0", {}).is_float);
}

TEST_F(UsdtOperand, RefusesSizesThatAreNoValues) {
    EXPECT_NE(refuse("16@(%rax)").find("a value of 16 bytes"), std::string::npos);
    EXPECT_NE(refuse("16f@(%rax)").find("floating-point number of 16 bytes"), std::string::npos);
    EXPECT_NE(refuse("2f@%ax").find("floating-point number of 2 bytes"), std::string::npos);
    EXPECT_NE(refuse("-3@%eax").find("a value of 3 bytes"), std::string::npos);
    EXPECT_NE(refuse("0@%eax").find("a value of 0 bytes"), std::string::npos);
    EXPECT_NE(refuse("8f@%eax").find("float in a register of 4"), std::string::npos);
    EXPECT_NE(refuse("4f@%ax").find("float in a register of 2"), std::string::npos);
    EXPECT_EQ(compile_usdt_operand("4f@%rax", {}).bytes, 4);
}

TEST_F(UsdtOperand, MarksFloats) {
    auto half = compile_usdt_operand("4f@%edx", {});
    EXPECT_TRUE(half.is_readable() && half.is_float);
    EXPECT_EQ(half.bytes, 4);
    auto full = compile_usdt_operand("8f@-16(%rbp)", {});
    EXPECT_TRUE(full.is_readable() && full.is_float);
    EXPECT_FALSE(compile_usdt_operand("-8f@%rax", {}).is_signed);
}

TEST_F(UsdtOperand, TakesSizeFromTheRegisterWhenNoneIsGiven) {
    EXPECT_EQ(compile_usdt_operand("%eax", {}).bytes, 4);
    EXPECT_EQ(compile_usdt_operand("%al", {}).bytes, 1);
    EXPECT_EQ(compile_usdt_operand("8(%rbp)", {}).bytes, 8);
}

TEST_F(UsdtOperand, RefusesWhatCannotBeReadAndSaysWhy) {
    EXPECT_NE(refuse("4@.LC1(%rip)").find("not in the file"), std::string::npos);
    EXPECT_NE(refuse("8@counter(,%rdi,4)").find("position-independent"), std::string::npos);
    EXPECT_NE(refuse("8@16(%rip)").find("without a symbol"), std::string::npos);
    EXPECT_NE(refuse("8@counter@GOTTPOFF(%rip)").find("relocation"), std::string::npos);
    EXPECT_NE(refuse("8@nowhere@GOTPCREL(%rip)").find("neither"), std::string::npos);
    EXPECT_NE(refuse("8@%fs:unknown@tpoff").find("unknown"), std::string::npos);
    EXPECT_NE(refuse("8@%gs:0").find("not the segment"), std::string::npos);
    EXPECT_NE(refuse("8@counter@ntpoff(%rax)").find("relocation"), std::string::npos);
    EXPECT_NE(refuse("8@per_thread@tpoff").find("without %fs"), std::string::npos);
    EXPECT_NE(refuse("8@per_thread@tpoff(%rip)").find("without %fs"), std::string::npos);
    EXPECT_NE(refuse("8@(%rax,%rdi,3)").find("scale"), std::string::npos);
    for (auto text : {"",
                      "@",
                      "8@",
                      "8@$",
                      "8@(",
                      "8@()",
                      "8@(%rax",
                      "8@(%al)",
                      "8@4(%rax)x",
                      "8@(%rax,%rbx,8,1)",
                      "8@1+(%rax)",
                      "8@-(%rax",
                      "-@%rax",
                      "8@(,,)",
                      "8@counter@GOTPCREL",
                      "8@counter@GOTPCREL(%rax)",
                      "8@counter@GOTPCREL+8(%rip)",
                      "8@$counter@GOTPCREL",
                      "8@%fs:counter@GOTPCREL(%rip)",
                      "8@%fs:%rax",
                      "8@[rax]",
                      "8@(%rax]",
                      "99999@%rax",
                      "8@(%rax,%rip)",
                      "8@a+b",
                      "8@$99999999999999999999",
                      "8@%gs:0",
                      "8@1f",
                      "8@8@%rax",
                      "8@-counter",
                      "8@counter(%rip,%rax)",
                      "8@(%rax,%rsp)"}) {
        refuse(text);
    }
}

TEST_F(UsdtOperand, OneUnreadableOperandLeavesTheOthersAlone) {
    size_t total = 0;
    auto operands = compile_usdt_operands("4@%edi  8@nowhere(%rip)\t-8@$1", {}, &total);
    ASSERT_EQ(operands.size(), 3u);
    EXPECT_EQ(total, 3u);
    EXPECT_TRUE(operands[0].is_readable());
    EXPECT_FALSE(operands[1].is_readable());
    EXPECT_EQ(operands[1].bytes, 8);
    EXPECT_TRUE(operands[2].is_readable());
}

TEST_F(UsdtOperand, CompilesTwelveAndCountsTheRest) {
    std::string text;
    for (int i = 0; i < 15; ++i) text += " 4@%edi";
    size_t total = 0;
    EXPECT_EQ(compile_usdt_operands(text, {}, &total).size(), size_t{TR_ARGS_MAX});
    EXPECT_EQ(total, 15u);
    EXPECT_TRUE(compile_usdt_operands("  ", {}, &total).empty());
    EXPECT_EQ(total, 0u);
}

// Every operand that a shipped binary of Debian 12 was seen with.
TEST_F(UsdtOperand, CompilesEveryShippedOperand) {
    std::ifstream file(TRACER_TEST_DATA "/shipped_operands.txt");
    ASSERT_TRUE(file);
    OperandContext context;
    context.address_of = [](std::string_view) { return std::optional<uint64_t>(0x1000); };
    std::string line;
    size_t count = 0;
    while (std::getline(file, line)) {
        ++count;
        auto operand = compile_usdt_operand(line, context);
        EXPECT_TRUE(operand.is_readable()) << line << ": " << operand.reason;
        const bool is_signed = line[0] == '-';
        EXPECT_EQ(operand.is_signed, is_signed) << line;
        EXPECT_EQ(operand.bytes, line[is_signed ? 1 : 0] - '0') << line;
    }
    EXPECT_GT(count, 200u);
}

}  // namespace
}  // namespace tracer
