// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the table of functions of a Go program.
#include "symbol/go_functions.h"
#include "unit/symbol/elf_builder.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using tracer::test::ElfBuilder;
    std::string table(data, data + size);
    const auto bytes =
        ElfBuilder()
            .section(".text", SHT_PROGBITS, std::string(16, 'x'), ElfBuilder::kText)
            .section(".gopclntab", SHT_PROGBITS, std::move(table), ElfBuilder::kBase + 0x3000)
            .build();
    const auto file = tracer::ElfFile::from_bytes(tracer::FileBytes::from_memory(bytes, "fuzz"));
    if (!file) std::abort();
    const auto functions = tracer::read_go_functions(*file);
    if (!functions) return 0;
    for (const auto& function : *functions) {
        if (function.vaddr < ElfBuilder::kBase || function.vaddr >= ElfBuilder::kTextEnd ||
            function.bytes == 0 || function.name.empty()) {
            std::abort();
        }
    }
    return 0;
}
