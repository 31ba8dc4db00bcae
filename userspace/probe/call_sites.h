// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer {

// File offsets, ascending, of the instructions in a file's executable segments that call or jump to
// the link-time address `target` by a distance of 32 bits: call, jmp, jcc. A call that goes through
// a pointer or a linkage table is none of them. A probe on a jcc is hit whether it jumps or not.
//
// All bytes are looked at, because code that holds data (GHC's info tables) cannot be read from one
// instruction to the next. What is found inside of an instruction of a function that a symbol or an
// unwind table tells is left out. In other code, bytes of something else are taken for a call if
// they spell one of the 18 opcodes and just the right distance: once in about 2^39 bytes.
//
// A constant that is the target's address, or an instruction that computes it (lea), says that it
// may be called through a register too, which is at no place of its own.
struct CallSites {
    std::vector<uint64_t> offsets;
    size_t address_uses = 0;
};
[[nodiscard]] CallSites find_call_sites(const ElfFile& file,
                                        const SymbolTable& symbols,
                                        uint64_t target);

}  // namespace tracer
