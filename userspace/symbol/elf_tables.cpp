// SPDX-License-Identifier: Apache-2.0
//
// Reads the tables of both ELF classes by copying their bytes, checked against the file's size
// first: counts and offsets are whatever a hostile file says. Called by ElfFile.
#include "symbol/elf_tables.h"

#include <cstring>

#include <fmt/format.h>

namespace tracer {

namespace {

template <typename T>
Result<std::vector<T>> read_table(const FileBytes& file, uint64_t offset, uint64_t count) {
    if (count > file.size() / sizeof(T)) {
        return fail(ErrorCode::bad_input,
                    fmt::format("{} is malformed: a table of {} entries is larger than the file",
                                file.name(), count));
    }
    TR_ASSIGN(auto bytes, file.read(offset, count * sizeof(T)));
    std::vector<T> table(count);
    if (count != 0) std::memcpy(table.data(), bytes.data(), bytes.size());
    return table;
}

Elf64_Ehdr widen(const Elf32_Ehdr& from) {
    Elf64_Ehdr to{};
    std::memcpy(to.e_ident, from.e_ident, sizeof(to.e_ident));
    to.e_type = from.e_type;
    to.e_machine = from.e_machine;
    to.e_version = from.e_version;
    to.e_entry = from.e_entry;
    to.e_phoff = from.e_phoff;
    to.e_shoff = from.e_shoff;
    to.e_flags = from.e_flags;
    to.e_ehsize = from.e_ehsize;
    to.e_phentsize = from.e_phentsize;
    to.e_phnum = from.e_phnum;
    to.e_shentsize = from.e_shentsize;
    to.e_shnum = from.e_shnum;
    to.e_shstrndx = from.e_shstrndx;
    return to;
}

Elf64_Phdr widen(const Elf32_Phdr& from) {
    return {.p_type = from.p_type,
            .p_flags = from.p_flags,
            .p_offset = from.p_offset,
            .p_vaddr = from.p_vaddr,
            .p_paddr = from.p_paddr,
            .p_filesz = from.p_filesz,
            .p_memsz = from.p_memsz,
            .p_align = from.p_align};
}

Elf64_Shdr widen(const Elf32_Shdr& from) {
    return {.sh_name = from.sh_name,
            .sh_type = from.sh_type,
            .sh_flags = from.sh_flags,
            .sh_addr = from.sh_addr,
            .sh_offset = from.sh_offset,
            .sh_size = from.sh_size,
            .sh_link = from.sh_link,
            .sh_info = from.sh_info,
            .sh_addralign = from.sh_addralign,
            .sh_entsize = from.sh_entsize};
}

Elf64_Dyn widen(const Elf32_Dyn& from) {
    Elf64_Dyn to{};
    to.d_tag = from.d_tag;
    to.d_un.d_val = from.d_un.d_val;
    return to;
}

template <typename Wide, typename Narrow>
Result<std::vector<Wide>> read_either(const FileBytes& file,
                                      bool is_32_bit,
                                      uint64_t offset,
                                      uint64_t count) {
    if (!is_32_bit) return read_table<Wide>(file, offset, count);
    TR_ASSIGN(const auto narrow, read_table<Narrow>(file, offset, count));
    std::vector<Wide> table;
    table.reserve(narrow.size());
    for (const auto& entry : narrow) table.push_back(widen(entry));
    return table;
}

}  // namespace

Result<Elf64_Ehdr> read_elf_header(const FileBytes& file, bool is_32_bit) {
    TR_ASSIGN(const auto table, (read_either<Elf64_Ehdr, Elf32_Ehdr>(file, is_32_bit, 0, 1)));
    return table[0];
}

Result<std::vector<Elf64_Phdr>> read_program_headers(const FileBytes& file,
                                                     bool is_32_bit,
                                                     uint64_t offset,
                                                     uint64_t count) {
    return read_either<Elf64_Phdr, Elf32_Phdr>(file, is_32_bit, offset, count);
}

Result<std::vector<Elf64_Shdr>> read_section_headers(const FileBytes& file,
                                                     bool is_32_bit,
                                                     uint64_t offset,
                                                     uint64_t count) {
    return read_either<Elf64_Shdr, Elf32_Shdr>(file, is_32_bit, offset, count);
}

Result<std::vector<Elf64_Dyn>> read_dynamic_entries(const FileBytes& file,
                                                    bool is_32_bit,
                                                    uint64_t offset,
                                                    uint64_t count) {
    return read_either<Elf64_Dyn, Elf32_Dyn>(file, is_32_bit, offset, count);
}

}  // namespace tracer
