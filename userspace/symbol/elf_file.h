// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/file_bytes.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// A PT_LOAD segment: which bytes of the file appear at which link-time addresses.
struct ElfSegment {
    uint64_t vaddr = 0;
    uint64_t memory_bytes = 0;  // beyond file_bytes: zero-filled (.bss)
    uint64_t file_offset = 0;
    uint64_t file_bytes = 0;
    bool is_executable = false;
};

struct ElfSection {
    std::string name;
    uint32_t type = 0;
    uint64_t vaddr = 0;
    uint64_t file_offset = 0;
    uint64_t bytes = 0;
    uint64_t entry_bytes = 0;
    uint32_t link = 0;
};

// What the dynamic linker is told.
struct ElfDynamic {
    std::vector<std::string> needed;
    std::string soname;   // DT_SONAME; empty: none
    std::string runpath;  // DT_RUNPATH, else DT_RPATH: colon-separated
    bool is_rpath = false;
    bool is_executable_pie = false;  // DF_1_PIE
};

// Thread-local storage template (PT_TLS), to turn a TLS symbol into an offset from %fs.
struct ElfTls {
    uint64_t memory_bytes = 0;
    uint64_t alignment = 1;
};

// Machines whose files are understood. Those of x86_64 can be probed; of the others USDT notes are
// read, to be shown.
enum class ElfMachine : uint8_t { x86_64, i386, aarch64 };

// Which files to accept: `native` are the 64-bit ones of the machine that this program runs on.
enum class ElfScope : uint8_t { native, any };

// A little-endian ELF program or library, opened and its tables checked. Untrusted input: every
// offset is compared with the file's size, and every count with the bytes that would hold it.
class ElfFile {
public:
    [[nodiscard]] static Result<ElfFile> open(const std::string& path,
                                              ElfScope scope = ElfScope::native);
    [[nodiscard]] static Result<ElfFile> from_bytes(FileBytes bytes,
                                                    ElfScope scope = ElfScope::native);

    [[nodiscard]] const std::string& name() const { return bytes_.name(); }
    [[nodiscard]] FileIdentity identity() const { return bytes_.identity(); }
    [[nodiscard]] uint64_t size() const { return bytes_.size(); }
    [[nodiscard]] const FileBytes& bytes() const { return bytes_; }

    [[nodiscard]] ElfMachine machine() const { return machine_; }
    [[nodiscard]] bool is_32_bit() const { return is_32_bit_; }
    // False for files that ElfScope::native refuses.
    [[nodiscard]] bool is_native() const { return machine_ == ElfMachine::x86_64 && !is_32_bit_; }
    // "x86-64", "x32" (x86-64 code with 32-bit addresses), "i386", "aarch64".
    [[nodiscard]] std::string_view machine_name() const;

    // True for ET_EXEC: link-time addresses are run-time addresses.
    [[nodiscard]] bool is_fixed_address() const { return is_fixed_address_; }
    [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
    [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
    [[nodiscard]] const ElfSection* section(std::string_view name) const;
    [[nodiscard]] const std::string& interpreter() const { return interpreter_; }
    [[nodiscard]] const std::optional<ElfTls>& tls() const { return tls_; }

    // Of a link-time address that the file holds bytes for; nullopt in .bss and in no segment.
    [[nodiscard]] std::optional<uint64_t> file_offset_of(uint64_t vaddr) const;
    // Of a byte of an executable segment, its link-time address; nullopt elsewhere.
    [[nodiscard]] std::optional<uint64_t> code_address_of(uint64_t file_offset) const;
    // True when the address lies in a segment's zero-filled part.
    [[nodiscard]] bool is_in_bss(uint64_t vaddr) const;

    // Lower-case hex of the GNU build-id; empty when there is none.
    [[nodiscard]] std::string build_id() const;
    [[nodiscard]] Result<ElfDynamic> dynamic() const;

    [[nodiscard]] bool is_go() const;
    [[nodiscard]] bool is_ghc() const { return section(".debug-ghc-link-info") != nullptr; }
    // Functions of the file may be left by an exception.
    [[nodiscard]] bool has_cxx_exceptions() const {
        return section(".gcc_except_table") != nullptr;
    }
    // A file of debug information only: its code section holds no bytes.
    [[nodiscard]] bool is_debug_only() const;

    // Contents of a section; refuses SHT_NOBITS and more than kSectionBytesMax.
    [[nodiscard]] Result<std::vector<std::byte>> read_section(const ElfSection& section) const;
    [[nodiscard]] Result<std::vector<std::byte>> read(uint64_t offset, uint64_t count) const {
        return bytes_.read(offset, count);
    }

private:
    explicit ElfFile(FileBytes bytes) : bytes_(std::move(bytes)) {}
    struct Header;
    [[nodiscard]] Status read_class();
    [[nodiscard]] Status take_machine(uint16_t number, ElfScope scope);
    [[nodiscard]] Result<Header> read_header(ElfScope scope);
    [[nodiscard]] Status read_segments(const Header& header);
    [[nodiscard]] Status read_sections(const Header& header);

    FileBytes bytes_;
    ElfMachine machine_ = ElfMachine::x86_64;
    bool is_32_bit_ = false;
    bool is_fixed_address_ = false;
    std::vector<ElfSegment> segments_;
    std::vector<ElfSection> sections_;
    std::string interpreter_;
    std::optional<ElfTls> tls_;
    std::optional<std::pair<uint64_t, uint64_t>> dynamic_;  // file offset and bytes
    std::vector<std::pair<uint64_t, uint64_t>> notes_;      // PT_NOTE, the same
};

// NUL-ended text at `offset` of a string table; nullopt when it does not end inside the table or
// is longer than 16 KiB.
[[nodiscard]] std::optional<std::string_view> string_at(std::span<const std::byte> table,
                                                        uint64_t offset);

}  // namespace tracer
