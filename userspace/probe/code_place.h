// SPDX-License-Identifier: Apache-2.0
//
// Places in code that are not a function's first instruction: an offset into a function, or an
// address. A breakpoint inside of an instruction breaks the program.
#pragma once

#include "symbol/elf_file.h"
#include "symbol/instructions.h"
#include "symbol/symbol_table.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

// The link-time address that a probe names instead of a symbol ("0x4011d0").
[[nodiscard]] std::optional<uint64_t> address_in_name(std::string_view name);

// The function that holds an address: by symbol, else by the file's unwind tables.
struct CodeFunction {
    uint64_t vaddr = 0;
    uint64_t bytes = 0;
    const FunctionSymbol* symbol = nullptr;  // null: known by the unwind tables only
};
[[nodiscard]] std::optional<CodeFunction> function_holding(const ElfFile& file,
                                                           const SymbolTable& symbols,
                                                           uint64_t vaddr);

// Whether an instruction begins at `vaddr`, read from the function's begin; unknown where that
// cannot be done.
[[nodiscard]] BoundaryCheck check_boundary_at(const ElfFile& file,
                                              const std::optional<CodeFunction>& function,
                                              uint64_t vaddr);

// A usage error where `vaddr` is inside of an instruction; it names the instruction and the two
// nearest places. `what`: the place as the user named it. Returns a warning where nothing tells the
// instructions' boundaries, else an empty text.
[[nodiscard]] Result<std::string> check_code_place(const ElfFile& file,
                                                   const std::optional<CodeFunction>& function,
                                                   uint64_t vaddr,
                                                   std::string_view what);

}  // namespace tracer
