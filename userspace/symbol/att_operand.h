// SPDX-License-Identifier: Apache-2.0
//
// Places in AT&T syntax, as compilers for x86 write them where sdt.h asked for "nor" constraints.
//
//   place   := "$" sum | "%" register | sum | [sum] "(" [%base] ["," %index ["," scale]] ")"
//            | sum "(%rip)" | segment place       segment := "%fs:" (x86-64) | "%gs:" (i386)
//   sum     := term {("+"|"-") term}   term := number | symbol ["@" relocation]
#pragma once

#include "symbol/x86_registers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

enum class AttMachine : uint8_t { x86_64, i386 };

enum class AttPlaceKind : uint8_t { immediate, reg, memory };

// An operand's place, before symbols are looked up. The views are of the text that was parsed.
struct AttPlace {
    AttPlaceKind kind = AttPlaceKind::memory;
    uint64_t number = 0;  // sum of the numbers, modulo 2^64
    std::string_view symbol;
    bool is_symbol_negative = false;
    bool is_thread_offset = false;  // @tpoff, @ntpoff
    bool is_got_slot = false;       // @GOTPCREL: the place holds the symbol's address
    bool has_number = false;
    bool has_parentheses = false;
    bool has_thread_segment = false;
    std::optional<RegisterName> base;  // the register itself for AttPlaceKind::reg
    std::optional<RegisterName> index;
    uint8_t scale_shift = 0;
};

// Returns why the text is no place that can be read; empty when `place` is set. `place` must be
// new.
[[nodiscard]] std::string parse_att_place(std::string_view text,
                                          AttMachine machine,
                                          AttPlace& place);

}  // namespace tracer
