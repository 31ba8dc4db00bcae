// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/debug_file.h"
#include "symbol/elf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
// debug file, else the names left in it under xz (Debian strips what it ships), else the functions
// that a Go program's runtime knows.
class SymbolTable {
public:
    [[nodiscard]] static Result<SymbolTable> load(const ElfFile& file,
                                                  const DebugFileSearch& search = {});

    // In order of address, then name; each (name, address) once.
    [[nodiscard]] const std::vector<FunctionSymbol>& functions() const { return functions_; }

    // Another function that is known by something else than a symbol, unless there is one of its
    // name already.
    void add_function(FunctionSymbol function);

    // Indirect functions (STT_GNU_IFUNC): of each the chooser, which a program calls once, when it
    // is started, to learn which function the name stands for. In no order.
    [[nodiscard]] const std::vector<FunctionSymbol>& choosers() const { return choosers_; }

    // Link-time address of a function or an object; nullopt when there is none or when several
    // local symbols of that name lie at different addresses.
    [[nodiscard]] std::optional<uint64_t> address_of(std::string_view name) const;

    // Offset of a thread-local symbol inside its module's storage.
    [[nodiscard]] std::optional<uint64_t> thread_local_of(std::string_view name) const;

    // Debug files and tables that were found and not used, with the reasons.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

    [[nodiscard]] bool empty() const { return functions_.empty() && addresses_.empty(); }

private:
    struct Place {
        std::string name;
        uint64_t value = 0;
        bool is_global = false;
    };
    // Searched from end to end: few files are asked for a variable, and for few of them, while an
    // index of hundreds of thousands of names would cost more than all else of a table.
    using Places = std::vector<Place>;

    [[nodiscard]] Status add_table(const ElfFile& holder,
                                   const ElfSection& section,
                                   const ElfFile& file);
    // False when there are none.
    [[nodiscard]] Result<bool> add_separate_tables(const ElfFile& file,
                                                   const DebugFileSearch& search);
    void add_go_functions(const ElfFile& file);
    static std::optional<uint64_t> find(const Places& places, std::string_view name);

    uint64_t name_bytes_ = 0;  // taken so far, against a hostile file
    std::vector<FunctionSymbol> functions_;
    std::vector<FunctionSymbol> choosers_;
    std::vector<std::string> remarks_;
    Places addresses_;
    Places thread_locals_;
};

}  // namespace tracer
