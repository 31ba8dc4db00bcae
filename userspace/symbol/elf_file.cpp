// SPDX-License-Identifier: Apache-2.0
//
// Opening of ELF files: headers, segments, sections, the dynamic table, the build-id.
//
// The tables are read by hand with a checked cursor (System V gABI, chapters 4 and 5): any process
// on the machine may present a hostile file to a tracer that runs as root, and only headers are
// needed here. Nothing is allocated for a count before the file was found to hold that many.
// Called by the probe compiler and the library search.
#include "symbol/elf_file.h"

#include "symbol/elf_tables.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

namespace tracer {

namespace {

// Largest section read whole: symbol and string tables of the largest browsers stay below this.
constexpr uint64_t kSectionBytesMax = 1ull << 30;
constexpr uint64_t kInterpreterBytesMax = 4096;
constexpr uint64_t kNoteBytesMax = 1u << 20;
constexpr size_t kDynamicEntriesMax = 65536;
constexpr size_t kNoteSegmentsMax = 16;
constexpr size_t kSectionNameBytesMax = 256;
// Longer texts are no names: without a limit, many entries that share one long text would make us
// read it over and over.
constexpr size_t kStringBytesMax = 16384;

uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace

struct ElfFile::Header {
    Elf64_Ehdr raw{};
    uint64_t section_count = 0;
    uint64_t segment_count = 0;
    uint64_t section_names_index = 0;
};

std::optional<std::string_view> string_at(std::span<const std::byte> table, uint64_t offset) {
    if (offset >= table.size()) return std::nullopt;
    auto rest = table.subspan(offset).first(std::min(table.size() - offset, kStringBytesMax));
    const auto* end = std::memchr(rest.data(), 0, rest.size());
    if (end == nullptr) return std::nullopt;
    const auto length = static_cast<size_t>(static_cast<const std::byte*>(end) - rest.data());
    // Characters may alias any object, so this view of the table's bytes is well defined.
    return std::string_view(static_cast<const char*>(static_cast<const void*>(rest.data())),
                            length);
}

Result<ElfFile> ElfFile::open(const std::string& path, ElfScope scope) {
    TR_ASSIGN(auto bytes, FileBytes::open(path));
    return from_bytes(std::move(bytes), scope);
}

Result<ElfFile> ElfFile::from_bytes(FileBytes bytes, ElfScope scope) {
    ElfFile file(std::move(bytes));
    TR_ASSIGN(const auto header, file.read_header(scope));
    file.is_fixed_address_ = header.raw.e_type == ET_EXEC;
    TR_TRY(file.read_segments(header));
    TR_TRY(file.read_sections(header));
    return file;
}

std::string_view ElfFile::machine_name() const {
    switch (machine_) {
        case ElfMachine::x86_64:
            return is_32_bit_ ? "x32" : "x86-64";
        case ElfMachine::i386:
            return "i386";
        case ElfMachine::aarch64:
            return "aarch64";
    }
    return "";
}

Status ElfFile::read_class() {
    const auto& name = bytes_.name();
    TR_ASSIGN(const auto start, bytes_.read(0, std::min<uint64_t>(bytes_.size(), EI_NIDENT)));
    if (start.size() < SELFMAG || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) {
        return fail(ErrorCode::bad_input, fmt::format("{} is not an ELF file", name));
    }
    if (start.size() < EI_NIDENT || bytes_.size() < sizeof(Elf32_Ehdr)) {
        return fail(ErrorCode::bad_input, fmt::format("{} is cut short", name));
    }
    const auto file_class = static_cast<uint8_t>(start[EI_CLASS]);
    const auto encoding = static_cast<uint8_t>(start[EI_DATA]);
    if ((file_class != ELFCLASS32 && file_class != ELFCLASS64) || encoding != ELFDATA2LSB) {
        return fail(ErrorCode::bad_input, fmt::format("{}: not a little-endian ELF file", name));
    }
    is_32_bit_ = file_class == ELFCLASS32;
    return {};
}

Status ElfFile::take_machine(uint16_t number, ElfScope scope) {
    const bool is_known = number == EM_X86_64 || (number == EM_386 && is_32_bit_) ||
                          (number == EM_AARCH64 && !is_32_bit_);
    if (!is_known) {
        return fail(
            ErrorCode::bad_input,
            fmt::format("{}: made for another machine (ELF machine {}), only x86-64 is supported",
                        name(), number));
    }
    if (number == EM_386) machine_ = ElfMachine::i386;
    if (number == EM_AARCH64) machine_ = ElfMachine::aarch64;
    if (scope == ElfScope::any || is_native()) return {};
    return fail(ErrorCode::bad_input,
                fmt::format("{}: made for another machine ({}), only x86-64 is supported", name(),
                            machine_name()),
                "its USDT probes can be shown: tracer list FILE");
}

Result<ElfFile::Header> ElfFile::read_header(ElfScope scope) {
    TR_TRY(read_class());
    Header header;
    TR_ASSIGN(header.raw, read_elf_header(bytes_, is_32_bit_));
    TR_TRY(take_machine(header.raw.e_machine, scope));
    if (header.raw.e_type != ET_EXEC && header.raw.e_type != ET_DYN) {
        return fail(
            ErrorCode::bad_input,
            fmt::format("{}: neither a program nor a shared library (an object or core file)",
                        name()));
    }
    // gABI: counts that do not fit the header are in section 0.
    header.segment_count = header.raw.e_phnum;
    header.section_count = header.raw.e_shnum;
    header.section_names_index = header.raw.e_shstrndx;
    if (header.raw.e_shoff != 0 && header.raw.e_shentsize == section_header_bytes(is_32_bit_)) {
        TR_ASSIGN(const auto first,
                  read_section_headers(bytes_, is_32_bit_, header.raw.e_shoff, 1));
        if (header.raw.e_shnum == 0) header.section_count = first[0].sh_size;
        if (header.raw.e_shstrndx == SHN_XINDEX) header.section_names_index = first[0].sh_link;
        if (header.raw.e_phnum == PN_XNUM) header.segment_count = first[0].sh_info;
    } else {
        header.section_count = 0;
    }
    return header;
}

Status ElfFile::read_segments(const Header& header) {
    if (header.segment_count == 0) return {};
    if (header.raw.e_phentsize != program_header_bytes(is_32_bit_)) {
        return fail(ErrorCode::bad_input,
                    fmt::format("{} is malformed: program headers of {} bytes", name(),
                                header.raw.e_phentsize));
    }
    TR_ASSIGN(const auto table,
              read_program_headers(bytes_, is_32_bit_, header.raw.e_phoff, header.segment_count));
    for (const auto& entry : table) {
        const std::pair<uint64_t, uint64_t> place{entry.p_offset, entry.p_filesz};
        switch (entry.p_type) {
            case PT_LOAD:
                segments_.push_back({entry.p_vaddr, std::max(entry.p_memsz, entry.p_filesz),
                                     entry.p_offset, entry.p_filesz, (entry.p_flags & PF_X) != 0});
                break;
            case PT_INTERP: {
                TR_ASSIGN(auto text, bytes_.read(entry.p_offset,
                                                 std::min(entry.p_filesz, kInterpreterBytesMax)));
                interpreter_ = std::string(string_at(text, 0).value_or(""));
                break;
            }
            case PT_TLS:
                // An alignment that is no power of two would be refused by the kernel's loader.
                if ((entry.p_align & (entry.p_align - 1)) == 0) {
                    tls_ = ElfTls{entry.p_memsz, std::max<uint64_t>(entry.p_align, 1)};
                }
                break;
            case PT_DYNAMIC:
                dynamic_ = place;
                break;
            case PT_NOTE:
                if (notes_.size() < kNoteSegmentsMax) notes_.push_back(place);
                break;
            default:
                break;
        }
    }
    return {};
}

Status ElfFile::read_sections(const Header& header) {
    if (header.section_count == 0) return {};
    TR_ASSIGN(const auto table,
              read_section_headers(bytes_, is_32_bit_, header.raw.e_shoff, header.section_count));
    std::vector<std::byte> names;
    if (header.section_names_index < table.size() &&
        table[header.section_names_index].sh_type == SHT_STRTAB) {
        const auto& entry = table[header.section_names_index];
        TR_ASSIGN(names, bytes_.read(entry.sh_offset, entry.sh_size));
    }
    sections_.reserve(table.size());
    for (const auto& entry : table) {
        const auto text = string_at(names, entry.sh_name).value_or("");
        sections_.push_back({std::string(text.substr(0, kSectionNameBytesMax)), entry.sh_type,
                             entry.sh_addr, entry.sh_offset, entry.sh_size, entry.sh_entsize,
                             entry.sh_link});
    }
    return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
    auto found = std::find_if(sections_.begin(), sections_.end(),
                              [&](const ElfSection& section) { return section.name == name; });
    return found == sections_.end() ? nullptr : &*found;
}

std::optional<uint64_t> ElfFile::code_address_of(uint64_t file_offset) const {
    for (const auto& segment : segments_) {
        if (!segment.is_executable || file_offset < segment.file_offset) continue;
        const uint64_t inside = file_offset - segment.file_offset;
        if (inside < segment.file_bytes) return segment.vaddr + inside;
    }
    return std::nullopt;
}

std::optional<uint64_t> ElfFile::file_offset_of(uint64_t vaddr) const {
    for (const auto& segment : segments_) {
        if (vaddr < segment.vaddr || vaddr - segment.vaddr >= segment.file_bytes) continue;
        const uint64_t inside = vaddr - segment.vaddr;
        if (segment.file_offset > bytes_.size() || inside >= bytes_.size() - segment.file_offset) {
            return std::nullopt;
        }
        return segment.file_offset + inside;
    }
    return std::nullopt;
}

bool ElfFile::is_in_bss(uint64_t vaddr) const {
    return std::any_of(segments_.begin(), segments_.end(), [&](const ElfSegment& segment) {
        return vaddr >= segment.vaddr && vaddr - segment.vaddr >= segment.file_bytes &&
               vaddr - segment.vaddr < segment.memory_bytes;
    });
}

std::string ElfFile::build_id() const {
    for (const auto& [offset, bytes] : notes_) {
        auto content = bytes_.read(offset, std::min(bytes, kNoteBytesMax));
        if (!content) continue;
        ByteCursor cursor(*content);
        Elf64_Nhdr note{};
        // Each turn moves on by at least the note's head, so the loop ends with the bytes.
        while (cursor.read(note)) {
            auto owner = cursor.take(align_up(note.n_namesz, 4));
            if (!owner) break;
            auto value = cursor.take(note.n_descsz);
            if (!value) break;
            if (note.n_type == NT_GNU_BUILD_ID && string_at(*owner, 0) == "GNU") {
                std::string text;
                for (auto byte : *value) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
                return text;
            }
            const uint64_t padding = align_up(note.n_descsz, 4) - note.n_descsz;
            if (!cursor.skip(padding)) break;
        }
    }
    return {};
}

Result<ElfDynamic> ElfFile::dynamic() const {
    ElfDynamic result;
    if (!dynamic_) return result;
    const uint64_t count =
        std::min<uint64_t>(dynamic_->second / dynamic_entry_bytes(is_32_bit_), kDynamicEntriesMax);
    TR_ASSIGN(auto table, read_dynamic_entries(bytes_, is_32_bit_, dynamic_->first, count));
    auto end = std::find_if(table.begin(), table.end(),
                            [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
    table.erase(end, table.end());
    uint64_t strings_vaddr = 0;
    uint64_t strings_bytes = 0;
    for (const auto& entry : table) {
        if (entry.d_tag == DT_STRTAB) strings_vaddr = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ) strings_bytes = entry.d_un.d_val;
        if (entry.d_tag == DT_FLAGS_1) result.is_executable_pie = entry.d_un.d_val & DF_1_PIE;
    }
    const auto strings_offset = file_offset_of(strings_vaddr);
    if (!strings_offset || strings_bytes > kSectionBytesMax) return result;
    TR_ASSIGN(const auto strings, bytes_.read(*strings_offset, strings_bytes));
    auto text_of = [&](const Elf64_Dyn& entry) {
        return std::string(string_at(strings, entry.d_un.d_val).value_or(""));
    };
    std::string rpath;
    for (const auto& entry : table) {
        if (entry.d_tag == DT_NEEDED) result.needed.push_back(text_of(entry));
        if (entry.d_tag == DT_SONAME) result.soname = text_of(entry);
        if (entry.d_tag == DT_RUNPATH) result.runpath = text_of(entry);
        if (entry.d_tag == DT_RPATH) rpath = text_of(entry);
    }
    // ld.so(8): DT_RPATH counts only where there is no DT_RUNPATH.
    if (result.runpath.empty() && !rpath.empty()) {
        result.runpath = std::move(rpath);
        result.is_rpath = true;
    }
    return result;
}

bool ElfFile::is_go() const {
    return section(".note.go.buildid") != nullptr || section(".gopclntab") != nullptr ||
           section(".data.rel.ro.gopclntab") != nullptr;
}

bool ElfFile::is_debug_only() const {
    const auto* text = section(".text");
    return text != nullptr && text->type == SHT_NOBITS;
}

Result<std::vector<std::byte>> ElfFile::read_section(const ElfSection& section) const {
    if (section.type == SHT_NOBITS) return std::vector<std::byte>{};
    if (section.bytes > kSectionBytesMax) {
        return fail(ErrorCode::limit,
                    fmt::format("{}: section {} of {} bytes is larger than {} supports", name(),
                                section.name, section.bytes, kSectionBytesMax));
    }
    return bytes_.read(section.file_offset, section.bytes);
}

}  // namespace tracer
