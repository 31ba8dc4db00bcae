// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack_problems.h"
#include "packs/toml_document.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// Takes the words of one table by name, and at the end refuses those that nobody asked for. Borrows
// the table. What is wrong becomes a problem, and reads as if it were not there.
class TableReader {
public:
    enum class Need : bool { optional, required };

    // `title`: what the table is called in messages, "[pack]".
    TableReader(const TomlValue& table, std::string_view title, PackProblems& problems)
        : table_(table), title_(title), problems_(problems) {}

    // Null when it is not there.
    const TomlValue* value(std::string_view word, Need need = Need::optional);
    // The same of one kind; null also when it is of another.
    const TomlValue* text_value(std::string_view word, Need need = Need::optional);
    const TomlValue* table_value(std::string_view word);
    // Tables that are written [[word]].
    [[nodiscard]] std::vector<const TomlValue*> tables(std::string_view word);
    // One text, or a list of them.
    [[nodiscard]] std::vector<const TomlValue*> text_values(std::string_view word,
                                                            Need need = Need::optional);

    // One line of text without control characters; empty when it is not there.
    std::string line(std::string_view word, Need need = Need::optional);
    // From 1 to 2^32 - 1.
    std::optional<uint32_t> number(std::string_view word, Need need);
    // The index of one of `names`.
    std::optional<size_t> choice(std::string_view word,
                                 std::span<const std::string_view> names,
                                 Need need = Need::optional);

    // After all have been taken.
    void refuse_others();

    [[nodiscard]] const TextPlace& place() const { return table_.place; }

private:
    const TomlValue* of_kind(const TomlValue* value, TomlValue::Kind kind, std::string_view wanted);

    const TomlValue& table_;
    std::string_view title_;
    PackProblems& problems_;
    std::vector<std::string_view> words_;  // asked for so far; all are literals
};

// One line without control characters, and not empty; else a problem.
[[nodiscard]] bool is_line(const TomlValue& value, PackProblems& problems);

}  // namespace tracer
