// SPDX-License-Identifier: Apache-2.0
//
// Costs by instruction, and the way to a cheaper one.
#include "probe/site_cost.h"

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

InstructionClass classify(const std::vector<uint8_t>& code) {
    return classify_instruction(bytes_of(code));
}

TEST(SiteCost, WhatTheKernelPlaysItselfIsCheap) {
    using Code = std::vector<uint8_t>;
    EXPECT_EQ(classify({0x90}), InstructionClass::nop1);
    for (const Code& code : {Code{0x55}, Code{0x41, 0x57}}) {
        EXPECT_EQ(classify(code), InstructionClass::push) << int{code[0]};
    }
    for (const Code& code : {Code{0xe8, 0, 0, 0, 0}, Code{0xe9, 0, 0, 0, 0}, Code{0xeb, 2},
                             Code{0x74, 2}, Code{0x0f, 0x84, 0, 0, 0, 0}}) {
        EXPECT_EQ(classify(code), InstructionClass::branch) << int{code[0]};
    }
    for (const auto kind :
         {InstructionClass::nop1, InstructionClass::push, InstructionClass::branch}) {
        EXPECT_TRUE(is_played(kind));
    }
    EXPECT_EQ(classify({0x0f, 0x1f, 0x44, 0x00, 0x00}), InstructionClass::nop5);
    for (const Code& code : {Code{0xf3, 0x0f, 0x1e, 0xfa}, Code{0x48, 0x83, 0xec, 8}, Code{0xc3},
                             Code{0x89, 0xf8}, Code{0x48, 0x55}, Code{0x41}}) {
        EXPECT_EQ(classify(code), InstructionClass::stepped) << int{code[0]};
    }
    EXPECT_EQ(classify({}), InstructionClass::unreadable);
    for (const auto kind :
         {InstructionClass::nop5, InstructionClass::stepped, InstructionClass::unreadable}) {
        EXPECT_FALSE(is_played(kind));
    }
}

TEST(SiteCost, FindsThePushBehindEndbr) {
    const auto site = find_cheaper_site(bytes_of({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}));
    ASSERT_TRUE(site);
    EXPECT_EQ(site->offset, 4u);
    EXPECT_TRUE(site->has_arguments);
    EXPECT_TRUE(site->has_stack_pointer);
}

TEST(SiteCost, SaysWhichArgumentsAreGone) {
    // mov %rdi,%rax; xor %esi,%esi; push
    auto site = find_cheaper_site(bytes_of({0x48, 0x89, 0xf8, 0x31, 0xf6, 0x53}));
    ASSERT_TRUE(site);
    EXPECT_EQ(site->offset, 5u);
    EXPECT_FALSE(site->has_arguments);
    EXPECT_TRUE(site->has_stack_pointer);
    // sub $8,%rsp; push
    site = find_cheaper_site(bytes_of({0x48, 0x83, 0xec, 0x08, 0x53}));
    ASSERT_TRUE(site);
    EXPECT_TRUE(site->has_arguments);
    EXPECT_FALSE(site->has_stack_pointer);
}

TEST(SiteCost, LooksNoFurtherThanEveryCallGoes) {
    // mov; ret; push: behind the return
    EXPECT_FALSE(find_cheaper_site(bytes_of({0x89, 0xf8, 0xc3, 0x55})));
    // No instruction, nothing at all, cut.
    EXPECT_FALSE(find_cheaper_site(bytes_of({0x06, 0x55})));
    EXPECT_FALSE(find_cheaper_site({}));
    EXPECT_FALSE(find_cheaper_site(bytes_of({0x48, 0x83, 0xec})));
    // mov; jump: the jump itself is reached by each, and played.
    const auto site = find_cheaper_site(bytes_of({0x89, 0xf8, 0x74, 0x02, 0x90}));
    ASSERT_TRUE(site);
    EXPECT_EQ(site->offset, 2u);
    // mov; push; jump back to the push, or to the start; the same with an end that is no code.
    EXPECT_FALSE(find_cheaper_site(bytes_of({0x89, 0xf8, 0x55, 0xeb, 0xfd})));
    EXPECT_FALSE(find_cheaper_site(bytes_of({0x89, 0xf8, 0x55, 0xeb, 0xfb})));
    EXPECT_TRUE(find_cheaper_site(bytes_of({0x89, 0xf8, 0x55, 0x90, 0xeb, 0xfd})));
    EXPECT_FALSE(find_cheaper_site(bytes_of({0x89, 0xf8, 0x55, 0x06})));
    std::vector<uint8_t> far(60, 0xf8);  // clc
    far.push_back(0x90);
    EXPECT_FALSE(find_cheaper_site(bytes_of(far)));
}

}  // namespace
}  // namespace tracer
