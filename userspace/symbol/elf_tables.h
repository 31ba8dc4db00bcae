// SPDX-License-Identifier: Apache-2.0
//
// The tables of an ELF file, always in the form of the 64-bit class: fields of the 32-bit class
// (System V gABI, chapter 4 and 5) are the same ones, narrower and in another order.
#pragma once

#include "symbol/file_bytes.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <vector>

#include <elf.h>

namespace tracer {

// Bytes of one entry in the file.
[[nodiscard]] constexpr size_t program_header_bytes(bool is_32_bit) {
    return is_32_bit ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
}
[[nodiscard]] constexpr size_t section_header_bytes(bool is_32_bit) {
    return is_32_bit ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
}
[[nodiscard]] constexpr size_t dynamic_entry_bytes(bool is_32_bit) {
    return is_32_bit ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn);
}

// Each refuses a table that the file is too short for, before anything is allocated for it.
[[nodiscard]] Result<Elf64_Ehdr> read_elf_header(const FileBytes& file, bool is_32_bit);
[[nodiscard]] Result<std::vector<Elf64_Phdr>> read_program_headers(const FileBytes& file,
                                                                   bool is_32_bit,
                                                                   uint64_t offset,
                                                                   uint64_t count);
[[nodiscard]] Result<std::vector<Elf64_Shdr>> read_section_headers(const FileBytes& file,
                                                                   bool is_32_bit,
                                                                   uint64_t offset,
                                                                   uint64_t count);
[[nodiscard]] Result<std::vector<Elf64_Dyn>> read_dynamic_entries(const FileBytes& file,
                                                                  bool is_32_bit,
                                                                  uint64_t offset,
                                                                  uint64_t count);

}  // namespace tracer
