// SPDX-License-Identifier: Apache-2.0
//
// How the return of a function is caught without harm. The kernel's return probe (uretprobe)
// replaces the return address on the stack. That ends programs that read return addresses back: Go,
// which moves stacks, C++ and Rust when an exception passes, the collector of OCaml; and Haskell
// code has no return address there. Where possible, breakpoints on the function's own ret
// instructions stand in for it.
#pragma once

#include "probe/function_code.h"
#include "probe/probe_files.h"
#include "symbol/symbol_table.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct ReturnWay {
    // Why it cannot be caught at all, the same for all functions of a sort, and what is particular
    // to this one; both empty: it can.
    std::string harm;
    std::string detail;
    std::vector<uint64_t> sites;  // file offsets of its ret instructions; empty: a uretprobe
    // A uretprobe in C code that cleans up when it is unwound: by a thread's cancellation, or by an
    // exception of a callback's.
    bool may_be_unwound = false;
};

// Of one file. Borrows both.
class ReturnWays {
public:
    ReturnWays(const ElfFile& elf, const SymbolTable& symbols);

    [[nodiscard]] ReturnWay find(const FunctionSymbol& function) const;

    // Go's functions, unless they are assembly for its old calling convention: the goroutine is in
    // r14, and integers come in registers of its own choice.
    [[nodiscard]] bool is_go_function(std::string_view name) const;
    // Where a function arrives once a call, as an offset from its first instruction: 0 but for Go.
    [[nodiscard]] uint64_t entry_offset(const FunctionSymbol& function) const;

private:
    [[nodiscard]] std::string harm_of_language(const FunctionSymbol& function) const;
    [[nodiscard]] bool is_haskell_code(std::string_view name) const;
    [[nodiscard]] std::vector<std::byte> code_of(const FunctionSymbol& function) const;
    [[nodiscard]] FunctionCode read(const FunctionSymbol& function) const;

    const ElfFile& elf_;
    std::map<std::string, const FunctionSymbol*, std::less<>> cold_parts_;  // null: several
    bool is_go_ = false;
    bool has_go_registers_ = false;
    bool is_ghc_ = false;
    bool is_ocaml_ = false;
    bool throws_ = false;
    bool switches_stacks_ = false;
};

}  // namespace tracer
