// SPDX-License-Identifier: Apache-2.0
//
// Makes small programs of other machines, with USDT notes: one segment of code and data whose
// addresses are kBase + the offset in the file, then the sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer::test {

class ForeignElf {
public:
    static constexpr uint32_t kBase = 0x08048000;
    static constexpr uint32_t kCode = kBase + 0x200;
    static constexpr uint32_t kBytes = 0x400;  // of the segment

    // `machine`: EM_386, EM_AARCH64, ...
    ForeignElf(uint16_t machine, bool is_32_bit) : machine_(machine), is_32_bit_(is_32_bit) {}

    ForeignElf& note(const std::string& name,
                     const std::string& arguments,
                     uint32_t location,
                     uint32_t semaphore = 0,
                     uint32_t base = 0);
    // The address of .stapsdt.base, which notes are compared with.
    ForeignElf& base_section(uint32_t vaddr);

    [[nodiscard]] std::vector<std::byte> build() const;

private:
    template <typename Types>
    [[nodiscard]] std::vector<std::byte> build_class() const;

    uint16_t machine_;
    bool is_32_bit_;
    uint32_t base_vaddr_ = 0;
    std::string notes_;
};

}  // namespace tracer::test
