// SPDX-License-Identifier: Apache-2.0
//
// What a pack knows of a runtime beside its names: code that all builds have in common, and where
// things lie in memory in those that are known. Words of a layout ($NAME) are put into the texts
// of probes before these are parsed, so that the grammar of probes knows nothing of them. Called by
// pack_file.cpp.
#include "packs/pack_layout_reader.h"

#include "packs/pack_probe_reader.h"
#include "packs/table_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

using Need = TableReader::Need;

constexpr std::string_view kWordCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr char kWordSign = '$';
// Fewer are found by chance.
constexpr size_t kCodeBytesMin = 16;
constexpr size_t kCodeBytesMax = 256;

std::optional<std::vector<std::byte>> parse_bytes(std::string_view text) {
    std::vector<std::byte> bytes;
    while (true) {
        const size_t begin = text.find_first_not_of(" \n");
        if (begin == text.npos) return bytes;
        text.remove_prefix(begin);
        const auto digits = text.substr(0, text.find_first_of(" \n"));
        uint8_t byte = 0;
        const auto* end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, byte, 16);
        if (digits.size() != 2 || error != std::errc{} || rest != end) return std::nullopt;
        bytes.push_back(static_cast<std::byte>(byte));
        text.remove_prefix(digits.size());
    }
}

// "NAME+0x2d"
std::optional<PackCode::Inside> parse_inside(std::string_view text) {
    const size_t plus = text.find("+0x");
    if (plus == 0 || plus == text.npos) return std::nullopt;
    const auto digits = text.substr(plus + 3);
    PackCode::Inside inside{std::string(text.substr(0, plus)), 0};
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, inside.offset, 16);
    if (digits.empty() || error != std::errc{} || rest != end) return std::nullopt;
    return inside;
}

// Of a word at the begin of `text`, behind its sign.
std::string_view leading_word(std::string_view text) {
    return text.substr(0, text.find_first_not_of(kWordCharacters));
}

void put_words(TomlValue& value, const PackLayout& layout, PackProblems& problems) {
    std::string text;
    std::string_view rest = value.text;
    while (true) {
        const size_t sign = rest.find(kWordSign);
        text += rest.substr(0, sign);
        if (sign == rest.npos) break;
        rest.remove_prefix(sign + 1);
        const auto word = leading_word(rest);
        const auto known = std::ranges::find(layout.words, word, &PackLayout::Word::name);
        if (known == layout.words.end()) {
            problems.refuse(value.place,
                            fmt::format("layout \"{}\" has no word ${}", layout.name, word));
        } else {
            text += known->value;
        }
        rest.remove_prefix(word.size());
    }
    if (text == value.text) return;
    value.text = std::move(text);
    // Its bytes are no longer those of the file.
    value.text_offset.reset();
}

}  // namespace

PackCode read_pack_code(const TomlValue& table, PackProblems& problems) {
    TableReader reader(table, "[[code]]", problems);
    PackCode code;
    code.name = reader.line("name", Need::required);
    if (const auto* bytes = reader.text_value("bytes", Need::required); bytes != nullptr) {
        auto parsed = parse_bytes(bytes->text);
        if (!parsed || parsed->size() < kCodeBytesMin || parsed->size() > kCodeBytesMax) {
            problems.refuse(bytes->place,
                            fmt::format("expected {} to {} bytes of code, each two hexadecimal "
                                        "digits",
                                        kCodeBytesMin, kCodeBytesMax),
                            "as objdump -d shows them: \"48 83 ec 30 ...\"");
        } else {
            code.bytes = std::move(*parsed);
        }
    }
    for (const TomlValue* value : reader.text_values("inside")) {
        auto inside = parse_inside(value->text);
        if (inside && inside->offset < code.bytes.size()) {
            code.inside.push_back(std::move(*inside));
        } else {
            problems.refuse(value->place, "expected NAME+0xOFFSET of a place in these bytes");
        }
    }
    reader.refuse_others();
    return code;
}

PackLayout read_pack_layout(const TomlValue& table, PackProblems& problems) {
    TableReader reader(table, "[[layout]]", problems);
    PackLayout layout;
    layout.name = reader.line("name", Need::required);
    if (reader.value("versions", Need::required) != nullptr) {
        layout.versions = read_versions(reader, problems);
    }
    layout.text = reader.line("text");
    const auto* words = reader.table_value("words");
    if (words == nullptr) {
        problems.refuse(table.place, "a [[layout]] without words",
                        "words = { id = \"48\" } makes $id stand for 48 in probes");
    } else {
        for (const TomlEntry& entry : words->entries) {
            const bool is_word = leading_word(entry.key).size() == entry.key.size();
            if (!is_word || entry.value.kind != TomlValue::Kind::text) {
                problems.refuse(entry.key_place,
                                "expected a word of small letters, digits and '_', and text in "
                                "quotes");
                continue;
            }
            layout.words.push_back({entry.key, entry.value.text});
        }
    }
    reader.refuse_others();
    return layout;
}

bool asks_for_layout(const TomlValue& probe_table) {
    const auto has_sign = [](const TomlValue& value) {
        return value.text.find(kWordSign) != std::string::npos;
    };
    return std::ranges::any_of(probe_table.entries, [&](const TomlEntry& entry) {
        if (entry.key != "probe") return false;
        return has_sign(entry.value) || std::ranges::any_of(entry.value.items, has_sign);
    });
}

TomlValue with_layout(const TomlValue& probe_table,
                      const PackLayout& layout,
                      PackProblems& problems) {
    TomlValue table = probe_table;
    for (TomlEntry& entry : table.entries) {
        if (entry.key != "probe") continue;
        put_words(entry.value, layout, problems);
        for (TomlValue& item : entry.value.items) put_words(item, layout, problems);
    }
    return table;
}

}  // namespace tracer
