// SPDX-License-Identifier: Apache-2.0
//
// Functions as bytes of an assembler: what is read, and what is not believed.
#include "probe/function_code.h"

#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

std::vector<std::byte> bytes_of(const std::vector<uint8_t>& code) {
    std::vector<std::byte> bytes;
    bytes.reserve(code.size());
    for (const uint8_t byte : code) bytes.push_back(std::byte{byte});
    return bytes;
}

FunctionCode read(const std::vector<uint8_t>& code, bool has_tables_elsewhere = false) {
    const auto bytes = bytes_of(code);
    const std::vector<CodePart> parts{{0x1000, bytes}};
    return read_function_code(parts, has_tables_elsewhere);
}

TEST(FunctionCode, FindsEveryRet) {
    // test; je +1; ret; mov $1,%eax; repz ret; ret $8
    const auto code =
        read({0x85, 0xc0, 0x74, 0x01, 0xc3, 0xb8, 1, 0, 0, 0, 0xf3, 0xc3, 0xc2, 8, 0});
    EXPECT_EQ(code.obstacle, "");
    EXPECT_FALSE(code.has_call);
    EXPECT_EQ(code.returns, (std::vector<uint64_t>{0x1004, 0x100a, 0x100c}));
}

TEST(FunctionCode, SeesCallsOfEveryForm) {
    EXPECT_TRUE(read({0xe8, 0, 0, 0, 0, 0xc3}).has_call);
    EXPECT_TRUE(read({0xff, 0xd0, 0xc3}).has_call);
    EXPECT_TRUE(read({0xff, 0x15, 0, 0, 0, 0, 0xc3}).has_call);
}

FunctionCode read_beside(const std::vector<uint8_t>& code, uint64_t entry) {
    const auto bytes = bytes_of(code);
    const std::vector<CodePart> parts{{0x1000, bytes}};
    return read_function_code(parts, false, [&](uint64_t vaddr) { return vaddr == entry; });
}

TEST(FunctionCode, IsLeftByAJumpToWhereAFunctionBegins) {
    // xor %eax,%eax; jmp +0x100
    const std::vector<uint8_t> code = {0x31, 0xc0, 0xe9, 0x00, 0x01, 0x00, 0x00};
    const auto left = read_beside(code, 0x1107);
    EXPECT_EQ(left.obstacle, "");
    ASSERT_EQ(left.tail_jumps.size(), 1u);
    EXPECT_EQ(left.tail_jumps[0].from, 0x1002u);
    EXPECT_EQ(left.tail_jumps[0].to, 0x1107u);
    EXPECT_TRUE(left.returns.empty());
    EXPECT_EQ(read_beside(code, 0x1108).obstacle, "is left by a jump into another");
    EXPECT_EQ(read(code).obstacle, "is left by a jump into another");
    // je +0x100; ret: a breakpoint there says nothing.
    const std::vector<uint8_t> may_leave = {0x0f, 0x84, 0x00, 0x01, 0x00, 0x00, 0xc3};
    EXPECT_EQ(read_beside(may_leave, 0x1106).obstacle, "is left by a conditional jump to another");
}

TEST(FunctionCode, IsLeftByAPointerIfNothingElseNeedsTheJump) {
    // mov (%rdi),%rax; jmp *0x18(%rax), and what fills the line
    const auto forwards = read({0x48, 0x8b, 0x07, 0xff, 0x60, 0x18, 0x66, 0x90, 0xcc, 0x0f, 0x0b});
    EXPECT_EQ(forwards.obstacle, "");
    ASSERT_EQ(forwards.tail_jumps.size(), 1u);
    EXPECT_EQ(forwards.tail_jumps[0].from, 0x1003u);
    EXPECT_EQ(forwards.tail_jumps[0].to, std::nullopt);
    // test; je to the ret; jmp *%rax; ret
    EXPECT_EQ(read({0x85, 0xc0, 0x74, 0x02, 0xff, 0xe0, 0xc3}).tail_jumps.size(), 1u);
    // The same without the je: the jump may be what leads to the ret.
    EXPECT_NE(read({0x85, 0xc0, 0x90, 0x90, 0xff, 0xe0, 0xc3}).obstacle, "");
}

