// SPDX-License-Identifier: Apache-2.0
//
// The rules on bytes as an assembler writes them. Each harmful one was seen to go wrong on Linux
// 6.18, and each harmless one to run as without a probe.
#include "probe/probed_instruction.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

struct Case {
    std::string text;
    std::vector<uint8_t> bytes;
};

// With a mov %edi,%eax behind it, and nops.
std::vector<std::byte> code_of(const Case& item) {
    std::vector<std::byte> code;
    for (const uint8_t byte : item.bytes) code.push_back(std::byte{byte});
    code.insert(code.end(), {std::byte{0x89}, std::byte{0xf8}});
    code.resize(30, std::byte{0x90});
    return code;
}

const std::vector<Case> kTakenForAnother = {
    {"vpbroadcastb %esi,%ymm17", {0x62, 0xe2, 0x7d, 0x28, 0x7a, 0xce}},
    {"vpbroadcastb %xmm1,%ymm2", {0xc4, 0xe2, 0x7d, 0x78, 0xd1}},
    {"vpshufd $4,%xmm1,%xmm2", {0xc5, 0xf9, 0x70, 0xd1, 0x04}},
    {"vpsrlw $4,%xmm1,%xmm2", {0xc5, 0xe9, 0x71, 0xd1, 0x04}},
    {"vpcmpeqb 8(%rdi),%xmm3,%xmm2", {0xc5, 0xe1, 0x74, 0x57, 0x08}},
    {"vzeroupper", {0xc5, 0xf8, 0x77}},
    {"vmovd %xmm1,0x80(%rdi)", {0xc5, 0xf9, 0x7e, 0x8f, 0x80, 0, 0, 0}},
    {"vmovdqu %ymm1,(%rsp)", {0xc5, 0xfe, 0x7f, 0x0c, 0x24}},
    {"vmovdqa %xmm1,0x10(%rip)", {0xc5, 0xf9, 0x7f, 0x0d, 0x10, 0, 0, 0}},
    {"vmovdqu %ymm1,0x10", {0xc5, 0xfe, 0x7f, 0x0c, 0x25, 0x10, 0, 0, 0}},
    {"vmovdqu64 %zmm1,0x80(%rdi,%rax,2)", {0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x4c, 0x47, 0x02}},
    {"vpor %xmm1,%xmm3,%xmm2", {0xc5, 0xe1, 0xeb, 0xd1}},
    {"vpsubsb %xmm1,%xmm3,%xmm2", {0xc5, 0xe1, 0xe8, 0xd1}},
    {"vpsubsw %xmm1,%xmm3,%xmm2", {0xc5, 0xe1, 0xe9, 0xd1}},
    {"vcmpltps %xmm1,%xmm3,%xmm2", {0xc5, 0xe0, 0xc2, 0xd1, 0x01}},
    {"vfnmadd132ss %xmm1,%xmm3,%xmm2", {0xc4, 0xe2, 0x61, 0x9d, 0xd1}},
    {"vpgatherdd %xmm1,(%rax,%xmm9),%xmm2", {0xc4, 0xa2, 0x71, 0x90, 0x14, 0x08}},
    {"vmovd %xmm1,%fs:(%rdi)", {0x64, 0xc5, 0xf9, 0x7e, 0x0f}}};

TEST(ProbedInstruction, VectorOnesWithTheOpcodeOfAJumpOrReturnAreHarmful) {
    for (const auto& item : kTakenForAnother) {
        const auto code = code_of(item);
        EXPECT_NE(harm_of_probe(code), "") << item.text;
        EXPECT_FALSE(is_refused_by_kernel(code)) << item.text;
        EXPECT_EQ(bytes_to_harmless(code), item.bytes.size()) << item.text;
    }
}

TEST(ProbedInstruction, OthersThatRunWrongAreHarmful) {
    const std::vector<Case> cases = {{"pushf", {0x9c}},
                                     {"pushfw", {0x66, 0x9c}},
                                     {"xchg %r8,%rax", {0x49, 0x90}},
                                     {"xchg %r8d,%eax", {0x41, 0x90}},
                                     {"cpuid", {0x0f, 0xa2}}};
    for (const auto& item : cases) {
        EXPECT_NE(harm_of_probe(code_of(item)), "") << item.text;
        EXPECT_EQ(bytes_to_harmless(code_of(item)), item.bytes.size()) << item.text;
    }
    const Case xop{"vprotd $1,%xmm1,%xmm2", {0x8f, 0xe8, 0x78, 0xc2, 0xd1, 0x01}};
    EXPECT_NE(harm_of_probe(code_of(xop)), "");
    EXPECT_EQ(bytes_to_harmless(code_of(xop)), std::nullopt);
}

