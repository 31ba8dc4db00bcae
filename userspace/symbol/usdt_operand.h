// SPDX-License-Identifier: Apache-2.0
//
// The operands of a USDT note: what the compiler wrote where sdt.h asked for "nor" constraints, in
// AT&T syntax.
//
//   operand := [N "@"] place           N := ["-"] (1|2|4|8) ["f"]
//   place   := "$" sum | "%" register | sum | [sum] "(" [%base] ["," %index ["," scale]] ")"
//            | sum "(%rip)" | "%fs:" place
//   sum     := term {("+"|"-") term}   term := number | symbol ["@tpoff"]
#pragma once

#include "tracer/abi/probe.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// What the operand's symbols mean, and where the site is. The functions are called during
// compile_usdt_operands only; an empty function knows no symbol.
struct OperandContext {
    std::function<std::optional<uint64_t>(std::string_view)> address_of;  // link-time
    // Of a thread-local variable, from %fs; known for a program's own variables only.
    std::function<std::optional<int64_t>(std::string_view)> thread_offset_of;
    bool is_fixed_address = false;  // ET_EXEC
    uint64_t location_vaddr = 0;    // of the site, link-time
};

// One argument, ready for the kernel. Unreadable ones keep their size and sign for display.
struct CompiledOperand {
    tr_arg arg{};  // form TR_ARG_UNREADABLE: `reason` says why
    bool is_signed = false;
    bool is_float = false;
    uint8_t bytes = 8;
    std::string text;
    std::string reason;

    [[nodiscard]] bool is_readable() const { return arg.form != TR_ARG_UNREADABLE; }
};

// Compiles the operands of one site. One that cannot be read never spoils the others. At most
// TR_ARGS_MAX are compiled; `total`, if given, is how many the text holds.
[[nodiscard]] std::vector<CompiledOperand> compile_usdt_operands(std::string_view text,
                                                                 const OperandContext& context,
                                                                 size_t* total = nullptr);

[[nodiscard]] CompiledOperand compile_usdt_operand(std::string_view text,
                                                   const OperandContext& context);

}  // namespace tracer
