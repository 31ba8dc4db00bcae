// SPDX-License-Identifier: Apache-2.0
//
// Which language a function is of goes by what its compiler leaves in the file: Go's sections, the
// runtime symbols of GHC and OCaml, the personality routines of C++ and Rust. Seen on Linux 6.18
// with uretprobes: a Go program dies at the next growth of a stack ("unexpected return pc"), a C++
// program at the next exception through the function (std::terminate), and one with several stacks
// (swapcontext) returns to the caller of another function.
//
// Relies on symbols with sizes. Called by compile_function.
#include "probe/return_way.h"

#include "probe/return_harm.h"
#include "symbol/frame_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kCold = ".cold";

// Longer functions than any compiler makes: a hostile symbol's size.
constexpr uint64_t kFunctionBytesMax = 4 << 20;

template <size_t N>
bool is_among(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_name_in(const ElfFile& elf, std::string_view section, std::string_view name) {
    const auto* found = elf.section(section);
    if (found == nullptr) return false;
    const auto bytes = elf.read_section(*found);
    if (!bytes) return false;
    // With the NUL behind it: the end of a string in the table.
    const std::string wanted = fmt::format("{}{}", name, '\0');
    return ::memmem(bytes->data(), bytes->size(), wanted.data(), wanted.size()) != nullptr;
}

// Whether code of the file throws, or handles what passes: not C that only cleans up when a thread
// is cancelled.
bool can_throw(const ElfFile& elf) {
    constexpr std::array<std::string_view, 4> kNames = {
        "__gxx_personality_v0", "__cxa_throw", "rust_eh_personality", "_Unwind_RaiseException"};
    return std::ranges::any_of(kNames, [&](std::string_view name) {
        return has_name_in(elf, ".dynstr", name) || has_name_in(elf, ".strtab", name);
    });
}

// Whether code of the file leaves one stack for another. The kernel gives return addresses back in
// the order of the calls, whatever stack they were made on: the first return would go to the
// caller of the last.
bool can_switch_stacks(const ElfFile& elf, const SymbolTable& symbols) {
    constexpr std::array<std::string_view, 3> kNames = {"swapcontext", "setcontext", "makecontext"};
    return std::ranges::any_of(kNames, [&](std::string_view name) {
        // Who defines it is the library, whose own functions do not call it.
        return !symbols.address_of(name) && has_name_in(elf, ".dynstr", name);
    });
}

bool is_upper(std::string_view text, size_t index) {
    return index < text.size() && text[index] >= 'A' && text[index] <= 'Z';
}

// package_Module: a name in GHC's z-encoding, in which "zi" stands for the dot in a module's name.
bool is_z_encoded(std::string_view name) {
    const size_t module = name.find('_');
    if (module == std::string_view::npos || !is_upper(name, module + 1)) return false;
    for (size_t at = name.find("zi", module); at != std::string_view::npos;
         at = name.find("zi", at + 1)) {
        if (is_upper(name, at + 2)) return true;
    }
    return false;
}

bool is_ocaml_function(std::string_view name) {
    return name.starts_with("caml") && is_upper(name, 4);
}

}  // namespace

ReturnWays::ReturnWays(const ElfFile& elf, const SymbolTable& symbols, bool meets_exceptions)
    : elf_(elf),
      symbols_(symbols),
      meets_exceptions_(meets_exceptions),
      is_go_(elf.is_go()),
      is_ghc_(elf.is_ghc()) {
    constexpr std::array<std::string_view, 3> kGhcRuntime = {"stg_ap_0_fast", "hs_main",
                                                             "stg_upd_frame_info"};
    const FunctionSymbol* go_main = nullptr;
    for (const auto& function : symbols.functions()) {
        if (is_among(function.name, kGhcRuntime)) is_ghc_ = true;
        if (function.name == "runtime.main") go_main = &function;
        if (!function.name.ends_with(kCold)) continue;
        const auto [at, is_new] = cold_parts_.try_emplace(function.name, &function);
        if (!is_new) at->second = nullptr;
    }
    is_ocaml_ = symbols.address_of("caml_frametable").has_value() ||
                symbols.address_of("caml_plugin_header").has_value();
    // The check of runtime.main's stack shows whether r14 holds the goroutine (since Go 1.17).
    has_go_registers_ =
        is_go_ && go_main != nullptr && offset_behind_stack_check(code_of(*go_main)).has_value();
    throws_ = !is_go_ && can_throw(elf);
    switches_stacks_ = !is_go_ && can_switch_stacks(elf, symbols);
    const auto dynamic = elf.dynamic();
    is_c_library_ = dynamic && (dynamic->soname.starts_with("libc.so.") ||
                                dynamic->soname.starts_with("libpthread.so."));
}

