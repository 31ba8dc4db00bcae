// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tracer {

// The link-time address of these bytes in a file's executable segments; nullopt where they are
// not, or more than once.
[[nodiscard]] std::optional<uint64_t> find_code(const ElfFile& file,
                                                std::span<const std::byte> bytes);

// Whether a file's sections .rodata*, or without sections what is mapped of it, hold a text.
[[nodiscard]] bool holds_text(const ElfFile& file, std::string_view text);

}  // namespace tracer
