// SPDX-License-Identifier: Apache-2.0
//
// Answers about one file. Called by pack_match.cpp for every file that a traced process has mapped,
// with -a those of the whole system: so nothing is read that is not asked for, and symbols are
// looked through where they lie.
#include "packs/file_traits.h"

#include "packs/file_search.h"
#include "probe/target_files.h"
#include "probe/wildcard.h"
#include "symbol/debug_file.h"
#include "symbol/usdt_notes.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

namespace tracer {

namespace {

using Bytes = std::vector<std::byte>;

// A real file has one .symtab and one .dynsym.
constexpr size_t kTablesMax = 4;

// The longest part of a pattern that stands for itself.
std::string_view longest_literal(std::string_view pattern) {
    std::string_view longest;
    while (!pattern.empty()) {
        const auto part = pattern.substr(0, pattern.find_first_of("*?"));
        if (part.size() > longest.size()) longest = part;
        pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
    }
    return longest;
}

bool is_definition(const Elf64_Sym& symbol) {
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF && type != STT_SECTION && type != STT_FILE;
}

}  // namespace

std::string_view FileTraits::name() const {
    return base_name(file_.file().shown_path);
}

bool FileTraits::has_soname(std::string_view pattern) {
    if (!soname_) {
        auto dynamic = file_.elf().dynamic();
        soname_ = dynamic ? std::move(dynamic->soname) : std::string();
        if (soname_->empty()) soname_ = std::string(name());
    }
    return wildcard_matches(pattern, *soname_);
}

bool FileTraits::has_section(std::string_view name) const {
    return file_.elf().section(name) != nullptr;
}

bool FileTraits::has_build_id(std::string_view build_id) {
    if (!build_id_) build_id_ = file_.elf().build_id();
    return *build_id_ == build_id;
}

bool FileTraits::has_provider(std::string_view pattern) {
    if (!providers_) {
        providers_.emplace();
        const auto notes =
            has_usdt_notes(file_.elf()) ? file_.notes() : Result<const UsdtNotes*>(nullptr);
        if (notes && *notes != nullptr) {
            for (const auto& note : (*notes)->notes) providers_->insert(note.provider);
        }
    }
    return std::any_of(providers_->begin(), providers_->end(), [&](const std::string& provider) {
        return wildcard_matches(pattern, provider);
    });
}

bool FileTraits::defines(std::string_view pattern) {
    if (!symbols_) read_names();
    return std::any_of(symbols_->begin(), symbols_->end(),
                       [&](Symbols& symbols) { return defines(symbols, pattern); });
}

bool FileTraits::holds_code(std::span<const std::byte> bytes) const {
    return find_code(file_.elf(), bytes).has_value();
}

void FileTraits::read_names() {
    symbols_.emplace();
    const auto& sections = file_.elf().sections();
    const bool has_full_table =
        std::any_of(sections.begin(), sections.end(),
                    [](const ElfSection& section) { return section.type == SHT_SYMTAB; });
    add_names(file_.elf());
    if (has_full_table) return;
    debug_file_ = find_debug_file(file_.elf(), {}).file;
    if (!debug_file_) debug_file_ = read_mini_debug_info(file_.elf());
    if (debug_file_) add_names(*debug_file_);
}

void FileTraits::add_names(const ElfFile& holder) {
    const auto& sections = holder.sections();
    for (const auto& section : sections) {
        if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
        if (section.link >= sections.size() || symbols_->size() >= kTablesMax) continue;
        auto names = holder.read_section(sections[section.link]);
        if (names) symbols_->push_back({&holder, section, std::move(*names), std::nullopt});
    }
}

bool FileTraits::defines(Symbols& symbols, std::string_view pattern) {
    // Most files lack the name altogether, and one look over the names tells. string_view::find
    // would stop at each '_' that begins a mangled name.
    const auto literal = longest_literal(pattern);
    if (::memmem(symbols.names.data(), symbols.names.size(), literal.data(), literal.size()) ==
        nullptr) {
        return false;
    }
    if (!symbols.entries) {
        symbols.entries = symbols.holder->read_section(symbols.section).value_or(Bytes{});
    }
    ByteCursor cursor(*symbols.entries);
    Elf64_Sym entry{};
    while (cursor.read(entry)) {
        if (!is_definition(entry)) continue;
        const auto text = string_at(symbols.names, entry.st_name);
        // Behind '@' stands a symbol's version.
        if (text && wildcard_matches(pattern, text->substr(0, text->find('@')))) return true;
    }
    return false;
}

}  // namespace tracer