bool ReturnWays::is_go_function(std::string_view name) const {
    if (!has_go_registers_ || name.ends_with(".abi0")) return false;
    // Go's are package.name; of C code that cgo links, parts and copies have a dot.
    constexpr std::array<std::string_view, 7> kCopies = {
        "cold", "part", "isra", "constprop", "llvm", "lto_priv", "localalias"};
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos || dot == 0) return false;
    const auto rest = name.substr(dot + 1);
    return !is_among(rest.substr(0, rest.find('.')), kCopies);
}

uint64_t ReturnWays::entry_offset(const FunctionSymbol& function) const {
    if (!is_go_function(function.name)) return 0;
    return offset_behind_stack_check(code_of(function)).value_or(0);
}

std::vector<std::byte> ReturnWays::code_of(const FunctionSymbol& function) const {
    if (function.bytes == 0 || function.bytes > kFunctionBytesMax) return {};
    auto code = elf_.read(function.file_offset, function.bytes);
    return code ? std::move(*code) : std::vector<std::byte>{};
}

const FunctionSymbol* ReturnWays::function_at(uint64_t vaddr) const {
    const auto found =
        std::ranges::lower_bound(symbols_.functions(), vaddr, {}, &FunctionSymbol::vaddr);
    return found == symbols_.functions().end() || found->vaddr != vaddr ? nullptr : &*found;
}

const FunctionSymbol* ReturnWays::cold_part_of(const FunctionSymbol& function) const {
    // It is called after one of the function's names; an address alone has none.
    const auto& functions = symbols_.functions();
    auto name = std::ranges::lower_bound(functions, function.vaddr, {}, &FunctionSymbol::vaddr);
    for (; name != functions.end() && name->vaddr == function.vaddr; ++name) {
        const auto cold = cold_parts_.find(fmt::format("{}{}", name->name, kCold));
        if (cold != cold_parts_.end()) return cold->second;
    }
    return nullptr;
}

bool ReturnWays::is_entry(uint64_t vaddr) const {
    constexpr std::array<std::string_view, 3> kStubs = {".plt", ".plt.sec", ".plt.got"};
    const bool is_stub = std::ranges::any_of(kStubs, [&](std::string_view name) {
        const auto* section = elf_.section(name);
        return section != nullptr && vaddr >= section->vaddr &&
               vaddr - section->vaddr < section->bytes;
    });
    if (is_stub) return true;
    const auto* function = function_at(vaddr);
    return function != nullptr && !function->name.ends_with(kCold);
}

FunctionCode ReturnWays::read(const FunctionSymbol& function) const {
    const auto code = code_of(function);
    FunctionCode nothing;
    nothing.has_call = true;
    nothing.obstacle = "has a symbol without a size";
    if (code.empty()) return nothing;
    std::vector<CodePart> parts{{function.vaddr, code}};
    std::vector<std::byte> cold_code;
    if (const auto* cold = cold_part_of(function)) {
        cold_code = code_of(*cold);
        parts.push_back({cold->vaddr, cold_code});
    }
    return read_function_code(parts, is_go_, [this](uint64_t vaddr) { return is_entry(vaddr); });
}

