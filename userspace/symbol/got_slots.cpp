// SPDX-License-Identifier: Apache-2.0
//
// Reads the R_X86_64_GLOB_DAT relocations of a file (psABI for x86-64, 4.4). For operands of USDT
// notes that name a slot of the global offset table: gcc writes "8@f@GOTPCREL(%rip)" where a
// program passes the address of something defined elsewhere. Untrusted input. Called by ProbeFile.
#include "symbol/got_slots.h"

#include "tracer/base/byte_cursor.h"

#include <cstring>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

namespace tracer {

namespace {

// A linked file has two, .rela.dyn and .rela.plt.
constexpr size_t kRelocationSectionsMax = 8;
// All names together; the largest libraries have some thousand slots.
constexpr uint64_t kNameBytesMax = 64ull << 20;

std::optional<Elf64_Sym> symbol_at(std::span<const std::byte> symbols, uint64_t index) {
    if (index >= symbols.size() / sizeof(Elf64_Sym)) return std::nullopt;
    ByteCursor cursor(symbols.subspan(index * sizeof(Elf64_Sym)));
    return cursor.read<Elf64_Sym>();
}

}  // namespace

Result<GotSlots> GotSlots::load(const ElfFile& file) {
    GotSlots slots;
    size_t sections = 0;
    for (const auto& section : file.sections()) {
        if (section.type != SHT_RELA || !file.is_native()) continue;
        if (++sections > kRelocationSectionsMax) break;
        TR_TRY(slots.add_relocations(file, section));
    }
    return slots;
}

Status GotSlots::add_relocations(const ElfFile& file, const ElfSection& section) {
    const auto& sections = file.sections();
    if (section.link >= sections.size()) return {};
    const auto& symbol_section = sections[section.link];
    if (symbol_section.type != SHT_DYNSYM || symbol_section.link >= sections.size()) return {};
    TR_ASSIGN(const auto symbols, file.read_section(symbol_section));
    TR_ASSIGN(const auto names, file.read_section(sections[symbol_section.link]));
    TR_ASSIGN(const auto entries, file.read_section(section));
    ByteCursor cursor(entries);
    Elf64_Rela entry{};
    while (cursor.read(entry)) {
        if (ELF64_R_TYPE(entry.r_info) != R_X86_64_GLOB_DAT) continue;
        const auto symbol = symbol_at(symbols, ELF64_R_SYM(entry.r_info));
        if (!symbol) continue;
        const auto name = string_at(names, symbol->st_name);
        if (!name || name->empty()) continue;
        name_bytes_ += name->size();
        if (name_bytes_ > kNameBytesMax) {
            return fail(ErrorCode::limit,
                        fmt::format("{} has more relocated names than supported", file.name()));
        }
        slots_.try_emplace(std::string(*name), entry.r_offset);
    }
    return {};
}

std::optional<uint64_t> GotSlots::slot_of(std::string_view name) const {
    auto found = slots_.find(std::string(name));
    if (found == slots_.end()) return std::nullopt;
    return found->second;
}

}  // namespace tracer
