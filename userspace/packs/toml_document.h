// SPDX-License-Identifier: Apache-2.0
//
// A TOML text as a tree in which everything knows its place, so that whoever reads it can point at
// what is wrong. What packs have no use for (floats, dates, booleans) is told apart, not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tracer {

// A token of a text, on one line: what goes on behind the line's end is left out.
struct TextPlace {
    size_t offset = 0;  // bytes from the text's begin
    size_t length = 0;  // bytes
};

struct TomlEntry;

struct TomlValue {
    enum class Kind : uint8_t { text, integer, array, table, other };

    Kind kind = Kind::other;
    TextPlace place;  // of a table: its head
    std::string text;
    // Where `text` stands byte by byte in the document; nullopt: it is written with escapes.
    std::optional<size_t> text_offset;
    int64_t integer = 0;
    std::vector<TomlValue> items;    // of an array
    std::vector<TomlEntry> entries;  // of a table, in the order of the document
};

struct TomlEntry {
    std::string key;
    TextPlace key_place;
    TomlValue value;
};

struct TomlFault {
    TextPlace place;
    std::string message;
};

// The document's own table, or the one fault that the reader stops at. Untrusted input: arrays and
// tables within each other are refused at a depth of 256.
[[nodiscard]] std::variant<TomlValue, TomlFault> parse_toml(std::string_view text);

}  // namespace tracer
