// SPDX-License-Identifier: Apache-2.0
//
// Makes small ELF files for tests: what a linker would leave, or what a hostile hand would.
//
//   offset 0x000  headers          |  mapped at kBase, executable, up to kTextEnd
//   offset 0x200  code (nops)      |
//   offset 0x400  data             -> mapped at kBase + 0x1400, kDataBytes in the file, then .bss
//   behind        sections without an address, the section headers
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <elf.h>

namespace tracer::test {

class ElfBuilder {
public:
    static constexpr uint64_t kBase = 0x400000;
    static constexpr uint64_t kText = kBase + 0x200;
    static constexpr uint64_t kTextEnd = kBase + 0x400;
    static constexpr uint64_t kData = kBase + 0x1400;
    static constexpr uint64_t kDataOffset = 0x400;
    static constexpr uint64_t kDataBytes = 0x100;
    static constexpr uint64_t kBss = kData + kDataBytes;

    explicit ElfBuilder(uint16_t type = ET_DYN) { header_.e_type = type; }

    Elf64_Ehdr& header() { return header_; }
    ElfBuilder& code(uint64_t vaddr, const std::vector<uint8_t>& bytes);
    // The first one added has number 1: what `link` of another may name.
    ElfBuilder& section(std::string name,
                        uint32_t type,
                        std::string content,
                        uint64_t vaddr = 0,
                        uint32_t link = 0);
    ElfBuilder& function(const std::string& name, uint64_t vaddr, uint64_t bytes = 16);
    ElfBuilder& object(const std::string& name, uint64_t vaddr, bool is_global = true);
    ElfBuilder& thread_local_object(const std::string& name, uint64_t offset);
    ElfBuilder& tls(uint64_t memory_bytes, uint64_t alignment);
    ElfBuilder& note(const std::string& provider,
                     const std::string& name,
                     const std::string& arguments,
                     uint64_t location,
                     uint64_t semaphore = 0,
                     uint64_t base = 0);

    [[nodiscard]] std::vector<std::byte> build() const;

private:
    struct Section {
        std::string name;
        uint32_t type;
        uint64_t vaddr;
        std::string content;
        uint32_t link = 0;
    };
    void add_symbol(const std::string& name, uint64_t value, uint64_t bytes, int bind, int type);

    Elf64_Ehdr header_{};
    std::vector<uint8_t> code_ = std::vector<uint8_t>(0x200, 0x90);
    std::vector<Section> sections_;
    std::string symbols_ = std::string(sizeof(Elf64_Sym), '\0');
    std::string symbol_names_ = std::string(1, '\0');
    std::string notes_;
    Elf64_Phdr tls_{};
};

// Writes `bytes` to a new file under a folder of the test's own, and returns its path.
[[nodiscard]] std::string write_file(const std::string& folder,
                                     const std::string& name,
                                     const std::vector<std::byte>& bytes);

// A folder that is gone with the object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace tracer::test
