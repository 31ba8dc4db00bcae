// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"
#include "symbol/usdt_operand.h"

#include <string_view>
#include <vector>

namespace tracer {

// The operands of a note of another machine's file: sizes, signs and floats as the text says them,
// for display. All are unreadable here; `reason` names the machine, or what is wrong with the text.
// Limits and `total` as for compile_usdt_operands.
[[nodiscard]] std::vector<CompiledOperand> describe_foreign_operands(std::string_view text,
                                                                     const ElfFile& file,
                                                                     size_t* total = nullptr);

[[nodiscard]] CompiledOperand describe_foreign_operand(std::string_view text,
                                                       ElfMachine machine,
                                                       std::string_view machine_name);

}  // namespace tracer
