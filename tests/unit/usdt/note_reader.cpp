// SPDX-License-Identifier: Apache-2.0
//
// Reads section headers and USDT notes by offset. Relies on <elf.h> for the layouts; every read is
// checked. Used by usdt_test.cpp.
#include "note_reader.h"

#include "tracer/base/byte_cursor.h"

#include <optional>

#include <elf.h>

namespace tracer::test {
namespace {

using Bytes = std::span<const std::byte>;

template <typename T>
std::optional<T> read_at(Bytes file, uint64_t offset) {
    if (offset > file.size()) return std::nullopt;
    return ByteCursor(file.subspan(offset)).read<T>();
}

std::optional<std::string> read_text(ByteCursor& cursor) {
    std::string text;
    for (;;) {
        const auto c = cursor.read<char>();
        if (!c) return std::nullopt;
        if (*c == '\0') return text;
        text.push_back(*c);
    }
}

struct Section {
    std::string name;
    Elf64_Shdr header;
};

Result<std::vector<Section>> read_sections(Bytes file) {
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) {
        return fail(ErrorCode::bad_input, "not an ELF64 file");
    }
    const auto names = read_at<Elf64_Shdr>(
        file, header->e_shoff + uint64_t{header->e_shstrndx} * sizeof(Elf64_Shdr));
    if (!names) return fail(ErrorCode::bad_input, "no section names");
    std::vector<Section> sections;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const auto section =
            read_at<Elf64_Shdr>(file, header->e_shoff + uint64_t{i} * sizeof(Elf64_Shdr));
        if (!section || names->sh_offset + section->sh_name > file.size()) {
            return fail(ErrorCode::bad_input, "a section outside of the file");
        }
        ByteCursor cursor(file.subspan(names->sh_offset + section->sh_name));
        sections.push_back({read_text(cursor).value_or(""), *section});
    }
    return sections;
}

// The section in memory at `address`; null: none.
const Section* section_at(const std::vector<Section>& sections, uint64_t address) {
    for (const Section& section : sections) {
        const bool loaded = (section.header.sh_flags & SHF_ALLOC) != 0;
        if (loaded && address >= section.header.sh_addr &&
            address - section.header.sh_addr < section.header.sh_size) {
            return &section;
        }
    }
    return nullptr;
}

void resolve(Bytes file, const std::vector<Section>& sections, UsdtNote& note) {
    if (const Section* site = section_at(sections, note.site)) {
        note.site_section = site->name;
        note.instruction =
            read_at<uint8_t>(file, site->header.sh_offset + note.site - site->header.sh_addr)
                .value_or(0);
    }
    if (const Section* base = section_at(sections, note.base)) note.base_section = base->name;
    if (const Section* semaphore = section_at(sections, note.semaphore)) {
        note.semaphore_section = semaphore->name;
        note.semaphore_in_file = semaphore->header.sh_type != SHT_NOBITS;
    }
}

std::optional<UsdtNote> read_descriptor(Bytes descriptor) {
    ByteCursor cursor(descriptor);
    UsdtNote note;
    if (!cursor.read(note.site) || !cursor.read(note.base) || !cursor.read(note.semaphore)) {
        return std::nullopt;
    }
    for (std::string* text : {&note.provider, &note.name, &note.arguments}) {
        auto value = read_text(cursor);
        if (!value) return std::nullopt;
        *text = std::move(*value);
    }
    if (cursor.remaining() != 0) return std::nullopt;
    return note;
}

size_t padded(size_t bytes) {
    return (bytes + 3) & ~size_t{3};
}

}  // namespace

Result<std::vector<UsdtNote>> read_usdt_notes(Bytes file) {
    TR_ASSIGN(const auto sections, read_sections(file));
    std::vector<UsdtNote> notes;
    for (const Section& section : sections) {
        if (section.name != ".note.stapsdt") continue;
        if (section.header.sh_offset + section.header.sh_size > file.size()) {
            return fail(ErrorCode::bad_input, "notes outside of the file");
        }
        ByteCursor cursor(file.subspan(section.header.sh_offset, section.header.sh_size));
        while (cursor.remaining() > 0) {
            const auto header = cursor.read<Elf64_Nhdr>();
            if (!header) return fail(ErrorCode::bad_input, "a cut note header");
            const auto owner = cursor.take(padded(header->n_namesz));
            const auto descriptor = cursor.take(padded(header->n_descsz));
            if (!owner || !descriptor || header->n_type != 3) {
                return fail(ErrorCode::bad_input, "a cut or foreign note");
            }
            auto note = read_descriptor(descriptor->first(header->n_descsz));
            if (!note) return fail(ErrorCode::bad_input, "a malformed descriptor");
            resolve(file, sections, *note);
            notes.push_back(std::move(*note));
        }
    }
    return notes;
}

}  // namespace tracer::test
