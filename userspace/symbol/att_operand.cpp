// SPDX-License-Identifier: Apache-2.0
//
// Parses places in AT&T syntax; untrusted input. Called by the compiler of this machine's operands
// and by what shows those of i386.
#include "symbol/att_operand.h"

#include "symbol/operand_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tracer {

namespace {

// A parser's outcome: an empty text is success, else why the operand cannot be read.
using Reason = std::string;

bool is_symbol_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c == '@' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view take_while_symbol(std::string_view& rest) {
    size_t length = 0;
    while (length < rest.size() && is_symbol_char(rest[length])) ++length;
    auto token = rest.substr(0, length);
    rest.remove_prefix(length);
    return token;
}

// Relocations of the offsets of thread-local variables (ELF TLS ABI, 4.4), of slots in the global
// offset table, and those of i386's position-independent code, which add that table's address.
bool take_relocation(std::string_view suffix, AttMachine machine, AttPlace& place) {
    const bool is_i386 = machine == AttMachine::i386;
    place.is_thread_offset = suffix == "tpoff" || suffix == "TPOFF" ||
                             (is_i386 && (suffix == "ntpoff" || suffix == "NTPOFF"));
    place.is_got_slot = suffix == (is_i386 ? "GOT" : "GOTPCREL");
    return place.is_thread_offset || place.is_got_slot ||
           (is_i386 && (suffix == "GOTOFF" || suffix == "INDNTPOFF" || suffix == "GOTNTPOFF"));
}

Reason parse_symbol(std::string_view token, bool is_negative, AttMachine machine, AttPlace& place) {
    if (!place.symbol.empty()) return "two symbols in one operand";
    auto at = token.find('@');
    if (at != std::string_view::npos) {
        const auto suffix = token.substr(at + 1);
        if (!take_relocation(suffix, machine, place)) {
            return fmt::format("relocation @{} is not supported", suffix);
        }
        token = token.substr(0, at);
    }
    if (token.empty()) return "empty symbol name";
    place.symbol = token;
    place.is_symbol_negative = is_negative;
    return {};
}

// [+-] term {[+-] term}; leaves `rest` at the first character that is no part of the sum.
Reason parse_sum(std::string_view& rest, AttMachine machine, AttPlace& place) {
    bool expects_term = true;
    bool is_negative = false;
    // Each turn takes at least one character or returns.
    while (!rest.empty()) {
        if (rest[0] == '+' || rest[0] == '-') {
            is_negative = (expects_term && is_negative) != (rest[0] == '-');
            expects_term = true;
            rest.remove_prefix(1);
            continue;
        }
        if (!is_symbol_char(rest[0]) || !expects_term) break;
        const auto token = take_while_symbol(rest);
        if (is_digit(token[0])) {
            uint64_t number = 0;
            if (!parse_operand_number(token, number)) {
                return fmt::format("'{}' is not a number", token);
            }
            place.number += is_negative ? 0 - number : number;
            place.has_number = true;
        } else if (auto reason = parse_symbol(token, is_negative, machine, place);
                   !reason.empty()) {
            return reason;
        }
        expects_term = false;
        is_negative = false;
    }
    if (expects_term && (place.has_number || !place.symbol.empty())) return "sum without an end";
    return {};
}

// x87, MMX, SSE, AVX and mask registers. What a probe sees are the general registers that the
// kernel saved; the others are live in the CPU while the task runs, and the copy in its memory is
// that of its last switch (tried on 6.18: such a read gives the values of an earlier hit).
bool is_vector_register(std::string_view name) {
    return name.starts_with("xmm") || name.starts_with("ymm") || name.starts_with("zmm") ||
           name.starts_with("mm") || name.starts_with("st") ||
           (name.size() == 2 && name[0] == 'k' && is_digit(name[1]));
}

Reason parse_register(std::string_view token,
                      AttMachine machine,
                      std::optional<RegisterName>& out) {
    if (!token.starts_with('%')) return fmt::format("'{}' is not a register", token);
    const auto name = token.substr(1);
    out = machine == AttMachine::i386 ? find_i386_register(name) : find_register(name);
    if (out) return {};
    if (is_vector_register(name)) {
        return fmt::format("{} is a vector register, which the kernel does not save for a probe",
                           token);
    }
    return fmt::format("unknown register {}", token);
}

// The text between the parentheses: [%base] ["," %index ["," scale]].
Reason parse_address(std::string_view inside, AttMachine machine, AttPlace& place) {
    place.has_parentheses = true;
    std::array<std::string_view, 3> parts;
    size_t count = 0;
    while (true) {
        if (count == parts.size()) return "too many registers in parentheses";
        const auto comma = inside.find(',');
        parts[count++] = inside.substr(0, comma);
        if (comma == std::string_view::npos) break;
        inside.remove_prefix(comma + 1);
    }
    for (const size_t i : {0u, 1u}) {
        if (parts[i].empty()) continue;
        auto reason = parse_register(parts[i], machine, i == 0 ? place.base : place.index);
        if (!reason.empty()) return reason;
    }
    if (count == parts.size()) {
        constexpr std::array<std::string_view, 4> kScales = {"1", "2", "4", "8"};
        const auto* found = std::find(kScales.begin(), kScales.end(), parts[2]);
        if (found == kScales.end()) {
            return fmt::format("scale '{}' is not 1, 2, 4 or 8", parts[2]);
        }
        place.scale_shift = static_cast<uint8_t>(found - kScales.begin());
    }
    if (!place.base && !place.index) return "no register in parentheses";
    for (const auto& used : {place.base, place.index}) {
        if (used && used->bytes < 4) return "an address register must be 32 or 64 bits wide";
    }
    if (place.index && (place.index->reg == TR_REG_RIP || place.index->reg == TR_REG_RSP)) {
        return "the stack and instruction pointers cannot be an index";
    }
    return {};
}

Reason parse_immediate(std::string_view text, AttMachine machine, AttPlace& place) {
    place.kind = AttPlaceKind::immediate;
    if (auto reason = parse_sum(text, machine, place); !reason.empty()) return reason;
    if (!text.empty() || (!place.has_number && place.symbol.empty())) {
        return "not an immediate value";
    }
    return {};
}

// Takes the segment of thread-local storage off the front of a place in memory.
Reason take_segment(std::string_view& rest, AttMachine machine, AttPlace& place) {
    const bool has_fs = rest.starts_with("%fs:");
    if (!has_fs && !rest.starts_with("%gs:")) return {};
    if (has_fs != (machine == AttMachine::x86_64)) {
        return fmt::format("{} is not the segment of thread-local storage", rest.substr(0, 4));
    }
    place.has_thread_segment = true;
    rest.remove_prefix(4);
    return {};
}

}  // namespace

std::string parse_att_place(std::string_view text, AttMachine machine, AttPlace& place) {
    auto rest = text;
    if (rest.starts_with('$')) return parse_immediate(rest.substr(1), machine, place);
    if (auto reason = take_segment(rest, machine, place); !reason.empty()) return reason;
    if (!place.has_thread_segment && rest.starts_with('%')) {
        place.kind = AttPlaceKind::reg;
        return parse_register(rest, machine, place.base);
    }
    if (auto reason = parse_sum(rest, machine, place); !reason.empty()) return reason;
    if (rest.starts_with('(')) {
        const auto end = rest.find(')');
        if (end == std::string_view::npos) return "no closing parenthesis";
        auto reason = parse_address(rest.substr(1, end - 1), machine, place);
        if (!reason.empty()) return reason;
        rest.remove_prefix(end + 1);
    }
    if (!rest.empty()) return fmt::format("unexpected '{}'", rest);
    if (!place.has_number && place.symbol.empty() && !place.has_parentheses) {
        return "nothing to read";
    }
    return {};
}

}  // namespace tracer
