// SPDX-License-Identifier: Apache-2.0
//
// What the functions of a file may be called in a probe's text: by symbol, or as the source calls
// them, with or without parameters.
#pragma once

#include "symbol/demangle.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct NamedFunction {
    const FunctionSymbol* symbol = nullptr;  // of the table that was searched
    DemangledName name;                      // the symbol in both places, if it is not mangled

    [[nodiscard]] bool is_mangled() const { return name.bare != symbol->name; }
};

// How symbols of this file are to be understood.
[[nodiscard]] DemangleContext demangle_context(const ElfFile& file);

// A function with its names.
[[nodiscard]] NamedFunction name_function(const FunctionSymbol& symbol,
                                          const DemangleContext& context);

// The functions that `pattern` names, in the table's order. A name that fits letter by letter goes
// before wildcards, which C++ has as pointers: "f(char*)" is one function where there is such a
// one. Spaces that separate no words do not count.
[[nodiscard]] std::vector<NamedFunction> find_functions(const SymbolTable& symbols,
                                                        const DemangleContext& context,
                                                        std::string_view pattern);

// Whether `pattern` with its wildcards fits one of the function's names.
[[nodiscard]] bool name_matches(std::string_view pattern, const NamedFunction& function);

// Whether `symbol` is a copy or a part that a compiler has made of the function `name`: f.isra.0,
// f.constprop.0.cold of f.
[[nodiscard]] bool is_clone_of(std::string_view symbol, std::string_view name);

}  // namespace tracer
