// SPDX-License-Identifier: Apache-2.0
//
// Reading of .note.stapsdt. A note is {name size, descriptor size, type 3}, the owner "stapsdt",
// and a descriptor: location, base and semaphore (addresses: 8 bytes each, 4 in ELF32), then
// provider, name and operands, each NUL-ended. When the linker's .stapsdt.base moved since the note
// was made (prelink), location and semaphore moved with it. Called by the probe compiler and by
// `tracer list`.
#include "symbol/usdt_notes.h"

#include "tracer/base/byte_cursor.h"

#include <optional>

#include <elf.h>

namespace tracer {

namespace {

constexpr std::string_view kSectionName = ".note.stapsdt";
constexpr uint32_t kNoteType = 3;
// A linked file has one; the limit keeps a hostile table of sections from naming one many times.
constexpr size_t kSectionsMax = 16;

size_t padding_to_4(size_t bytes) {
    return (4 - bytes % 4) % 4;
}

// Takes one NUL-ended text off the front of `rest`.
std::optional<std::string> take_string(std::span<const std::byte>& rest) {
    auto text = string_at(rest, 0);
    if (!text) return std::nullopt;
    rest = rest.subspan(text->size() + 1);
    return std::string(*text);
}

bool read_address(ByteCursor& cursor, bool is_32_bit, uint64_t& out) {
    if (!is_32_bit) return cursor.read(out);
    uint32_t narrow = 0;
    if (!cursor.read(narrow)) return false;
    out = narrow;
    return true;
}

std::optional<UsdtNote> parse_descriptor(std::span<const std::byte> bytes,
                                         const ElfFile& file,
                                         const ElfSection* base_section) {
    ByteCursor cursor(bytes);
    UsdtNote note;
    uint64_t base = 0;
    const bool is_32_bit = file.is_32_bit();
    if (!read_address(cursor, is_32_bit, note.location_vaddr) ||
        !read_address(cursor, is_32_bit, base) ||
        !read_address(cursor, is_32_bit, note.semaphore_vaddr)) {
        return std::nullopt;
    }
    auto rest = bytes.subspan(cursor.position());
    auto provider = take_string(rest);
    auto name = take_string(rest);
    auto arguments = take_string(rest);
    if (!provider || !name || !arguments || provider->empty() || name->empty()) {
        return std::nullopt;
    }
    note.provider = std::move(*provider);
    note.name = std::move(*name);
    note.arguments = std::move(*arguments);
    if (base != 0 && base_section != nullptr && base_section->vaddr != 0) {
        const uint64_t moved = base_section->vaddr - base;
        const uint64_t mask = is_32_bit ? UINT32_MAX : UINT64_MAX;
        note.location_vaddr = (note.location_vaddr + moved) & mask;
        if (note.semaphore_vaddr != 0) {
            note.semaphore_vaddr = (note.semaphore_vaddr + moved) & mask;
        }
    }
    auto offset = file.file_offset_of(note.location_vaddr);
    if (!offset) return std::nullopt;
    note.location_offset = *offset;
    if (note.semaphore_vaddr != 0) {
        note.semaphore_offset = file.file_offset_of(note.semaphore_vaddr).value_or(0);
        note.is_semaphore_in_bss = note.semaphore_offset == 0;
    }
    return note;
}

void parse_section(std::span<const std::byte> bytes,
                   const ElfFile& file,
                   const ElfSection* base_section,
                   UsdtNotes& out) {
    ByteCursor cursor(bytes);
    Elf64_Nhdr head{};
    // Each turn takes at least the head, so the loop ends with the bytes.
    while (cursor.read(head)) {
        auto owner = cursor.take(head.n_namesz);
        const bool has_owner = owner && cursor.skip(padding_to_4(head.n_namesz));
        auto descriptor = has_owner ? cursor.take(head.n_descsz) : std::nullopt;
        if (!descriptor) {
            ++out.malformed;
            return;
        }
        // The last note of a section may lack its padding.
        const bool is_last = !cursor.skip(padding_to_4(head.n_descsz));
        if (head.n_type == kNoteType && string_at(*owner, 0) == "stapsdt") {
            if (auto note = parse_descriptor(*descriptor, file, base_section)) {
                out.notes.push_back(std::move(*note));
            } else {
                ++out.malformed;
            }
        }
        if (is_last) return;
    }
    if (cursor.remaining() != 0) ++out.malformed;
}

}  // namespace

bool has_usdt_notes(const ElfFile& file) {
    const auto* section = file.section(kSectionName);
    return section != nullptr && section->bytes != 0 && section->type != SHT_NOBITS;
}

Result<UsdtNotes> read_usdt_notes(const ElfFile& file) {
    UsdtNotes result;
    const auto* base_section = file.section(".stapsdt.base");
    size_t sections = 0;
    for (const auto& section : file.sections()) {
        if (section.name != kSectionName || ++sections > kSectionsMax) continue;
        TR_ASSIGN(const auto bytes, file.read_section(section));
        parse_section(bytes, file, base_section, result);
    }
    return result;
}

}  // namespace tracer
