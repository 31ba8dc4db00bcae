// SPDX-License-Identifier: Apache-2.0
//
// Sizes, blanks and numbers in the operand text of USDT notes; untrusted input. Called by the
// parsers of each machine's operands.
#include "symbol/operand_text.h"

#include <charconv>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kBlanks = " \t";
// Longer runs of digits are no sizes.
constexpr size_t kSizeDigitsMax = 4;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

std::string take_operand_size(std::string_view& text, OperandSize& out) {
    auto rest = text;
    const bool is_signed = rest.starts_with('-');
    if (is_signed) rest.remove_prefix(1);
    unsigned bytes = 0;
    size_t digits = 0;
    while (digits < rest.size() && digits < kSizeDigitsMax && is_digit(rest[digits])) {
        bytes = 10 * bytes + static_cast<unsigned>(rest[digits] - '0');
        ++digits;
    }
    rest.remove_prefix(digits);
    const bool is_float = rest.starts_with('f');
    if (is_float) rest.remove_prefix(1);
    if (digits == 0 || !rest.starts_with('@')) return {};
    rest.remove_prefix(1);
    if (is_float && bytes != 4 && bytes != 8) {
        return fmt::format("a floating-point number of {} bytes", bytes);
    }
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
        return fmt::format("a value of {} bytes", bytes);
    }
    out.bytes = static_cast<uint8_t>(bytes);
    out.is_signed = is_signed && !is_float;
    out.is_float = is_float;
    out.is_given = true;
    text = rest;
    return {};
}

std::string_view take_operand(std::string_view& rest) {
    const auto begin = rest.find_first_not_of(kBlanks);
    rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
    bool is_inside = false;
    size_t length = 0;
    while (length < rest.size()) {
        const char c = rest[length];
        if (c == '[') is_inside = true;
        if (c == ']') is_inside = false;
        if (!is_inside && kBlanks.find(c) != std::string_view::npos) break;
        ++length;
    }
    const auto operand = rest.substr(0, length);
    rest.remove_prefix(length);
    return operand;
}

bool parse_operand_number(std::string_view token, uint64_t& out) {
    int base = 10;
    if (token.starts_with("0x") || token.starts_with("0X")) {
        base = 16;
        token.remove_prefix(2);
    }
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out, base);
    return !token.empty() && error == std::errc{} && end == token.data() + token.size();
}

}  // namespace tracer
