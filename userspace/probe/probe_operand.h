// SPDX-License-Identifier: Apache-2.0
//
// The parser of an operand: a place with what is loaded from behind it. Grammar in probe_spec.h.
#pragma once

#include "probe/probe_spec.h"
#include "probe/probe_text.h"

namespace tracer {

// Where a word of an operand, a label or a type ends.
inline constexpr std::string_view kOperandEnds = " \t=:,()[]/+-*<>!&|~\"";

// Letters, digits and '_'.
[[nodiscard]] bool is_word_char(char c);

// Decimal, or hexadecimal behind 0x; the text's own sign, if any, is taken before. Nullopt: it is
// no such number, or does not fit.
[[nodiscard]] std::optional<uint64_t> parse_number(std::string_view text);

// Reads an operand into `arg` (operand, text_offset, is_parameter, members, walk, addend) and
// checks that a probe of this kind can have it. `first`: its first word, if that was taken already.
[[nodiscard]] Status parse_operand(ProbeText& text,
                                   ProbeKind kind,
                                   const ProbeToken* first,
                                   ArgSpec& arg);

}  // namespace tracer
