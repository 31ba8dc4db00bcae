// SPDX-License-Identifier: Apache-2.0
//
// Where functions begin, by the tables that exceptions are unwound with: stripped files have them
// too.
#pragma once

#include "symbol/elf_file.h"

#include <cstdint>
#include <optional>

namespace tracer {

struct FunctionRange {
    uint64_t vaddr = 0;
    uint64_t bytes = 0;
};

// The range that holds the link-time address, from .eh_frame_hdr and the entry of .eh_frame that it
// leads to (LSB core specification, 10.6). nullopt: no table, an encoding that GNU ld does not
// write, or no entry for the address.
[[nodiscard]] std::optional<FunctionRange> frame_range_at(const ElfFile& file, uint64_t vaddr);

}  // namespace tracer
