// SPDX-License-Identifier: Apache-2.0
//
// What a chooser chose. The dynamic linker calls it for each R_X86_64_IRELATIVE relocation (psABI
// for x86-64, 4.4.1), whose addend is the chooser's address, and writes the answer where the
// relocation says: the library that has the function calls it through such a slot itself. The file
// and the process's memory are untrusted: the answer counts only if a function begins there.
//
// Called by the compiler of function probes.
#include "probe/indirect_function.h"

#include "symbol/frame_table.h"
#include "symbol/process_maps.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

#include <elf.h>
#include <fmt/format.h>

namespace tracer {

namespace {

const FunctionSymbol* chooser_of(const SymbolTable& symbols, std::string_view name) {
    const auto found = std::ranges::find(symbols.choosers(), name, &FunctionSymbol::name);
    return found == symbols.choosers().end() ? nullptr : &*found;
}

// Link-time address of the slot; 0: there is none.
uint64_t slot_of(const ElfFile& elf, uint64_t chooser) {
    for (const auto& section : elf.sections()) {
        if (section.type != SHT_RELA) continue;
        const auto entries = elf.read_section(section);
        if (!entries) continue;
        ByteCursor cursor(*entries);
        Elf64_Rela entry{};
        while (cursor.read(entry)) {
            if (ELF64_R_TYPE(entry.r_info) == R_X86_64_IRELATIVE &&
                static_cast<uint64_t>(entry.r_addend) == chooser) {
                return entry.r_offset;
            }
        }
    }
    return 0;
}

// "/proc/PID/..." -> PID; 0: another path.
pid_t process_of(std::string_view path) {
    constexpr std::string_view kProc = "/proc/";
    if (!path.starts_with(kProc)) return 0;
    pid_t pid = 0;
    const auto digits = path.substr(kProc.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
    return error == std::errc{} && end != digits.data() ? pid : 0;
}

// What a process adds to the file's link-time addresses; nullopt: it does not run the file.
std::optional<uint64_t> load_bias(const ElfFile& elf, pid_t pid) {
    const auto mappings = read_process_maps(pid);
    if (!mappings) return std::nullopt;
    for (const auto& mapping : *mappings) {
        if (!mapping.is_executable || mapping.inode != elf.identity().inode) continue;
        for (const auto& segment : elf.segments()) {
            const bool holds = segment.is_executable &&
                               mapping.file_offset >= segment.file_offset &&
                               mapping.file_offset - segment.file_offset < segment.file_bytes;
            // Mappings begin at a page, segments need not.
            const uint64_t page = segment.file_offset & ~uint64_t{4095};
            const bool is_first_page = segment.is_executable && mapping.file_offset == page;
            if (!holds && !is_first_page) continue;
            return mapping.start - (segment.vaddr + mapping.file_offset - segment.file_offset);
        }
    }
    return std::nullopt;
}

std::optional<uint64_t> read_word(pid_t pid, uint64_t address) {
    const UniqueFd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
    std::array<std::byte, 8> bytes{};
    const ssize_t got = memory.valid() ? ::pread(memory.get(), bytes.data(), bytes.size(),
                                                 static_cast<off_t>(address))
                                       : -1;
    if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    return ByteCursor(bytes).read<uint64_t>();
}

// The choices are local symbols: a stripped file knows them by its unwind table alone.
std::optional<FunctionSymbol> function_at(const ElfFile& elf,
                                          const SymbolTable& symbols,
                                          uint64_t vaddr) {
    const auto found =
        std::ranges::lower_bound(symbols.functions(), vaddr, {}, &FunctionSymbol::vaddr);
    if (found != symbols.functions().end() && found->vaddr == vaddr) return *found;
    const auto range = frame_range_at(elf, vaddr);
    const auto offset = elf.file_offset_of(vaddr);
    if (!range || range->vaddr != vaddr || !offset) return std::nullopt;
    return FunctionSymbol{fmt::format("{:#x}", vaddr), vaddr, range->bytes, *offset};
}

}  // namespace

bool is_indirect_function(const SymbolTable& symbols, std::string_view name) {
    return chooser_of(symbols, name) != nullptr;
}

std::optional<FunctionSymbol> chosen_function(const ProbeFile& file,
                                              const SymbolTable& symbols,
                                              std::string_view name) {
    const auto* chooser = chooser_of(symbols, name);
    const uint64_t slot = chooser == nullptr ? 0 : slot_of(file.elf(), chooser->vaddr);
    if (slot == 0) return std::nullopt;
    for (const pid_t pid : {process_of(file.file().open_path), ::getpid()}) {
        const auto bias = pid == 0 ? std::nullopt : load_bias(file.elf(), pid);
        const auto address = bias ? read_word(pid, *bias + slot) : std::nullopt;
        if (!address) continue;
        if (auto function = function_at(file.elf(), symbols, *address - *bias)) return function;
    }
    return std::nullopt;
}

std::vector<std::string> candidates_of(const SymbolTable& symbols, std::string_view name) {
    std::vector<std::string> names;
    if (!is_indirect_function(symbols, name)) return names;
    // As glibc calls them: __NAME_avx2, __NAME_sse2_unaligned.
    const auto beginning = fmt::format("__{}_", name);
    for (const auto& function : symbols.functions()) {
        if (function.name.starts_with(beginning)) names.push_back(function.name);
    }
    return names;
}

}  // namespace tracer