TEST(FunctionCode, BelievesJumpTablesOfGoOnly) {
    const std::vector<uint8_t> indexed = {0xff, 0x24, 0xc1, 0xc3};  // jmp *(%rcx,%rax,8)
    EXPECT_NE(read(indexed).obstacle, "");
    EXPECT_EQ(read(indexed, true).obstacle, "");
    EXPECT_NE(read({0xff, 0xe0, 0xc3}, true).obstacle, "");
    EXPECT_NE(read({0xff, 0x60, 0x10, 0xc3}, true).obstacle, "") << "jmp *0x10(%rax)";
}

TEST(FunctionCode, BelievesTablesOfOffsetsOfAnyCompiler) {
    const std::vector<uint8_t> load = {0x48, 0x63, 0x04, 0x82};        // movslq (%rdx,%rax,4),%rax
    const std::vector<uint8_t> add = {0x48, 0x01, 0xd0};               // add %rdx,%rax
    const std::vector<uint8_t> jump = {0x3e, 0xff, 0xe0, 0x90, 0xc3};  // notrack jmp *%rax
    const auto join = [](const std::vector<std::vector<uint8_t>>& parts) {
        std::vector<uint8_t> code;
        for (const auto& part : parts) code.insert(code.end(), part.begin(), part.end());
        return code;
    };
    EXPECT_EQ(read(join({load, add, jump})).obstacle, "");
    EXPECT_NE(read(join({load, jump})).obstacle, "");
    EXPECT_NE(read(join({add, jump})).obstacle, "");
    EXPECT_NE(read(join({load, add, {0x90}, jump})).obstacle, "");
    EXPECT_NE(read(join({load, add, {0xff, 0xe2, 0xc3}})).obstacle, "") << "jmp *%rdx";
}

TEST(FunctionCode, CutCodeIsAnObstacleOrHasNoRet) {
    const std::vector<uint8_t> whole = {0x48, 0x83, 0xec, 0x08, 0xe8, 0,    0,
                                        0,    0,    0x48, 0x83, 0xc4, 0x08, 0xc3};
    EXPECT_EQ(read(whole).obstacle, "");
    for (size_t count = 0; count < whole.size(); ++count) {
        const auto cut = read({whole.begin(), whole.begin() + static_cast<long>(count)});
        EXPECT_TRUE(!cut.obstacle.empty() || cut.returns.empty()) << count;
        const bool is_whole = count == 0 || count == 4 || count == 9 || count == 13;
        EXPECT_EQ(cut.obstacle.empty(), is_whole) << count;
    }
}

TEST(FunctionCode, NamesTheFirstObstacleByItsPlace) {
    const auto code = read({0x90, 0xff, 0xe0, 0xff, 0xe0});
    EXPECT_EQ(code.obstacle_place, "at +0x1");
}

TEST(FunctionCode, KnowsGoStackChecks) {
    // cmp 0x10(%r14),%rsp; jbe
    EXPECT_EQ(offset_behind_stack_check(bytes_of({0x49, 0x3b, 0x66, 0x10, 0x76, 0x10, 0x90})), 6u);
    // lea -0x1a0(%rsp),%r12; cmp 0x10(%r14),%r12; jbe far
    EXPECT_EQ(offset_behind_stack_check(
                  bytes_of({0x4c, 0x8d, 0xa4, 0x24, 0x60, 0xfe, 0xff, 0xff, 0x4d, 0x3b, 0x66, 0x10,
                            0x0f, 0x86, 0xad, 0x00, 0x00, 0x00, 0x90})),
              18u);
    // Without the jump; another field; another register; nothing behind.
    const std::vector<std::vector<uint8_t>> others = {{0x49, 0x3b, 0x66, 0x10, 0x77, 0x10, 0x90},
                                                      {0x49, 0x3b, 0x66, 0x18, 0x76, 0x10, 0x90},
                                                      {0x49, 0x3b, 0x65, 0x10, 0x76, 0x10, 0x90},
                                                      {0x49, 0x3b, 0x66, 0x10, 0x76, 0x10},
                                                      {0x49, 0x3b, 0x66},
                                                      {}};
    for (const auto& code : others) {
        EXPECT_EQ(offset_behind_stack_check(bytes_of(code)), std::nullopt);
    }
}

}  // namespace
}  // namespace tracer
