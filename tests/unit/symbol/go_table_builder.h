// SPDX-License-Identifier: Apache-2.0
//
// Makes tables of Go functions (pclntab) as Go's linker leaves them, for ElfBuilder's code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer::test {

struct GoTableRow {
    uint64_t begin = 0;  // in the code
    std::string name;
    uint8_t sort = 0;
    uint8_t flags = 0;
};

struct GoTableForm {
    uint32_t number = 0;
    bool has_code_word = false;
    size_t fields_before_sort = 0;  // of 32 bits, behind a function's begin
};

inline constexpr GoTableForm kGoForm12{0xfffffffb, false, 7};
inline constexpr GoTableForm kGoForm116{0xfffffffa, false, 8};
inline constexpr GoTableForm kGoForm118{0xfffffff0, true, 8};
inline constexpr GoTableForm kGoForm120{0xfffffff1, true, 9};

class GoTableBuilder {
public:
    GoTableBuilder(const GoTableForm& form, std::vector<GoTableRow> rows);

    GoTableBuilder& code_word(uint64_t vaddr);
    // More functions than there are rows.
    GoTableBuilder& count_added(uint64_t count);

    [[nodiscard]] std::string build() const;

private:
    [[nodiscard]] uint64_t begin_of(const GoTableRow& row) const;
    void put_field(std::string& out, uint64_t value) const;

    GoTableForm form_;
    std::vector<GoTableRow> rows_;
    uint64_t code_word_ = 0;
    uint64_t count_added_ = 0;
};

}  // namespace tracer::test
