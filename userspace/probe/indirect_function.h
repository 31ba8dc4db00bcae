// SPDX-License-Identifier: Apache-2.0
//
// Indirect functions (STT_GNU_IFUNC: strlen and its like in the C library): the name stands for one
// of several functions, chosen for the machine when the program starts.
#pragma once

#include "probe/probe_files.h"
#include "symbol/symbol_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// The function that `name` stands for where the file runs: read from the memory of the process
// that it was found in, or of this one if it runs the file too, as both have the same machine.
// nullopt: the name is no indirect function's, or no such process can be read.
[[nodiscard]] std::optional<FunctionSymbol> chosen_function(const ProbeFile& file,
                                                            const SymbolTable& symbols,
                                                            std::string_view name);

// Functions of the file that it may stand for, by their names ("__strlen_avx2"); empty: it is no
// indirect function's, or nothing is known.
[[nodiscard]] std::vector<std::string> candidates_of(const SymbolTable& symbols,
                                                     std::string_view name);

[[nodiscard]] bool is_indirect_function(const SymbolTable& symbols, std::string_view name);

}  // namespace tracer
