// SPDX-License-Identifier: Apache-2.0
//
// From model values to the arguments of a record (document section "Argument types"). Strings
// are made UTF-8 and bounded here, because they hold whatever the traced program had in memory.
// Called by the writer for each event; allocates only to repair a string that is not UTF-8.
#include "write/fxt/fxt_arguments.h"

#include "write/text.h"

#include <algorithm>
#include <utility>

namespace tracer::fxt {
namespace {

using model::Value;
using model::ValueType;

Argument number(const StringRef& name, const Value& value) {
    switch (value.type) {
        case ValueType::s32:
            return arg(name, static_cast<int32_t>(value.bits));
        case ValueType::u32:
            return arg(name, static_cast<uint32_t>(value.bits));
        case ValueType::s64:
            return arg(name, static_cast<int64_t>(value.bits));
        case ValueType::u64:
            return arg(name, value.bits);
        case ValueType::f64:
            return arg(name, value.real);
        case ValueType::boolean:
            return arg(name, value.bits != 0);
        case ValueType::pointer:
            return arg(name, Pointer{value.bits});
        case ValueType::none:
        case ValueType::string:
            return arg(name, nullptr);
    }
    return arg(name, nullptr);
}

// Null: the value has no name.
const Name* name_of(const PreparedArgument& argument, const Value& value) {
    if (!model::has_names(value.type)) return nullptr;
    const auto found = std::lower_bound(
        argument.names.begin(), argument.names.end(), value.bits,
        [](const PreparedValueName& known, uint64_t bits) { return known.bits < bits; });
    return found != argument.names.end() && found->bits == value.bits ? &found->name : nullptr;
}

// Of a string that was longer in the target, or is here.
Argument cut_mark(const PreparedArgument& argument, const Value& value) {
    if (!value.is_cut) return arg(argument.bytes_name, uint64_t{value.text.size()});
    if (value.bits == 0) return arg(argument.bytes_min_name, uint64_t{value.text.size()});
    return arg(value.is_longer ? argument.bytes_min_name : argument.bytes_name, value.bits);
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
    : prepared_(std::move(prepared)) {
    std::vector<ArgumentShape> shapes;
    for (const PreparedArgument& argument : prepared_) {
        const ArgumentType type = fixed_type(argument.type);
        if (type == ArgumentType::null || !argument.names.empty()) return;
        shapes.push_back({argument.name, type});
    }
    // Not where the table ran out and a name has no index.
    const auto shape = EventShape::make(category, name, shapes);
    if (shape) shape_ = *shape;
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

bool add_values(ArgumentList& out,
                std::span<const PreparedArgument> prepared,
                std::span<const Value> values,
                RepairedTexts& repaired,
                uint64_t& strings_cut) {
    if (values.size() != prepared.size() || values.size() > kArgumentsMax) return false;
    // Lengths of cut strings take what room the values themselves leave.
    size_t lengths_left = kArgumentsMax - values.size();
    for (size_t i = 0; i < values.size(); ++i) {
        const PreparedArgument& argument = prepared[i];
        const Value& value = values[i];
        if (value.type != ValueType::string) [[likely]] {
            const Name* name = argument.names.empty() ? nullptr : name_of(argument, value);
            out.push(name != nullptr ? arg(argument.name, *name) : number(argument.name, value));
            continue;
        }
        if (argument.type != ValueType::string) return false;
        const auto whole = value.is_cut ? without_partial_tail(value.text) : value.text;
        const uint64_t cut_before = strings_cut;
        out.push(arg(argument.name, clean_text(whole, repaired[i], strings_cut)));
        if ((value.is_cut || strings_cut != cut_before) && lengths_left > 0) {
            lengths_left -= 1;
            out.push(cut_mark(argument, value));
        }
    }
    return true;
}

bool add_counter_values(ArgumentList& out,
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
                out.push(number(name, value));
                break;
            case ValueType::boolean:
                out.push(arg(name, int32_t{value.bits != 0}));
                break;
            case ValueType::pointer:
                out.push(arg(name, value.bits));
                break;
            case ValueType::none:
            case ValueType::string:
                break;
        }
    }
    return out.size() > 0;
}

}  // namespace tracer::fxt
