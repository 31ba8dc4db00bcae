// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracer {

// Slots of a file's global offset table that the dynamic linker fills with the addresses of
// symbols, by the symbol's name. Native files only.
class GotSlots {
public:
    [[nodiscard]] static Result<GotSlots> load(const ElfFile& file);

    // Link-time address of the symbol's slot.
    [[nodiscard]] std::optional<uint64_t> slot_of(std::string_view name) const;

private:
    [[nodiscard]] Status add_relocations(const ElfFile& file, const ElfSection& section);

    std::unordered_map<std::string, uint64_t> slots_;
    uint64_t name_bytes_ = 0;
};

}  // namespace tracer
