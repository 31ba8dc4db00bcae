// SPDX-License-Identifier: Apache-2.0
#pragma once

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

// The defined symbols of a file: .symtab, .dynsym, and .symtab of its separate debug file when that
// is installed (Debian strips what it ships).
class SymbolTable {
public:
    [[nodiscard]] static Result<SymbolTable> load(const ElfFile& file);

    // In order of address, then name; each (name, address) once.
    [[nodiscard]] const std::vector<FunctionSymbol>& functions() const { return functions_; }

    // Link-time address of a function or an object; nullopt when there is none or when several
    // local symbols of that name lie at different addresses.
    [[nodiscard]] std::optional<uint64_t> address_of(std::string_view name) const;

    // Offset of a thread-local symbol inside its module's storage.
    [[nodiscard]] std::optional<uint64_t> thread_local_of(std::string_view name) const;

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
    static void add_place(Places& places, const std::string& name, uint64_t value, bool is_global);
    static std::optional<uint64_t> find(const Places& places, std::string_view name);

    uint64_t name_bytes_ = 0;  // taken so far, against a hostile file
    std::vector<FunctionSymbol> functions_;
    Places addresses_;
    Places thread_locals_;
};

// The separate debug file of a build-id as Debian installs it; empty for no build-id.
[[nodiscard]] std::string debug_file_path(std::string_view build_id);

}  // namespace tracer
