// SPDX-License-Identifier: Apache-2.0
//
// Assembles ELF files of either class from the structures of <elf.h>; used by tests of what
// `tracer list` shows of other machines, and for seeds of fuzzing.
#include "unit/symbol/foreign_elf.h"

#include <cstring>
#include <string_view>

#include <elf.h>

namespace tracer::test {

namespace {

struct Types32 {
    using Header = Elf32_Ehdr;
    using Segment = Elf32_Phdr;
    using Section = Elf32_Shdr;
};

struct Types64 {
    using Header = Elf64_Ehdr;
    using Segment = Elf64_Phdr;
    using Section = Elf64_Shdr;
};

template <typename T>
void append(std::string& out, const T& value) {
    out.append(static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value));
}

constexpr std::string_view kNames{"\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0", 39};
constexpr uint32_t kNoteName = 1;
constexpr uint32_t kBaseName = 15;
constexpr uint32_t kNamesName = 29;

}  // namespace

ForeignElf& ForeignElf::note(const std::string& name,
                             const std::string& arguments,
                             uint32_t location,
                             uint32_t semaphore,
                             uint32_t base) {
    std::string descriptor;
    for (const uint32_t address : {location, base, semaphore}) {
        append(descriptor, address);
        if (!is_32_bit_) append(descriptor, uint32_t{0});
    }
    descriptor += std::string("app\0", 4) + name + '\0' + arguments + '\0';
    append(notes_, uint32_t{8});
    append(notes_, static_cast<uint32_t>(descriptor.size()));
    append(notes_, uint32_t{3});
    notes_ += std::string("stapsdt\0", 8) + descriptor;
    while (notes_.size() % 4 != 0) notes_ += '\0';
    return *this;
}

ForeignElf& ForeignElf::base_section(uint32_t vaddr) {
    base_vaddr_ = vaddr;
    return *this;
}

template <typename Types>
std::vector<std::byte> ForeignElf::build_class() const {
    typename Types::Header header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = is_32_bit_ ? ELFCLASS32 : ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = machine_;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_phoff = sizeof(header);
    header.e_phentsize = sizeof(typename Types::Segment);
    header.e_phnum = 1;
    header.e_shentsize = sizeof(typename Types::Section);
    header.e_shnum = 4;
    header.e_shstrndx = 3;
    header.e_shoff = kBytes + static_cast<uint32_t>(notes_.size() + kNames.size());

    typename Types::Segment segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_vaddr = kBase;
    segment.p_filesz = kBytes;
    segment.p_memsz = 2 * kBytes;

    typename Types::Section notes{};
    notes.sh_name = kNoteName;
    notes.sh_type = SHT_NOTE;
    notes.sh_offset = kBytes;
    notes.sh_size = static_cast<uint32_t>(notes_.size());
    typename Types::Section base{};
    base.sh_name = kBaseName;
    base.sh_type = SHT_PROGBITS;
    base.sh_addr = base_vaddr_;
    typename Types::Section names{};
    names.sh_name = kNamesName;
    names.sh_type = SHT_STRTAB;
    names.sh_offset = kBytes + static_cast<uint32_t>(notes_.size());
    names.sh_size = kNames.size();

    std::string file;
    append(file, header);
    append(file, segment);
    file.resize(kBytes, '\0');
    file += notes_;
    file += kNames;
    append(file, typename Types::Section{});
    append(file, notes);
    append(file, base);
    append(file, names);
    std::vector<std::byte> bytes(file.size());
    std::memcpy(bytes.data(), file.data(), file.size());
    return bytes;
}

std::vector<std::byte> ForeignElf::build() const {
    return is_32_bit_ ? build_class<Types32>() : build_class<Types64>();
}

}  // namespace tracer::test
