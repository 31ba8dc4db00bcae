// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"

#include <cstdint>
#include <vector>

namespace tracer {

// File offsets, ascending, of the instructions in a file's executable segments that call or jump to
// the link-time address `target` by a distance of 32 bits: call, jmp, jcc. A call that goes through
// a pointer or a linkage table is none of them.
//
// All bytes are looked at, because code that holds data (GHC's info tables) cannot be read from one
// instruction to the next. Bytes of something else are taken for a call if they spell one of the 18
// opcodes and just the right distance: once in about 2^40 bytes of code.
[[nodiscard]] std::vector<uint64_t> find_call_sites(const ElfFile& file, uint64_t target);

}  // namespace tracer