bool ReturnWays::is_haskell_code(std::string_view name) const {
    // GHC's own code; C functions of its runtime system have other names.
    constexpr std::array<std::string_view, 5> kSuffixes = {"_info", "_entry", "_ret", "_fast",
                                                           "_slow"};
    const bool has_suffix = std::ranges::any_of(
        kSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
    return has_suffix && (is_ghc_ || is_z_encoded(name));
}

std::string ReturnWays::harm_of_language(const FunctionSymbol& function) const {
    if (is_haskell_code(function.name)) {
        return "Haskell code, which does not return through the C stack";
    }
    if (is_ocaml_ && is_ocaml_function(function.name)) {
        return "OCaml code, whose collector reads the return addresses that a return probe "
               "replaces";
    }
    if (!is_go_ || is_go_function(function.name)) return {};
    if (!has_go_registers_) {
        return "a Go program older than Go 1.17, or without the symbol runtime.main: return probes "
               "crash Go programs, and where results are is not known";
    }
    return "a Go program's assembly or C code: return probes crash Go programs";
}

bool ReturnWays::add_exits(const FunctionCode& code, bool follows_tails, ReturnWay& way) const {
    // A chain of wrappers is short; what is called by many is dear to follow.
    constexpr size_t kFollowedMax = 4;
    std::vector<FunctionCode> open{code};
    std::set<uint64_t> followed;
    bool is_all_in_file = true;
    const auto add = [&](std::vector<uint64_t>& sites, uint64_t vaddr) {
        const auto offset = elf_.file_offset_of(vaddr);
        if (offset) sites.push_back(*offset);
        is_all_in_file = is_all_in_file && offset.has_value();
    };
    // Ends: each function is followed once.
    while (!open.empty()) {
        const FunctionCode one = std::move(open.back());
        open.pop_back();
        for (const uint64_t vaddr : one.returns) add(way.sites, vaddr);
        for (const TailJump& jump : one.tail_jumps) {
            const auto* next = jump.to && follows_tails ? function_at(*jump.to) : nullptr;
            const bool is_known = next != nullptr && followed.count(next->vaddr) != 0;
            if (is_known) continue;
            auto next_code = next != nullptr && followed.size() < kFollowedMax
                                 ? std::optional(read(*next))
                                 : std::nullopt;
            if (!next_code || !next_code->obstacle.empty()) {
                add(way.tail_sites, jump.from);
                continue;
            }
            followed.insert(next->vaddr);
            way.is_shared = true;
            open.push_back(std::move(*next_code));
        }
    }
    return is_all_in_file;
}

std::string ReturnWays::obstacle_text(const FunctionCode& code) const {
    std::string_view reason = "a return probe crashes Go programs";
    if (!is_go_) {
        reason = throws_ ? "an exception that passes through a return probe ends the program "
                           "(std::terminate)"
                         : "the file switches between stacks (swapcontext), among which return "
                           "probes mix up the callers";
    }
    return fmt::format("{}; its ret instructions cannot stand in for it: the function {}", reason,
                       code.obstacle);
}

ReturnWay ReturnWays::find(const FunctionSymbol& function, bool follows_tails) const {
    ReturnWay way;
    way.harm = harm_of_language(function);
    if (!way.harm.empty()) return way;
    const bool is_harmed = is_go_ || throws_ || switches_stacks_;
    // Without an entry in the unwind tables nothing passes through it anyway.
    const bool may_pass = !is_harmed && meets_exceptions_ &&
                          !(is_c_library_ && is_never_unwound(function.name)) &&
                          frame_range_at(elf_, function.vaddr).has_value();
    if (!is_harmed && !may_pass) return way;
    auto code = read(function);
    const bool is_leaf = !code.has_call && code.tail_jumps.empty();
    // Where nothing is called nothing can be thrown: the kernel's way is cheaper.
    if (code.obstacle.empty() && !is_go_ && is_leaf) return way;
    if (code.obstacle.empty() && code.returns.empty() && code.tail_jumps.empty()) {
        code.obstacle = "has no ret instruction";
    }
    if (code.obstacle.empty()) {
        if (add_exits(code, follows_tails && !is_go_, way)) return way;
        code.obstacle = "has code outside of the file";
    }
    way = {};
    if (is_harmed) {
        way.harm = obstacle_text(code);
        way.detail = std::move(code.obstacle_place);
    } else if (code.has_call || !code.tail_jumps.empty()) {
        way.may_be_unwound = true;
        way.unwound_detail = fmt::format("{} {}", code.obstacle, code.obstacle_place);
    }
    return way;
}

}  // namespace tracer
