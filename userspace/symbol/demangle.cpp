// SPDX-License-Identifier: Apache-2.0
//
// C++ and Rust by libiberty (GNU binutils), the others by decoders of our own. libiberty bounds its
// recursion (DEMANGLE_RECURSION_LIMIT) but not its output, which back references let grow
// exponentially; so it is called with a callback that jumps out when the bound is reached. Called
// by the symbol lists, by the matching of probe names and by `tracer list`.
#include "symbol/demangle.h"

#include <csetjmp>
#include <libiberty/demangle.h>
#include <utility>

namespace tracer {

namespace {

struct Output {
    std::jmp_buf full;
    char* text = nullptr;
    size_t bytes = 0;
};

extern "C" void take_piece(const char* piece, size_t bytes, void* opaque) {
    auto* output = static_cast<Output*>(opaque);
    // Both ways from here to setjmp are C frames without anything to release, but for an identifier
    // that Rust's decoder may hold: at most as long as the symbol, and lost only for a hostile one.
    if (bytes > kDemangledBytesMax - output->bytes) std::longjmp(output->full, 1);
    std::char_traits<char>::copy(output->text + output->bytes, piece, bytes);
    output->bytes += bytes;
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// Fills `text`, which has room for kDemangledBytesMax; 0: no name. Apart, and without objects of
// its own, because of the jump: locals that change after setjmp would be lost.
size_t run_demangler(Demangler demangler, const char* symbol, int options, char* text) {
    Output output;
    output.text = text;
    // NOLINTNEXTLINE(cert-err52-cpp): C code in between cannot be left in another way.
    if (setjmp(output.full) != 0) return 0;
    if (demangler(symbol, options, take_piece, &output) == 0) return 0;
    return output.bytes;
}

std::string run_demangler(Demangler demangler, const std::string& symbol, int options) {
    // Not initialised: a program has a hundred thousand names, most of them short.
    char text[kDemangledBytesMax];
    return {text, run_demangler(demangler, symbol.c_str(), options, text)};
}

std::optional<DemangledName> demangle_rust(const std::string& symbol) {
    auto name = run_demangler(rust_demangle_callback, symbol, DMGL_PARAMS | DMGL_ANSI);
    if (name.empty()) return std::nullopt;
    return DemangledName{name, name};
}

// libstdc++ marks what returns its newer strings and lists ("title[abi:cxx11]"): no source says it.
std::string without_abi_tags(std::string name) {
    constexpr std::string_view kTag = "[abi:";
    // Each turn takes a tag out.
    for (auto begin = name.find(kTag); begin != std::string::npos; begin = name.find(kTag, begin)) {
        const auto end = name.find(']', begin);
        if (end == std::string::npos) break;
        name.erase(begin, end - begin + 1);
    }
    return name;
}

std::optional<DemangledName> demangle_cxx(const std::string& symbol) {
    // Behind the first '.' stands what compilers add to the names of clones and parts: libiberty
    // spells it with spaces and, without parameters, drops it.
    const auto dot = symbol.find('.');
    const auto mangled = symbol.substr(0, dot);
    const auto suffix = dot == std::string::npos ? std::string() : symbol.substr(dot);
    auto full =
        run_demangler(cplus_demangle_v3_callback, mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
    auto bare = run_demangler(cplus_demangle_v3_callback, mangled, DMGL_ANSI);
    if (full.empty() || bare.empty()) return std::nullopt;
    return DemangledName{without_abi_tags(std::move(full)) + suffix,
                         without_abi_tags(std::move(bare)) + suffix};
}

}  // namespace

std::optional<DemangledName> demangle(std::string_view symbol, const DemangleContext& context) {
    if (symbol.size() > kMangledBytesMax) return std::nullopt;
    // Rust's legacy scheme is C++'s with a hash at the end, so it is asked first.
    if (symbol.starts_with("_R") || symbol.starts_with("_ZN")) {
        if (auto name = demangle_rust(std::string(symbol))) return name;
    }
    if (symbol.starts_with("_Z")) return demangle_cxx(std::string(symbol));
    if (symbol.starts_with("caml")) return demangle_ocaml(symbol);
    return demangle_haskell(symbol, context);
}

}  // namespace tracer
