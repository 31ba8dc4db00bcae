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
    std::vector<uint64_t> sites;  // file offsets of its ret instructions
    // Of its jumps to another function that returns in its place: what that returns is not known.
    std::vector<uint64_t> tail_sites;
    // Some of `sites` are of functions it jumps to, which others call too.
    bool is_shared = false;
    // A uretprobe where an exception, of a callback's, may pass; why it is none of `sites`.
    std::string unwound_detail;
    bool may_be_unwound = false;

    // Neither: a uretprobe.
    [[nodiscard]] bool is_at_exits() const { return !sites.empty() || !tail_sites.empty(); }
};

// Of one file. Borrows the first two.
class ReturnWays {
public:
    // `meets_exceptions`: others may throw what passes through the file's functions.
    ReturnWays(const ElfFile& elf, const SymbolTable& symbols, bool meets_exceptions);

    // `follows_tails`: the return of what the function jumps to, where it can be found, is its own.
    // That is right only for one who knows which calls of the other came that way.
    [[nodiscard]] ReturnWay find(const FunctionSymbol& function, bool follows_tails) const;

    // Go's functions, unless they are assembly for its old calling convention: the goroutine is in
    // r14, and integers come in registers of its own choice.
    [[nodiscard]] bool is_go_function(std::string_view name) const;
    // Where a function arrives once a call, as an offset from its first instruction: 0 but for Go.
    [[nodiscard]] uint64_t entry_offset(const FunctionSymbol& function) const;

private:
    [[nodiscard]] std::string harm_of_language(const FunctionSymbol& function) const;
    [[nodiscard]] bool is_haskell_code(std::string_view name) const;
    [[nodiscard]] std::vector<std::byte> code_of(const FunctionSymbol& function) const;
    // Addresses are the file's link-time ones.
    [[nodiscard]] FunctionCode read(const FunctionSymbol& function) const;
    // By its first address; null: none begins there.
    [[nodiscard]] const FunctionSymbol* function_at(uint64_t vaddr) const;
    [[nodiscard]] const FunctionSymbol* cold_part_of(const FunctionSymbol& function) const;
    [[nodiscard]] bool is_entry(uint64_t vaddr) const;
    // From what was read of the function. True: it is all there.
    bool add_exits(const FunctionCode& code, bool follows_tails, ReturnWay& way) const;
    [[nodiscard]] std::string obstacle_text(const FunctionCode& code) const;

    const ElfFile& elf_;
    const SymbolTable& symbols_;
    std::map<std::string, const FunctionSymbol*, std::less<>> cold_parts_;  // null: several
    bool meets_exceptions_;
    bool is_go_ = false;
    bool has_go_registers_ = false;
    bool is_ghc_ = false;
    bool is_ocaml_ = false;
    bool throws_ = false;
    bool switches_stacks_ = false;
    bool is_c_library_ = false;
};

}  // namespace tracer