TEST(ProbedInstruction, WhatTheKernelStepsOrPlaysRightIsHarmless) {
    const std::vector<Case> cases = {
        {"push %rbp", {0x55}},
        {"push %r12", {0x41, 0x54}},
        {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}},
        {"nop", {0x90}},
        {"pause", {0xf3, 0x90}},
        {"xchg %ax,%ax", {0x66, 0x90}},
        {"rex.W nop", {0x48, 0x90}},
        {"jo", {0x70, 0x04}},
        {"jp, far", {0x0f, 0x8a, 0, 0, 0, 0}},
        {"jmp", {0xe9, 0, 0, 0, 0}},
        {"call", {0xe8, 0, 0, 0, 0}},
        {"ret", {0xc3}},
        {"popf", {0x9d}},
        {"pop (%rax)", {0x8f, 0x00}},
        {"pop 8(%rdi)", {0x8f, 0x47, 0x08}},
        {"mov %fs:0,%rax", {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}},
        {"pshufd $4,%xmm1,%xmm2", {0x66, 0x0f, 0x70, 0xd1, 0x04}},
        {"vxorps %xmm1,%xmm3,%xmm2", {0xc5, 0xe0, 0x57, 0xd1}},
        {"vmovups 64(%rdi),%ymm4", {0xc5, 0xfc, 0x10, 0x67, 0x40}},
        {"vpternlogd $255,%zmm1,%zmm1,%zmm17", {0x62, 0xe3, 0x75, 0x48, 0x25, 0xc9, 0xff}},
        {"andn %rsi,%rdx,%rax", {0xc4, 0xe2, 0xe8, 0xf2, 0xc6}},
        {"vxorps %fs:(%rdi),%xmm0,%xmm1", {0x64, 0xc5, 0xf8, 0x57, 0x0f}}};
    for (const auto& item : cases) {
        EXPECT_EQ(harm_of_probe(code_of(item)), "") << item.text;
        EXPECT_FALSE(is_refused_by_kernel(code_of(item))) << item.text;
    }
}

TEST(ProbedInstruction, KnowsWhatTheKernelRefuses) {
    const std::vector<Case> cases = {
        {"lock incl (%rdi)", {0xf0, 0xff, 0x07}},
        {"notrack jmp *%r11", {0x3e, 0x41, 0xff, 0xe3}},
        {"vmovd %esi,%xmm0", {0xc5, 0xf9, 0x6e, 0xc6}},
        {"vpxor %xmm15,%xmm15,%xmm15", {0xc4, 0x41, 0x01, 0xef, 0xff}},
        {"vmovdqu8 0(%rip),%zmm2", {0x62, 0xf1, 0x7f, 0x48, 0x6f, 0x15, 0, 0, 0, 0}},
        {"vfmsub132ps %xmm1,%xmm3,%xmm2", {0xc4, 0xe2, 0x61, 0x9a, 0xd1}}};
    for (const auto& item : cases) {
        EXPECT_TRUE(is_refused_by_kernel(code_of(item))) << item.text;
        EXPECT_EQ(harm_of_probe(code_of(item)), "") << item.text;
    }
}

TEST(ProbedInstruction, OffersOnlyAnInstructionThatCanHaveAProbe) {
    // pushf, then popf; pushf, then another; pushf, then one that the kernel refuses.
    EXPECT_EQ(bytes_to_harmless(code_of({"", {0x9c, 0x9d}})), 1u);
    EXPECT_EQ(bytes_to_harmless(code_of({"", {0x9c, 0x9c}})), std::nullopt);
    EXPECT_EQ(bytes_to_harmless(code_of({"", {0x9c, 0xf0, 0xff, 0x07}})), std::nullopt);
}

TEST(ProbedInstruction, CutCodeIsReadToItsEndOnly) {
    for (const auto& item : kTakenForAnother) {
        const auto code = code_of(item);
        for (size_t bytes = 0; bytes <= item.bytes.size(); ++bytes) {
            const auto cut = std::span(code).first(bytes);
            EXPECT_EQ(bytes_to_harmless(cut), std::nullopt) << item.text << " " << bytes;
            EXPECT_FALSE(is_refused_by_kernel(cut)) << item.text << " " << bytes;
        }
        EXPECT_EQ(harm_of_probe(std::span(code).first(2)), "") << item.text;
    }
    const std::vector<std::byte> prefixes(64, std::byte{0x66});
    EXPECT_EQ(harm_of_probe(prefixes), "");
}

}  // namespace
}  // namespace tracer
