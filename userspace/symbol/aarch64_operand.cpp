// SPDX-License-Identifier: Apache-2.0
//
// Parses places of aarch64's operands; untrusted input. Called by what shows the notes of other
// machines.
#include "symbol/aarch64_operand.h"

#include "symbol/operand_text.h"

#include <array>

#include <fmt/format.h>

namespace tracer {

namespace {

// A parser's outcome: an empty text is success, else why the operand cannot be read.
using Reason = std::string;

constexpr uint8_t kLinkRegister = 30;
constexpr uint64_t kShiftMax = 4;

std::string_view trim(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<Aarch64Register> find_aarch64_register(std::string_view name) {
    if (name == "sp") return Aarch64Register{kAarch64StackPointer, 8};
    if (name == "wsp") return Aarch64Register{kAarch64StackPointer, 4};
    if (name == "xzr") return Aarch64Register{kAarch64Zero, 8};
    if (name == "wzr") return Aarch64Register{kAarch64Zero, 4};
    // AAPCS64 6.1.1: other names of x29 and x30.
    if (name == "fp") return Aarch64Register{kLinkRegister - 1, 8};
    if (name == "lr") return Aarch64Register{kLinkRegister, 8};
    const bool is_numbered = name.size() >= 2 && name.size() <= 3 &&
                             (name[0] == 'x' || name[0] == 'w') &&
                             (name[1] != '0' || name.size() == 2);
    uint64_t number = 0;
    if (!is_numbered || !parse_operand_number(name.substr(1), number) || number > kLinkRegister) {
        return std::nullopt;
    }
    return Aarch64Register{static_cast<uint8_t>(number),
                           static_cast<uint8_t>(name[0] == 'x' ? 8 : 4)};
}

// v0 to v31 and their parts (Arm ARM B1.2.2): live in the CPU while a task runs, not in what the
// kernel saves for a probe.
bool is_vector_register(std::string_view name) {
    uint64_t number = 0;
    return name.size() >= 2 &&
           std::string_view("bhsdqvz").find(name[0]) != std::string_view::npos &&
           parse_operand_number(name.substr(1), number) && number < 32;
}

bool parse_signed(std::string_view token, int64_t& out) {
    if (token.starts_with('#')) token.remove_prefix(1);
    const bool is_negative = token.starts_with('-');
    if (is_negative) token.remove_prefix(1);
    uint64_t number = 0;
    if (!parse_operand_number(token, number)) return false;
    // Modulo 2^64, as the assembler takes it.
    out = static_cast<int64_t>(is_negative ? 0 - number : number);
    return true;
}

bool looks_like_number(std::string_view token) {
    return !token.empty() &&
           (token[0] == '#' || token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
}

Reason parse_extend(std::string_view text, Aarch64Place& place) {
    struct Extend {
        std::string_view name;
        Aarch64Extend extend;
    };
    constexpr std::array<Extend, 4> kExtends{{{"lsl", Aarch64Extend::lsl},
                                              {"uxtw", Aarch64Extend::uxtw},
                                              {"sxtw", Aarch64Extend::sxtw},
                                              {"sxtx", Aarch64Extend::sxtx}}};
    const auto word = text.substr(0, text.find_first_of(" \t"));
    const auto rest = trim(text.substr(word.size()));
    for (const auto& known : kExtends) {
        if (word != known.name) continue;
        place.extend = known.extend;
        const bool is_word =
            place.extend == Aarch64Extend::uxtw || place.extend == Aarch64Extend::sxtw;
        if (is_word != (place.index->bytes == 4)) {
            return fmt::format("'{}' of a register of {} bytes", word, place.index->bytes);
        }
        // The shift is that of the access's size; 0 may be left out except after lsl.
        if (rest.empty()) return word == "lsl" ? "lsl without a shift" : Reason{};
        int64_t shift = 0;
        if (!parse_signed(rest, shift) || shift < 0 || shift > static_cast<int64_t>(kShiftMax)) {
            return fmt::format("'{}' is not a shift from 0 to {}", rest, kShiftMax);
        }
        place.shift = static_cast<uint8_t>(shift);
        return {};
    }
    return fmt::format("'{}' is not an extension of a register", word);
}

Reason parse_symbol(std::string_view text, Aarch64Place& place) {
    const auto sign = text.find_first_of("+-");
    place.symbol = text.substr(0, sign);
    if (place.symbol.empty()) return "empty symbol name";
    if (sign == std::string_view::npos) return {};
    const auto number = text.substr(text[sign] == '+' ? sign + 1 : sign);
    return parse_signed(number, place.number) ? Reason{}
                                              : fmt::format("'{}' is not a number", number);
}

Reason parse_offset(std::string_view text, Aarch64Place& place) {
    constexpr std::string_view kLow = ":lo12:";
    if (text.starts_with('#') && text.substr(1).starts_with(kLow)) text.remove_prefix(1);
    if (text.starts_with(kLow)) return parse_symbol(text.substr(kLow.size()), place);
    if (looks_like_number(text)) {
        return parse_signed(text, place.number) ? Reason{}
                                                : fmt::format("'{}' is not a number", text);
    }
    const auto comma = text.find(',');
    const auto name = trim(text.substr(0, comma));
    place.index = find_aarch64_register(name);
    if (!place.index || place.index->number == kAarch64StackPointer) {
        return fmt::format("'{}' is not an index", name);
    }
    if (comma != std::string_view::npos) return parse_extend(trim(text.substr(comma + 1)), place);
    return place.index->bytes == 8 ? Reason{} : "an index of 4 bytes needs an extension";
}

Reason parse_memory(std::string_view text, Aarch64Place& place) {
    place.kind = Aarch64PlaceKind::memory;
    const auto end = text.find(']');
    if (end == std::string_view::npos) return "no closing bracket";
    if (end + 1 != text.size()) return fmt::format("unexpected '{}'", text.substr(end + 1));
    const auto inside = text.substr(1, end - 1);
    const auto comma = inside.find(',');
    const auto name = trim(inside.substr(0, comma));
    const auto base = find_aarch64_register(name);
    if (!base || base->bytes != 8 || base->number == kAarch64Zero) {
        return fmt::format("'{}' is not an address register", name);
    }
    place.reg = *base;
    return comma == std::string_view::npos ? Reason{}
                                           : parse_offset(trim(inside.substr(comma + 1)), place);
}

}  // namespace

std::string parse_aarch64_place(std::string_view text, Aarch64Place& place) {
    if (text.empty()) return "nothing to read";
    if (text.starts_with('[')) return parse_memory(text, place);
    if (looks_like_number(text)) {
        return parse_signed(text, place.number) ? Reason{}
                                                : fmt::format("'{}' is not a number", text);
    }
    place.kind = Aarch64PlaceKind::reg;
    const auto found = find_aarch64_register(text);
    if (found) {
        place.reg = *found;
        return {};
    }
    if (is_vector_register(text)) {
        return fmt::format("{} is a vector register, which the kernel does not save for a probe",
                           text);
    }
    return fmt::format("unknown register {}", text);
}

}  // namespace tracer
