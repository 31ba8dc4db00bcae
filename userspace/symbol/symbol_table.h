// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/debug_file.h"
#include "symbol/elf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer {

// A function that can be probed.
struct FunctionSymbol {
    std::string name;  // without a symbol version
    uint64_t vaddr = 0;
    uint64_t bytes = 0;
    uint64_t file_offset = 0;
};

// The defined symbols of a file: .symtab, .dynsym, and for a stripped one .symtab of its separate
// debug file, else the names left in it under xz (Debian strips what it ships).
class SymbolTable {
public:
    [[nodiscard]] static Result<SymbolTable> load(const ElfFile& file,
                                                  const DebugFileSearch& search = {});

    // In order of address, then name; each (name, address) once.
    [[nodiscard]] const std::vector<FunctionSymbol>& functions() const { return functions_; }

    // Link-time address of a function or an object; nullopt when there is none or when several
    // local symbols of that name lie at different addresses.
    [[nodiscard]] std::optional<uint64_t> address_of(std::string_view name) const;

    // Offset of a thread-local symbol inside its module's storage.
    [[nodiscard]] std::optional<uint64_t> thread_local_of(std::string_view name) const;

    // Debug files that were found and not used, with the reasons.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

    [[nodiscard]] bool empty() const { return functions_.empty() && addresses_.empty(); }

private:
    struct Place {
        uint64_t value = 0;
        bool is_global = false;
        bool is_ambiguous = false;
    };
    using Places = std::unordered_map<std::string, Place>;

    [[nodiscard]] Status add_table(const ElfFile& holder,
                                   const ElfSection& section,
                                   const ElfFile& file);
    [[nodiscard]] Status add_separate_tables(const ElfFile& file, const DebugFileSearch& search);
    static void add_place(Places& places, const std::string& name, uint64_t value, bool is_global);
    static std::optional<uint64_t> find(const Places& places, std::string_view name);

    uint64_t name_bytes_ = 0;  // taken so far, against a hostile file
    std::vector<FunctionSymbol> functions_;
    std::vector<std::string> remarks_;
    Places addresses_;
    Places thread_locals_;
};

}  // namespace tracer
