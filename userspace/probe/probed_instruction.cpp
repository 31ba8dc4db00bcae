// SPDX-License-Identifier: Apache-2.0
//
// The rules follow arch/x86/kernel/uprobes.c (Linux 6.18); each was tried by comparing registers
// and memory with and without a probe. The common cause: the kernel looks up the opcode byte of a
// VEX or EVEX coded instruction as if it were that of a one-byte instruction. 62 e2 7d 28 7a ce
// (vpbroadcastb %esi,%ymm17, the first of glibc's strchr for AVX-512) is taken for 7a, jp, and
// played as a jump to the next instruction: it never runs. Called by the probe compiler for every
// place and by the kernel recorder.
#include "probe/probed_instruction.h"

#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tracer {

namespace {

constexpr uint8_t kVex2 = 0xc5;
constexpr uint8_t kVex3 = 0xc4;
constexpr uint8_t kEvex = 0x62;
constexpr uint8_t kXop = 0x8f;
constexpr uint8_t kTwoByteEscape = 0x0f;

// An instruction as far as the rules look into it.
struct Parts {
    uint8_t rex = 0;   // 0: none
    uint8_t lead = 0;  // the opcode, or what a vector instruction opens with
    bool is_vector = false;
    uint8_t map = 0;     // of a vector instruction: which table its opcode is in
    uint8_t opcode = 0;  // of a vector instruction or behind 0f
    bool has_refused_prefix = false;
    ByteCursor rest{{}};  // behind the opcode
};

template <size_t N>
bool is_among(uint8_t byte, const std::array<uint8_t, N>& bytes) {
    return std::find(bytes.begin(), bytes.end(), byte) != bytes.end();
}

bool read_vector_prefix(ByteCursor& cursor, Parts& parts) {
    uint8_t first = 0;
    if (!cursor.read(first)) return false;
    // AMD's XOP shares its first byte with pop, which has the low bits that say the map below 8.
    if (parts.lead == kXop && (first & 0x1f) < 8) return true;
    parts.is_vector = true;
    parts.map = static_cast<uint8_t>(first & (parts.lead == kEvex ? 0x07 : 0x1f));
    if (parts.lead == kVex2) parts.map = 1;
    const size_t more = parts.lead == kVex2 ? 0 : parts.lead == kEvex ? 2 : 1;
    return cursor.skip(more) && cursor.read(parts.opcode);
}

std::optional<Parts> take_apart(std::span<const std::byte> code) {
    // fs, gs, operand size, address size, repne, rep; then those that the kernel refuses (segments
    // that mean nothing in 64-bit code, and lock).
    constexpr std::array<uint8_t, 6> kPrefixes = {0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3};
    constexpr std::array<uint8_t, 5> kRefusedPrefixes = {0x26, 0x2e, 0x36, 0x3e, 0xf0};
    Parts parts;
    ByteCursor cursor(code.first(std::min(code.size(), kInstructionBytesMax)));
    do {
        if (!cursor.read(parts.lead)) return std::nullopt;
        parts.has_refused_prefix |= is_among(parts.lead, kRefusedPrefixes);
    } while (is_among(parts.lead, kPrefixes) || is_among(parts.lead, kRefusedPrefixes));
    if ((parts.lead & 0xf0) == 0x40) {
        parts.rex = parts.lead;
        if (!cursor.read(parts.lead)) return std::nullopt;
    }
    constexpr std::array<uint8_t, 4> kVectorLeads = {kVex2, kVex3, kEvex, kXop};
    if (is_among(parts.lead, kVectorLeads) && !read_vector_prefix(cursor, parts)) {
        return std::nullopt;
    }
    if (parts.lead == kTwoByteEscape && !cursor.read(parts.opcode)) return std::nullopt;
    parts.rest = cursor;
    return parts;
}

// One-byte opcodes that the kernel plays by itself (short jumps, nop, call, jmp) or treats apart
// behind the step (popf, ret, lret).
bool is_special_as_one_byte(uint8_t opcode) {
    constexpr std::array<uint8_t, 9> kSpecial = {0x90, 0x9d, 0xc2, 0xc3, 0xca,
                                                 0xcb, 0xe8, 0xe9, 0xeb};
    return (opcode & 0xf0) == 0x70 || is_among(opcode, kSpecial);
}

// One-byte opcodes without a place in good_insns_64.
bool is_bad_as_one_byte(uint8_t opcode) {
    constexpr std::array<uint8_t, 40> kBad = {
        0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62,
        0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5, 0xd6, 0xe4,
        0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb};
    return is_among(opcode, kBad);
}

// Bytes of a vector instruction behind its opcode (Intel SDM volume 2, chapter 2.1 to 2.3, and the
// opcode maps of appendix A).
std::optional<size_t> vector_operand_bytes(const Parts& parts) {
    const bool is_vzero = parts.map == 1 && parts.opcode == 0x77;
    if (is_vzero) return 0;
    constexpr std::array<uint8_t, 8> kImmediates = {0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6};
    if (parts.lead == kXop || parts.map < 1 || parts.map > 3) return std::nullopt;
    const bool has_immediate =
        parts.map == 3 || (parts.map == 1 && is_among(parts.opcode, kImmediates));
    auto rest = parts.rest;
    uint8_t mod_rm = 0;
    if (!rest.read(mod_rm)) return std::nullopt;
    size_t bytes = has_immediate ? 2 : 1;
    const int mode = mod_rm >> 6;
    const int base = mod_rm & 7;
    if (mode == 3) return bytes;
    uint8_t scale_index_base = 0;
    const bool has_index = base == 4;
    if (has_index && !rest.read(scale_index_base)) return std::nullopt;
    const bool is_absolute = mode == 0 && (has_index ? scale_index_base & 7 : base) == 5;
    if (has_index) ++bytes;
    if (mode == 1) ++bytes;
    if (mode == 2 || is_absolute) bytes += 4;
    return bytes;
}

}  // namespace

