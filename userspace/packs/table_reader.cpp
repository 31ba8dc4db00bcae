// SPDX-License-Identifier: Apache-2.0
//
// Words of a pack's tables: the kinds of their values, and those that do not exist. Called by
// pack_file.cpp.
#include "packs/table_reader.h"

#include "probe/nearest.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tracer {

namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        if (i != 0) text += i + 1 == names.size() ? " or " : ", ";
        text += fmt::format("\"{}\"", names[i]);
    }
    return text;
}

}  // namespace

bool is_line(const TomlValue& value, PackProblems& problems) {
    if (value.text.empty()) {
        problems.refuse(value.place, "an empty text", "leave the word out, or say something");
        return false;
    }
    if (std::any_of(value.text.begin(), value.text.end(), is_control)) {
        problems.refuse(value.place, "expected one line, without control characters");
        return false;
    }
    return true;
}

const TomlValue* TableReader::value(std::string_view word, Need need) {
    if (std::find(words_.begin(), words_.end(), word) == words_.end()) words_.push_back(word);
    for (const auto& entry : table_.entries) {
        if (entry.key == word) return &entry.value;
    }
    if (need == Need::required) {
        problems_.refuse(table_.place, fmt::format("{} has no `{}`", title_, word));
    }
    return nullptr;
}

const TomlValue* TableReader::of_kind(const TomlValue* value,
                                      TomlValue::Kind kind,
                                      std::string_view wanted) {
    if (value == nullptr || value->kind == kind) return value;
    problems_.refuse(value->place, fmt::format("expected {}", wanted));
    return nullptr;
}

const TomlValue* TableReader::text_value(std::string_view word, Need need) {
    return of_kind(value(word, need), TomlValue::Kind::text, "text in quotes");
}

const TomlValue* TableReader::table_value(std::string_view word) {
    const auto* found = value(word);
    return of_kind(found, TomlValue::Kind::table, fmt::format("a table, written [{}]", word));
}

std::vector<const TomlValue*> TableReader::tables(std::string_view word) {
    const auto wanted = fmt::format("tables, each written [[{}]]", word);
    const auto* list = of_kind(value(word), TomlValue::Kind::array, wanted);
    std::vector<const TomlValue*> result;
    if (list == nullptr) return result;
    for (const auto& item : list->items) {
        if (of_kind(&item, TomlValue::Kind::table, wanted) != nullptr) result.push_back(&item);
    }
    return result;
}

std::vector<const TomlValue*> TableReader::text_values(std::string_view word, Need need) {
    constexpr std::string_view kWanted = "text in quotes, or a list of such texts";
    const auto* found = value(word, need);
    if (found == nullptr) return {};
    if (found->kind == TomlValue::Kind::text) return {found};
    std::vector<const TomlValue*> result;
    if (of_kind(found, TomlValue::Kind::array, kWanted) == nullptr) return result;
    for (const auto& item : found->items) {
        if (of_kind(&item, TomlValue::Kind::text, kWanted) != nullptr) result.push_back(&item);
    }
    if (found->items.empty()) problems_.refuse(found->place, "an empty list");
    return result;
}

std::string TableReader::line(std::string_view word, Need need) {
    const auto* found = text_value(word, need);
    return found != nullptr && is_line(*found, problems_) ? found->text : std::string();
}

std::optional<uint32_t> TableReader::number(std::string_view word, Need need) {
    constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
    const auto* found = value(word, need);
    if (found == nullptr) return std::nullopt;
    if (found->kind != TomlValue::Kind::integer || found->integer < 1 || found->integer > kMax) {
        problems_.refuse(found->place, "expected a whole number from 1 on, without quotes");
        return std::nullopt;
    }
    return static_cast<uint32_t>(found->integer);
}

std::optional<size_t> TableReader::choice(std::string_view word,
                                          std::span<const std::string_view> names,
                                          Need need) {
    const auto* found = text_value(word, need);
    if (found == nullptr) return std::nullopt;
    NearestNames nearest(found->text);
    for (size_t i = 0; i < names.size(); ++i) {
        if (found->text == names[i]) return i;
        nearest.offer(names[i]);
    }
    problems_.refuse(found->place, fmt::format("expected {}", listed(names)), nearest.hint());
    return std::nullopt;
}

void TableReader::refuse_others() {
    for (const auto& entry : table_.entries) {
        if (std::find(words_.begin(), words_.end(), entry.key) != words_.end()) continue;
        NearestNames nearest(entry.key);
        std::string known;
        for (const auto word : words_) {
            nearest.offer(word);
            known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
        }
        auto hint = nearest.hint();
        if (hint.empty()) hint = fmt::format("{} knows {}", title_, known);
        problems_.refuse(entry.key_place, fmt::format("an unknown word in {}", title_),
                         std::move(hint));
    }
}

}  // namespace tracer
