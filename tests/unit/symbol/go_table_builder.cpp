// SPDX-License-Identifier: Apache-2.0
//
// Lays a table out as go_functions.cpp describes it: head, names, rows, details; in the oldest form
// the rows stand in front of the names and every offset counts from the table's begin. Used by the
// tests of go_functions and for the seeds of its fuzz target.
#include "unit/symbol/go_table_builder.h"

#include "unit/symbol/elf_builder.h"

#include <utility>

namespace tracer::test {

namespace {

constexpr uint64_t kCodeBytes = 0x100;

template <typename T>
void put(std::string& out, T value) {
    out.append(static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value));
}

}  // namespace

GoTableBuilder::GoTableBuilder(const GoTableForm& form, std::vector<GoTableRow> rows)
    : form_(form), rows_(std::move(rows)), code_word_(ElfBuilder::kText) {}

GoTableBuilder& GoTableBuilder::code_word(uint64_t vaddr) {
    code_word_ = vaddr;
    return *this;
}

GoTableBuilder& GoTableBuilder::count_added(uint64_t count) {
    count_added_ = count;
    return *this;
}

uint64_t GoTableBuilder::begin_of(const GoTableRow& row) const {
    return row.begin + (form_.has_code_word ? 0 : ElfBuilder::kText);
}

void GoTableBuilder::put_field(std::string& out, uint64_t value) const {
    if (form_.has_code_word) {
        put(out, static_cast<uint32_t>(value));
    } else {
        put(out, value);
    }
}

std::string GoTableBuilder::build() const {
    const bool is_oldest = form_.number == kGoForm12.number;
    const size_t words = is_oldest ? 1 : form_.has_code_word ? 8 : 7;
    const size_t head = 8 + words * 8;
    std::string names;
    std::vector<uint32_t> name_offsets;
    for (const auto& row : rows_) {
        name_offsets.push_back(static_cast<uint32_t>(names.size()));
        names += row.name + '\0';
    }
    const size_t rows_bytes = (2 * rows_.size() + 1) * (form_.has_code_word ? 4 : 8);
    const size_t rows_at = is_oldest ? head : head + names.size();
    const size_t names_at = is_oldest ? head + rows_bytes : head;
    const size_t details_at = head + rows_bytes + names.size();

    std::string table;
    put(table, form_.number);
    table += std::string("\0\0\1\10", 4);
    put<uint64_t>(table, rows_.size() + count_added_);
    if (!is_oldest) {
        put<uint64_t>(table, 0);
        if (form_.has_code_word) put(table, code_word_);
        put<uint64_t>(table, names_at);
        for (int i = 0; i < 3; ++i) put<uint64_t>(table, 0);
        put<uint64_t>(table, rows_at);
    }
    std::string rows;
    std::string details;
    for (size_t i = 0; i < rows_.size(); ++i) {
        put_field(rows, begin_of(rows_[i]));
        put_field(rows, details_at + details.size() - (is_oldest ? 0 : rows_at));
        put_field(details, begin_of(rows_[i]));
        put(details, static_cast<uint32_t>(name_offsets[i] + (is_oldest ? names_at : 0)));
        details += std::string((form_.fields_before_sort - 1) * 4, '\0');
        put(details, rows_[i].sort);
        put(details, rows_[i].flags);
        put<uint16_t>(details, 0);
    }
    put_field(rows, begin_of({kCodeBytes, {}}));
    return is_oldest ? table + rows + names + details : table + names + rows + details;
}

}  // namespace tracer::test
