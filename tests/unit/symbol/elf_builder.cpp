// SPDX-License-Identifier: Apache-2.0
//
// ELF files for the tests of the symbol and probe layers; see the header for their layout.
#include "unit/symbol/elf_builder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>

namespace tracer::test {

namespace {

template <typename T>
void append(std::string& out, const T& value) {
    out.append(static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value));
}

void pad(std::string& out, size_t alignment) {
    while (out.size() % alignment != 0) out += '\0';
}

}  // namespace

ElfBuilder& ElfBuilder::code(uint64_t vaddr, const std::vector<uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(), code_.begin() + static_cast<long>(vaddr - kText));
    return *this;
}

ElfBuilder& ElfBuilder::section(
    std::string name, uint32_t type, std::string content, uint64_t vaddr, uint32_t link) {
    sections_.push_back({std::move(name), type, vaddr, std::move(content), link});
    return *this;
}

void ElfBuilder::add_symbol(
    const std::string& name, uint64_t value, uint64_t bytes, int bind, int type) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<uint32_t>(symbol_names_.size());
    symbol.st_info = static_cast<uint8_t>(ELF64_ST_INFO(bind, type));
    symbol.st_shndx = 1;
    symbol.st_value = value;
    symbol.st_size = bytes;
    symbol_names_ += name + '\0';
    append(symbols_, symbol);
}

ElfBuilder& ElfBuilder::function(const std::string& name, uint64_t vaddr, uint64_t bytes) {
    add_symbol(name, vaddr, bytes, STB_GLOBAL, STT_FUNC);
    return *this;
}

ElfBuilder& ElfBuilder::object(const std::string& name, uint64_t vaddr, bool is_global) {
    add_symbol(name, vaddr, 8, is_global ? STB_GLOBAL : STB_LOCAL, STT_OBJECT);
    return *this;
}

ElfBuilder& ElfBuilder::thread_local_object(const std::string& name, uint64_t offset) {
    add_symbol(name, offset, 8, STB_GLOBAL, STT_TLS);
    return *this;
}

ElfBuilder& ElfBuilder::tls(uint64_t memory_bytes, uint64_t alignment) {
    tls_.p_type = PT_TLS;
    tls_.p_memsz = memory_bytes;
    tls_.p_align = alignment;
    return *this;
}

ElfBuilder& ElfBuilder::note(const std::string& provider,
                             const std::string& name,
                             const std::string& arguments,
                             uint64_t location,
                             uint64_t semaphore,
                             uint64_t base) {
    std::string descriptor;
    append(descriptor, location);
    append(descriptor, base);
    append(descriptor, semaphore);
    descriptor += provider + '\0' + name + '\0' + arguments + '\0';
    const Elf64_Nhdr head{8, static_cast<uint32_t>(descriptor.size()), 3};
    append(notes_, head);
    notes_ += std::string("stapsdt\0", 8) + descriptor;
    pad(notes_, 4);
    return *this;
}

std::vector<std::byte> ElfBuilder::build() const {
    auto sections = sections_;
    sections.insert(sections.begin(), {"", SHT_NULL, 0, ""});
    if (!notes_.empty()) sections.push_back({".note.stapsdt", SHT_NOTE, 0, notes_});
    if (symbols_.size() > sizeof(Elf64_Sym)) {
        const auto link = static_cast<uint32_t>(sections.size() + 1);
        sections.push_back({".symtab", SHT_SYMTAB, 0, symbols_, link});
        sections.push_back({".strtab", SHT_STRTAB, 0, symbol_names_});
    }
    std::string names(1, '\0');
    std::vector<uint32_t> name_offsets;
    sections.push_back({".shstrtab", SHT_STRTAB, 0, ""});
    for (const auto& entry : sections) {
        name_offsets.push_back(static_cast<uint32_t>(names.size()));
        names += entry.name + '\0';
    }
    sections.back().content = names;

    std::string file(0x200, '\0');
    file.append(code_.begin(), code_.end());
    file += std::string(kDataBytes, '\x11');
    std::vector<Elf64_Shdr> table;
    for (size_t i = 0; i < sections.size(); ++i) {
        pad(file, 8);
        Elf64_Shdr entry{};
        entry.sh_name = name_offsets[i];
        entry.sh_type = sections[i].type;
        entry.sh_addr = sections[i].vaddr;
        entry.sh_offset = file.size();
        entry.sh_size = sections[i].content.size();
        entry.sh_link = sections[i].link;
        if (entry.sh_type != SHT_NOBITS) file += sections[i].content;
        table.push_back(entry);
    }
    pad(file, 8);
    auto header = header_;
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    if (header.e_ident[EI_CLASS] == 0) header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    if (header.e_machine == 0) header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(table.size());
    header.e_shstrndx = static_cast<uint16_t>(table.size() - 1);
    for (const auto& entry : table) append(file, entry);

    Elf64_Phdr text{PT_LOAD, PF_R | PF_X, 0, kBase, kBase, 0x400, 0x400, 0x1000};
    Elf64_Phdr data{PT_LOAD, PF_R | PF_W, kDataOffset,        kData,
                    kData,   kDataBytes,  kDataBytes + 0x100, 0x1000};
    std::string front;
    append(front, header);
    append(front, text);
    append(front, data);
    append(front, tls_);
    file.replace(0, front.size(), front);
    std::vector<std::byte> bytes(file.size());
    std::memcpy(bytes.data(), file.data(), file.size());
    return bytes;
}

std::string write_file(const std::string& folder,
                       const std::string& name,
                       const std::vector<std::byte>& bytes) {
    auto path = folder + "/" + name;
    std::ofstream file(path, std::ios::binary);
    for (auto byte : bytes) file.put(static_cast<char>(byte));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
    return path;
}

TemporaryFolder::TemporaryFolder() {
    auto pattern = (std::filesystem::temp_directory_path() / "tracer-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace tracer::test
