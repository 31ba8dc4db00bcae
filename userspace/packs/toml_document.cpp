// SPDX-License-Identifier: Apache-2.0
//
// The boundary to toml++: its nodes become values of ours, its lines and columns become places in
// the text. Nothing else includes it. Called by pack_file.cpp, with a text that is no longer than
// a pack may be.
#include "packs/toml_document.h"

#include <algorithm>
#include <sstream>
#include <utility>

// Without exceptions a fault is a result; without formatters a third less is compiled.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace tracer {

namespace {

// Finds the bytes at toml++'s positions: lines, and columns that count characters.
class Places {
public:
    explicit Places(std::string_view text) : text_(text) {
        for (size_t at = 0; at < text.size(); ++at) {
            if (text[at] == '\n') line_begins_.push_back(at + 1);
        }
    }

    [[nodiscard]] TextPlace of(const toml::source_region& region) const {
        const size_t begin = offset_of(region.begin);
        const size_t line_end = std::min(text_.find_first_of("\r\n", begin), text_.size());
        const size_t end = std::min(offset_of(region.end), line_end);
        return {begin, end > begin ? end - begin : 0};
    }

private:
    [[nodiscard]] size_t offset_of(const toml::source_position& position) const {
        if (position.line == 0 || position.line > line_begins_.size()) return text_.size();
        size_t at = line_begins_[position.line - 1];
        for (uint32_t column = 1; column < position.column; ++column) {
            if (at >= text_.size() || text_[at] == '\n') break;
            ++at;
            while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0) == 0x80) {
                ++at;
            }
        }
        return at;
    }

    std::string_view text_;
    std::vector<size_t> line_begins_{0};
};

class Converter {
public:
    explicit Converter(std::string_view text) : text_(text), places_(text) {}

    [[nodiscard]] TextPlace place_of(const toml::source_region& region) const {
        return places_.of(region);
    }

    // Recursion as deep as toml++ allows (TOML_MAX_NESTED_VALUES, 256).
    [[nodiscard]] TomlValue convert(const toml::node& node) const {
        TomlValue value;
        value.place = places_.of(node.source());
        if (const auto* text = node.as_string()) {
            value.kind = TomlValue::Kind::text;
            value.text = text->get();
            value.text_offset = bytes_of(value);
        } else if (const auto* integer = node.as_integer()) {
            value.kind = TomlValue::Kind::integer;
            value.integer = integer->get();
        } else if (const auto* array = node.as_array()) {
            value.kind = TomlValue::Kind::array;
            for (const auto& item : *array) value.items.push_back(convert(item));
        } else if (const auto* table = node.as_table()) {
            value.kind = TomlValue::Kind::table;
            for (const auto& [key, entry] : *table) {
                value.entries.push_back(
                    {std::string(key.str()), places_.of(key.source()), convert(entry)});
            }
            // toml++ keeps them by name.
            std::sort(value.entries.begin(), value.entries.end(),
                      [](const TomlEntry& left, const TomlEntry& right) {
                          return left.key_place.offset < right.key_place.offset;
                      });
        }
        return value;
    }

private:
    // Behind the quotes, if what stands there is the value as it is.
    [[nodiscard]] std::optional<size_t> bytes_of(const TomlValue& value) const {
        const auto rest = text_.substr(std::min(value.place.offset, text_.size()));
        size_t skipped = 1;
        if (rest.starts_with("'''") || rest.starts_with(R"(""")")) {
            // A line break right behind the quotes is no part of the text (TOML 1.0, "String").
            skipped = 3;
            if (rest.substr(skipped).starts_with("\r\n"))
                skipped += 2;
            else if (rest.substr(skipped).starts_with("\n"))
                skipped += 1;
        }
        if (rest.size() < skipped || !rest.substr(skipped).starts_with(value.text)) {
            return std::nullopt;
        }
        return value.place.offset + skipped;
    }

    std::string_view text_;
    Places places_;
};

}  // namespace

std::variant<TomlValue, TomlFault> parse_toml(std::string_view text) {
    const Converter converter(text);
    const toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        return TomlFault{converter.place_of(parsed.error().source()),
                         std::string(parsed.error().description())};
    }
    return converter.convert(parsed.table());
}

}  // namespace tracer
