// SPDX-License-Identifier: Apache-2.0
//
// The operands of USDT notes of this machine: a size (operand_text.h) and a place (att_operand.h),
// compiled to read operations.
#pragma once

#include "symbol/operand_text.h"
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
    // Of the slot that holds the symbol's address at run time, link-time.
    std::function<std::optional<uint64_t>(std::string_view)> got_slot_of;
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
    void set_size(const OperandSize& size);
    void make_unreadable(std::string why);
};

// Compiles the operands of one site. One that cannot be read never spoils the others. At most
// TR_ARGS_MAX are compiled; `total`, if given, is how many the text holds.
[[nodiscard]] std::vector<CompiledOperand> compile_usdt_operands(std::string_view text,
                                                                 const OperandContext& context,
                                                                 size_t* total = nullptr);

[[nodiscard]] CompiledOperand compile_usdt_operand(std::string_view text,
                                                   const OperandContext& context);

// What `make` says of each operand in `text`, with the limit and the count of
// compile_usdt_operands.
[[nodiscard]] std::vector<CompiledOperand> take_operands(
    std::string_view text,
    size_t* total,
    const std::function<CompiledOperand(std::string_view)>& make);

}  // namespace tracer
