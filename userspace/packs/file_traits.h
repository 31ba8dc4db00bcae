// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_files.h"
#include "symbol/elf_file.h"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// What packs ask about a file, each answer read once and only when it is first asked for. Patterns
// may hold * and ?. What cannot be read is not there. Borrows the file; not thread safe.
class FileTraits {
public:
    explicit FileTraits(ProbeFile& file) : file_(file) {}

    [[nodiscard]] std::string_view name() const;  // without its folder
    [[nodiscard]] bool has_soname(std::string_view pattern);
    [[nodiscard]] bool has_section(std::string_view name) const;
    [[nodiscard]] bool has_build_id(std::string_view build_id);
    [[nodiscard]] bool has_provider(std::string_view pattern);
    // Of any symbol table: the file's own, or those of its debug file if there is one on this
    // machine. Servers are never asked.
    [[nodiscard]] bool defines(std::string_view pattern);
    // Once in all of its code.
    [[nodiscard]] bool holds_code(std::span<const std::byte> bytes) const;

private:
    // A symbol table, and the bytes of its names. Far cheaper than a SymbolTable, which makes a
    // string of each.
    struct Symbols {
        const ElfFile* holder = nullptr;
        ElfSection section;
        std::vector<std::byte> names;
        std::optional<std::vector<std::byte>> entries;  // read when a name may be among them
    };
    void read_names();
    void add_names(const ElfFile& holder);
    static bool defines(Symbols& symbols, std::string_view pattern);

    ProbeFile& file_;
    std::optional<std::string> soname_;
    std::optional<std::string> build_id_;
    std::optional<std::set<std::string>> providers_;
    std::optional<ElfFile> debug_file_;
    std::optional<std::vector<Symbols>> symbols_;
};

}  // namespace tracer
