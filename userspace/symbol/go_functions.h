// SPDX-License-Identifier: Apache-2.0
//
// The functions of a Go program, from the table by which its own runtime walks stacks. `strip` and
// -ldflags "-s -w" take every symbol table away and leave this one: a Go program cannot run
// without.
#pragma once

#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"
#include "tracer/base/result.h"

#include <vector>

namespace tracer {

// In order of address, with the names that .symtab would have had (instances of a generic function
// share the name "f[...]"). Understands the tables of Go 1.2 and later, of native files. Empty when
// the file has none; bad_input when it is malformed or of a form that is not known.
[[nodiscard]] Result<std::vector<FunctionSymbol>> read_go_functions(const ElfFile& file);

}  // namespace tracer
