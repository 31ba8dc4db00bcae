// SPDX-License-Identifier: Apache-2.0
//
// What the operands of USDT notes have in common on every machine: they are separated by blanks and
// each opens with its size.
//
//   operand := [N "@"] place           N := ["-"] (1|2|4|8) | ["-"] (4|8) "f"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracer {

struct OperandSize {
    uint8_t bytes = 8;
    bool is_signed = false;  // never of floats
    bool is_float = false;
    bool is_given = false;  // false: the text names a place only
};

// Takes the size off the front of `text`, if there is one. Returns why values of this size cannot
// be read; empty when they can.
[[nodiscard]] std::string take_operand_size(std::string_view& text, OperandSize& out);

// Takes the next operand off the front of `rest`; empty at the end. Blanks inside of brackets are
// part of it: "4@[sp, 8]".
[[nodiscard]] std::string_view take_operand(std::string_view& rest);

// A decimal or 0x number, the whole of `token`, below 2^64.
[[nodiscard]] bool parse_operand_number(std::string_view token, uint64_t& out);

}  // namespace tracer
