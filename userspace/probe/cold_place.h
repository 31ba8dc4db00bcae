// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/elf_file.h"

#include <cstdint>
#include <optional>

namespace tracer {

// A place in the file, mapped by every process that runs it, at which no code is ever run and that
// no data is read from: a probe there only raises the semaphore that it is given. The same for the
// same semaphore, and another for another as far as there are enough. nullopt: there is none.
[[nodiscard]] std::optional<uint64_t> find_cold_place(const ElfFile& file,
                                                      uint64_t semaphore_offset);

}  // namespace tracer
