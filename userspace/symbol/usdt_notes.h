// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// One site of a USDT probe, as its note in .note.stapsdt says it.
struct UsdtNote {
    std::string provider;
    std::string name;
    std::string arguments;  // the operands' text, not yet looked at
    uint64_t location_vaddr = 0;
    uint64_t location_offset = 0;   // in the file
    uint64_t semaphore_vaddr = 0;   // 0: the site has none
    uint64_t semaphore_offset = 0;  // in the file; 0: none, or not in the file
    // The semaphore has no bytes in the file: the kernel then counts nothing, and a site that
    // tests it never fires.
    bool is_semaphore_in_bss = false;
};

struct UsdtNotes {
    std::vector<UsdtNote> notes;  // in the file's order
    uint64_t malformed = 0;       // notes left out: cut, or their location is not in the file
};

// Whether the file claims to hold notes: a cheap question for searches over many files.
[[nodiscard]] bool has_usdt_notes(const ElfFile& file);

[[nodiscard]] Result<UsdtNotes> read_usdt_notes(const ElfFile& file);

}  // namespace tracer
