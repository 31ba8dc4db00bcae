// SPDX-License-Identifier: Apache-2.0
//
// Names of the x86-64 registers in every width (Intel SDM volume 1, 3.4.1). Called by the parser of
// AT&T operands.
#include "symbol/x86_registers.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tracer {

namespace {

struct Family {
    tr_reg reg;
    std::string_view name64;
    std::string_view name32;
    std::string_view name16;
    std::string_view name8;
    std::string_view name8_high;
};

constexpr std::array<Family, 9> kFamilies{{
    {TR_REG_RAX, "rax", "eax", "ax", "al", "ah"},
    {TR_REG_RBX, "rbx", "ebx", "bx", "bl", "bh"},
    {TR_REG_RCX, "rcx", "ecx", "cx", "cl", "ch"},
    {TR_REG_RDX, "rdx", "edx", "dx", "dl", "dh"},
    {TR_REG_RSI, "rsi", "esi", "si", "sil", ""},
    {TR_REG_RDI, "rdi", "edi", "di", "dil", ""},
    {TR_REG_RBP, "rbp", "ebp", "bp", "bpl", ""},
    {TR_REG_RSP, "rsp", "esp", "sp", "spl", ""},
    {TR_REG_RIP, "rip", "eip", "ip", "", ""},
}};

// r8 ... r15 with the suffixes d, w and b.
std::optional<RegisterName> find_numbered(std::string_view name) {
    if (name.size() < 2 || name[0] != 'r') return std::nullopt;
    int number = 0;
    const auto* end = name.data() + name.size();
    auto [rest, error] = std::from_chars(name.data() + 1, end, number);
    if (error != std::errc{} || number < 8 || number > 15 || name[1] == '0') return std::nullopt;
    const auto suffix = std::string_view(rest, static_cast<size_t>(end - rest));
    uint8_t bytes = 0;
    if (suffix.empty()) bytes = 8;
    if (suffix == "d") bytes = 4;
    if (suffix == "w") bytes = 2;
    if (suffix == "b") bytes = 1;
    if (bytes == 0) return std::nullopt;
    return RegisterName{static_cast<tr_reg>(TR_REG_R8 + number - 8), bytes, 0};
}

}  // namespace

std::optional<RegisterName> find_register(std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (const auto& family : kFamilies) {
        if (name == family.name64) return RegisterName{family.reg, 8, 0};
        if (name == family.name32) return RegisterName{family.reg, 4, 0};
        if (name == family.name16) return RegisterName{family.reg, 2, 0};
        if (name == family.name8) return RegisterName{family.reg, 1, 0};
        if (name == family.name8_high) return RegisterName{family.reg, 1, 8};
    }
    return find_numbered(name);
}

std::optional<RegisterName> find_i386_register(std::string_view name) {
    // Intel SDM volume 1, 3.4.1.1: without REX prefixes there are eight registers, and only the
    // first four have names for their bytes.
    auto found = find_register(name);
    if (!found || found->bytes == 8 || found->reg > TR_REG_RSP) return std::nullopt;
    const bool has_bytes = found->reg <= TR_REG_RBX;
    if (found->bytes == 1 && !has_bytes) return std::nullopt;
    return found;
}

}  // namespace tracer
