// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tracer::test {

// One note of .note.stapsdt, as it stands in the file, and what it points at.
struct UsdtNote {
    std::string provider;
    std::string name;
    std::string arguments;
    uint64_t site = 0;
    uint64_t base = 0;
    uint64_t semaphore = 0;
    uint8_t instruction = 0;   // the byte at the site
    std::string site_section;  // that holds the site
    std::string base_section;
    std::string semaphore_section;   // empty: no semaphore
    bool semaphore_in_file = false;  // has bytes in the file, so that the kernel can raise it
};

// A reader of ELF64 files for this test only, written apart from the one under userspace/, so that
// a fault of one cannot hide a fault of the other.
[[nodiscard]] Result<std::vector<UsdtNote>> read_usdt_notes(std::span<const std::byte> file);

}  // namespace tracer::test
