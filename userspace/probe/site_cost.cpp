// SPDX-License-Identifier: Apache-2.0
//
// The rules of branch_setup_xol_ops() and push_setup_xol_ops() in arch/x86/kernel/uprobes.c (Linux
// 6.18), and Zydis for what an instruction writes. Called by the probe compilers.
#include "probe/site_cost.h"

#include "probe/probed_instruction.h"

#include <Zydis/Zydis.h>
#include <algorithm>
#include <array>

namespace tracer {

namespace {

uint8_t byte_at(std::span<const std::byte> code, size_t index) {
    return index < code.size() ? std::to_integer<uint8_t>(code[index]) : uint8_t{0};
}

// System V ABI for x86-64, 3.2.3; rax holds the number of vector arguments and Go's first word.
bool is_argument_register(ZydisRegister reg) {
    constexpr std::array kArguments = {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX,
                                       ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9};
    return std::find(kArguments.begin(), kArguments.end(), reg) != kArguments.end();
}

// Whether a jump leads back to the offset or before it, so that one call may pass it twice. Where
// the code cannot be read to its end, one may.
bool is_passed_again(const ZydisDecoder& decoder, std::span<const std::byte> code, size_t offset) {
    size_t at = 0;
    // Each turn takes at least one byte.
    while (at < code.size()) {
        ZydisDecodedInstruction instruction{};
        std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
        const auto rest = code.subspan(at);
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, rest.data(), rest.size(), &instruction,
                                                 operands.data()))) {
            return true;
        }
        const auto category = instruction.meta.category;
        const bool is_jump =
            category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR;
        ZyanU64 to = 0;
        // One before the function is a large number.
        if (is_jump && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, operands.data(), at, &to)) &&
            to <= offset) {
            return true;
        }
        at += instruction.length;
    }
    return false;
}

bool is_written(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

}  // namespace

bool is_nop5(std::span<const std::byte> code) {
    constexpr std::array kNop5 = {std::byte{0x0f}, std::byte{0x1f}, std::byte{0x44}, std::byte{0},
                                  std::byte{0}};
    return code.size() >= kNop5.size() && std::equal(kNop5.begin(), kNop5.end(), code.begin());
}

std::string_view instruction_class_name(InstructionClass kind) {
    switch (kind) {
        case InstructionClass::nop1:
            return "nop1";
        case InstructionClass::nop5:
            return "nop5";
        case InstructionClass::push:
            return "push";
        case InstructionClass::branch:
            return "branch";
        case InstructionClass::stepped:
            return "single-stepped";
        case InstructionClass::unreadable:
            return "unreadable";
    }
    return "";
}

InstructionClass classify_instruction(std::span<const std::byte> code) {
    if (code.empty()) return InstructionClass::unreadable;
    const uint8_t first = byte_at(code, 0);
    const uint8_t second = byte_at(code, 1);
    if (first == 0x90) return InstructionClass::nop1;
    if (is_nop5(code)) return InstructionClass::nop5;
    const bool is_push = (first & 0xf8) == 0x50 || (first == 0x41 && (second & 0xf8) == 0x50);
    if (is_push) return InstructionClass::push;
    const bool is_short_jump = (first & 0xf0) == 0x70 || first == 0xeb;
    const bool is_long_jump = first == 0xe9 || (first == 0x0f && (second & 0xf0) == 0x80);
    if (first == 0xe8 || is_short_jump || is_long_jump) return InstructionClass::branch;
    return InstructionClass::stepped;
}

std::optional<CheaperSite> find_cheaper_site(std::span<const std::byte> code) {
    // Beyond a prologue it is no longer the function's entry in any useful sense.
    constexpr size_t kOffsetMax = 48;
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    CheaperSite site{0, true, true};
    while (site.offset < std::min(code.size(), kOffsetMax)) {
        const auto rest = code.subspan(site.offset);
        const bool is_cheap = is_played(classify_instruction(rest)) && harm_of_probe(rest).empty();
        if (is_cheap && site.offset != 0) {
            if (is_passed_again(decoder, code, site.offset)) return std::nullopt;
            return site;
        }
        ZydisDecodedInstruction instruction{};
        std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, rest.data(), rest.size(), &instruction,
                                                 operands.data()))) {
            return std::nullopt;
        }
        const auto category = instruction.meta.category;
        if (category == ZYDIS_CATEGORY_RET || category == ZYDIS_CATEGORY_CALL ||
            category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR) {
            return std::nullopt;
        }
        for (size_t i = 0; i < instruction.operand_count; ++i) {
            if (!is_written(operands[i])) continue;
            const auto reg =
                ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operands[i].reg.value);
            if (is_argument_register(reg)) site.has_arguments = false;
            if (reg == ZYDIS_REGISTER_RSP) site.has_stack_pointer = false;
        }
        site.offset += instruction.length;
    }
    return std::nullopt;
}

}  // namespace tracer