std::string_view harm_of_probe(std::span<const std::byte> code) {
    const auto parts = take_apart(code);
    if (!parts) return {};
    if (parts->is_vector && parts->lead == kXop)
        return "of AMD's XOP, which the kernel cannot read";
    if (parts->is_vector) {
        const bool is_mistaken = is_special_as_one_byte(parts->opcode);
        return is_mistaken ? "a vector one that the kernel takes for another" : "";
    }
    // The flags saved are those of the single step: the program is stepped on and trapped.
    if (parts->lead == 0x9c) return "a pushf, which would save the kernel's single-step flag";
    // With REX.B it exchanges rax and r8.
    const bool is_exchange = parts->lead == 0x90 && (parts->rex & 1) != 0;
    if (is_exchange) return "an xchg with r8 that the kernel takes for a nop";
    // Seen on a hypervisor that plays cpuid itself: the step ends one instruction late, and where
    // that one is a ret or a jump the program goes astray.
    const bool is_cpuid = parts->lead == kTwoByteEscape && parts->opcode == 0xa2;
    if (is_cpuid) return "a cpuid, which hypervisors run without the trap of a single step";
    return {};
}

bool is_refused_by_kernel(std::span<const std::byte> code) {
    const auto parts = take_apart(code);
    if (!parts) return false;
    return parts->has_refused_prefix ||
           (parts->is_vector && parts->lead != kXop && is_bad_as_one_byte(parts->opcode));
}

std::optional<size_t> bytes_to_harmless(std::span<const std::byte> code) {
    const auto parts = take_apart(code);
    if (!parts) return std::nullopt;
    const auto behind = parts->is_vector ? vector_operand_bytes(*parts) : 0;
    if (!behind) return std::nullopt;
    const size_t bytes = parts->rest.position() + *behind;
    if (bytes >= code.size()) return std::nullopt;
    const auto next = code.subspan(bytes);
    const bool is_harmless =
        take_apart(next) && harm_of_probe(next).empty() && !is_refused_by_kernel(next);
    return is_harmless ? std::optional(bytes) : std::nullopt;
}

}  // namespace tracer
