// SPDX-License-Identifier: Apache-2.0
//
// From model values to the arguments of a record (document section "Argument types"). Strings
// are made UTF-8 and bounded here, because they hold whatever the traced program had in memory.
// Called by the writer for each event; allocates only to repair a string that is not UTF-8.
#include "write/fxt/fxt_arguments.h"

#include "write/text.h"

#include <algorithm>
#include <bit>

namespace tracer::fxt {
namespace {

using model::Value;
using model::ValueType;

void add_number(Arguments& out, const Name& name, const Value& value) {
    switch (value.type) {
        case ValueType::s32:
            return out.add_s32(name, static_cast<int32_t>(value.bits));
        case ValueType::u32:
            return out.add_u32(name, static_cast<uint32_t>(value.bits));
        case ValueType::s64:
            return out.add_word(name, ArgumentType::int64, value.bits);
        case ValueType::u64:
            return out.add_word(name, ArgumentType::uint64, value.bits);
        case ValueType::f64:
            return out.add_word(name, ArgumentType::float64, std::bit_cast<uint64_t>(value.real));
        case ValueType::boolean:
            return out.add_bool(name, value.bits != 0);
        case ValueType::pointer:
            return out.add_word(name, ArgumentType::pointer, value.bits);
        case ValueType::none:
        case ValueType::string:
            return out.add_null(name);
    }
}

// How a value of this type is spelt, if its bits go into the record as they are; null: they do
// not.
ArgumentType fixed_type(ValueType type) {
    switch (type) {
        case ValueType::s32:
            return ArgumentType::int32;
        case ValueType::u32:
            return ArgumentType::uint32;
        case ValueType::s64:
            return ArgumentType::int64;
        case ValueType::u64:
            return ArgumentType::uint64;
        case ValueType::pointer:
            return ArgumentType::pointer;
        case ValueType::none:
        case ValueType::f64:
        case ValueType::boolean:
        case ValueType::string:
            return ArgumentType::null;
    }
    return ArgumentType::null;
}

}  // namespace

PointArguments::PointArguments(std::vector<PreparedArgument> prepared,
                               const Name& category,
                               const Name& name)
    : prepared_(std::move(prepared)),
      is_fixed_(!is_inline(category.ref) && !is_inline(name.ref)),
      fixed_words_(kEventWords) {
    for (const PreparedArgument& argument : prepared_) {
        const ArgumentType type = fixed_type(argument.type);
        if (type == ArgumentType::null || is_inline(argument.name.ref)) {
            is_fixed_ = false;
            return;
        }
        const bool has_word = type != ArgumentType::int32 && type != ArgumentType::uint32;
        const size_t words = has_word ? 2 : 1;
        fixed_.push_back(
            {argument_header(type, words, argument.name.ref), argument.type, has_word});
        fixed_words_ += words;
    }
    fixed_header_ =
        event_header_of_point(fixed_words_, fixed_.size(), event_names(category.ref, name.ref));
}

void Arguments::set_text(Item& item, std::string_view text) {
    const uint16_t ref = text.empty() ? uint16_t{0} : inline_ref(text.size());
    const size_t words = 1 + words_of(item.name_bytes) + words_of(text.size());
    item.header =
        argument_header(ArgumentType::string, words, item.name_ref) | argument_payload_string(ref);
    item.text = text.data();
    item.text_bytes = static_cast<uint16_t>(text.size());
}

void Arguments::add_text(const Name& name, std::string_view text) {
    assert(text.size() <= kStringBytesMax);
    set_text(add(name, ArgumentType::string, 0), text);
    words_ += words_of(text.size());
}

void Arguments::add_name(const Name& name, const Name& value) {
    if (is_inline(value.ref)) return add_text(name, value.text);
    add(name, ArgumentType::string, argument_payload_string(value.ref));
}

size_t Arguments::shorten_to(size_t words_max) {
    size_t shortened = 0;
    // Each round takes from the longest string, so at most one round a string is needed.
    for (size_t round = 0; round < count_ && words_ > words_max; ++round) {
        const auto end = items_.begin() + static_cast<std::ptrdiff_t>(count_);
        const auto longest = std::max_element(
            items_.begin(), end,
            [](const Item& a, const Item& b) { return a.text_bytes < b.text_bytes; });
        const size_t old_words = words_of(longest->text_bytes);
        const size_t kept_words = old_words - std::min(old_words, words_ - words_max);
        if (old_words == 0) break;
        const std::string_view text{longest->text, longest->text_bytes};
        set_text(*longest, utf8_prefix(text, kept_words * kWordBytes));
        words_ = words_ - old_words + words_of(longest->text_bytes);
        shortened += 1;
    }
    return shortened;
}

std::string_view clean_text(std::string_view text, std::string& repaired, uint64_t& strings_cut) {
    if (!is_utf8(text)) {
        repaired.clear();
        append_as_utf8(repaired, text.substr(0, kStringBytesMax + 1));
        text = repaired;
    }
    if (text.size() <= kStringBytesMax) return text;
    strings_cut += 1;
    return utf8_prefix(text, kStringBytesMax);
}

bool add_values(Arguments& out,
                std::span<const PreparedArgument> prepared,
                std::span<const Value> values,
                RepairedTexts& repaired,
                uint64_t& strings_cut) {
    if (values.size() != prepared.size() || values.size() > kArgumentsMax) return false;
    // Flags for cut strings take what room the values themselves leave.
    size_t flags_left = kArgumentsMax - values.size();
    for (size_t i = 0; i < values.size(); ++i) {
        const PreparedArgument& argument = prepared[i];
        const Value& value = values[i];
        if (value.type != ValueType::string) [[likely]] {
            add_number(out, argument.name, value);
            continue;
        }
        if (argument.type != ValueType::string) return false;
        const auto whole = value.is_cut ? without_partial_tail(value.text) : value.text;
        const uint64_t cut_before = strings_cut;
        out.add_text(argument.name, clean_text(whole, repaired[i], strings_cut));
        if ((value.is_cut || strings_cut != cut_before) && flags_left > 0) {
            flags_left -= 1;
            out.add_bool(argument.cut_name, true);
        }
    }
    return true;
}

bool add_counter_values(Arguments& out,
                        std::span<const PreparedArgument> prepared,
                        std::span<const Value> values) {
    if (values.size() != prepared.size() || values.size() > kArgumentsMax) return false;
    for (size_t i = 0; i < values.size(); ++i) {
        const Name& name = prepared[i].name;
        const Value& value = values[i];
        switch (value.type) {
            case ValueType::s32:
            case ValueType::u32:
            case ValueType::s64:
            case ValueType::u64:
            case ValueType::f64:
                add_number(out, name, value);
                break;
            case ValueType::boolean:
                out.add_s32(name, value.bits != 0 ? 1 : 0);
                break;
            case ValueType::pointer:
                out.add_word(name, ArgumentType::uint64, value.bits);
                break;
            case ValueType::none:
            case ValueType::string:
                break;
        }
    }
    return out.count() > 0;
}

}  // namespace tracer::fxt
