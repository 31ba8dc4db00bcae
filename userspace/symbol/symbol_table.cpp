// SPDX-License-Identifier: Apache-2.0
//
// Symbols of an ELF file, for probes by function name and for USDT operands that name a variable.
// Relies on ElfFile's checked tables. Called by the probe compiler and by `tracer list`.
#include "symbol/symbol_table.h"

#include "symbol/go_functions.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <tuple>

#include <elf.h>
#include <fmt/format.h>

namespace tracer {

namespace {

// A real file has one .symtab and one .dynsym.
constexpr size_t kTablesMax = 4;
// All names together. The largest programs with full tables stay below 200 MiB.
constexpr uint64_t kNameBytesMax = 512ull << 20;

}  // namespace

Result<SymbolTable> SymbolTable::load(const ElfFile& file, const DebugFileSearch& search) {
    SymbolTable table;
    bool has_full_table = false;
    size_t tables = 0;
    for (const auto& section : file.sections()) {
        if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
        if (++tables > kTablesMax) break;
        TR_TRY(table.add_table(file, section, file));
        has_full_table |= section.type == SHT_SYMTAB;
    }
    if (!has_full_table) {
        TR_ASSIGN(const bool is_added, table.add_separate_tables(file, search));
        if (!is_added) table.add_go_functions(file);
    }
    auto key = [](const FunctionSymbol& symbol) { return std::tie(symbol.vaddr, symbol.name); };
    auto& functions = table.functions_;
    std::sort(functions.begin(), functions.end(),
              [&](const auto& left, const auto& right) { return key(left) < key(right); });
    functions.erase(
        std::unique(functions.begin(), functions.end(),
                    [&](const auto& left, const auto& right) { return key(left) == key(right); }),
        functions.end());
    return table;
}

Result<bool> SymbolTable::add_separate_tables(const ElfFile& file, const DebugFileSearch& search) {
    auto debug = find_debug_file(file, search);
    remarks_ = std::move(debug.refused);
    // Absent or unreadable debug files leave what the file itself says.
    if (!debug.file) debug.file = read_mini_debug_info(file);
    if (!debug.file) return false;
    size_t tables = 0;
    for (const auto& section : debug.file->sections()) {
        if (section.type != SHT_SYMTAB || ++tables > kTablesMax) continue;
        TR_TRY(add_table(*debug.file, section, file));
    }
    return tables != 0;
}

void SymbolTable::add_go_functions(const ElfFile& file) {
    auto functions = read_go_functions(file);
    if (!functions) {
        // What the file says otherwise, its .dynsym, stays of use.
        remarks_.push_back(functions.error().what);
        return;
    }
    for (auto& function : *functions) {
        addresses_.push_back({function.name, function.vaddr, true});
        functions_.push_back(std::move(function));
    }
}

Status SymbolTable::add_table(const ElfFile& holder,
                              const ElfSection& section,
                              const ElfFile& file) {
    if (section.link >= holder.sections().size()) {
        return fail(ErrorCode::bad_input, fmt::format("{} is malformed: {} has no string table",
                                                      holder.name(), section.name));
    }
    TR_ASSIGN(const auto names, holder.read_section(holder.sections()[section.link]));
    TR_ASSIGN(const auto entries, holder.read_section(section));
    ByteCursor cursor(entries);
    Elf64_Sym entry{};
    while (cursor.read(entry)) {
        if (entry.st_shndx == SHN_UNDEF) continue;
        auto text = string_at(names, entry.st_name);
        if (!text || text->empty()) continue;
        name_bytes_ += text->size();
        if (name_bytes_ > kNameBytesMax) {
            return fail(ErrorCode::limit,
                        fmt::format("{} has more symbol names than supported", holder.name()));
        }
        const std::string name(text->substr(0, text->find('@')));
        if (name.empty()) continue;
        const bool is_global = ELF64_ST_BIND(entry.st_info) != STB_LOCAL;
        const auto type = ELF64_ST_TYPE(entry.st_info);
        if (type == STT_TLS) {
            thread_locals_.push_back({name, entry.st_value, is_global});
            continue;
        }
        // An STT_GNU_IFUNC symbol is the chooser, not the function: a probe there would count
        // relocations.
        if (const auto offset = file.file_offset_of(entry.st_value);
            type == STT_GNU_IFUNC && offset) {
            choosers_.push_back({name, entry.st_value, entry.st_size, *offset});
        }
        if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) continue;
        addresses_.push_back({name, entry.st_value, is_global});
        if (type != STT_FUNC) continue;
        if (auto offset = file.file_offset_of(entry.st_value)) {
            functions_.push_back({name, entry.st_value, entry.st_size, *offset});
        }
    }
    return {};
}

void SymbolTable::add_function(FunctionSymbol function) {
    const auto key = [](const FunctionSymbol& symbol) {
        return std::tie(symbol.vaddr, symbol.name);
    };
    const auto is_same = [&](const FunctionSymbol& symbol) { return symbol.name == function.name; };
    if (std::ranges::any_of(functions_, is_same)) return;
    const auto place = std::lower_bound(
        functions_.begin(), functions_.end(), function,
        [&](const auto& left, const auto& right) { return key(left) < key(right); });
    functions_.insert(place, std::move(function));
}

std::optional<uint64_t> SymbolTable::find(const Places& places, std::string_view name) {
    const Place* found = nullptr;
    bool is_ambiguous = false;
    for (const Place& place : places) {
        if (place.name != name) continue;
        // A global symbol hides local ones of its name.
        if (found == nullptr || (place.is_global && !found->is_global)) {
            found = &place;
            is_ambiguous = false;
        } else if (place.is_global == found->is_global && place.value != found->value) {
            is_ambiguous = true;
        }
    }
    if (found == nullptr || is_ambiguous) return std::nullopt;
    return found->value;
}

std::optional<uint64_t> SymbolTable::address_of(std::string_view name) const {
    return find(addresses_, name);
}

std::optional<uint64_t> SymbolTable::thread_local_of(std::string_view name) const {
    return find(thread_locals_, name);
}

}  // namespace tracer
