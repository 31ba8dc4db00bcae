// SPDX-License-Identifier: Apache-2.0
//
// Text in objects of libraries: their members by the names that debug information has for them. A
// layout that is not known (libc++'s std::string, whose bits say which of two it has) stays a
// structure. Called by the compilers of functions' arguments and of conditions on them.
#include "probe/text_object.h"

#include "probe/parameter_walk.h"
#include "symbol/dwarf_type.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace tracer {

namespace {

struct TextLayout {
    std::string_view type_prefix;  // of the type's own name
    std::string_view address;      // members, one behind the other
    std::string_view length;
    bool is_ended = false;  // by a NUL too
};

constexpr std::array<TextLayout, 6> kLayouts{{
    {"basic_string<char", "_M_dataplus._M_p", "_M_string_length", true},  // libstdc++, C++11
    {"basic_string_view<char", "_M_str", "_M_len"},                       // libstdc++
    {"basic_string_view<char", "__data_", "__size_"},                     // libc++
    {"&str", "data_ptr", "length"},                                       // rustc
    {"String", "vec.buf.inner.ptr.pointer.pointer", "vec.len"},           // Rust 1.80
    {"String", "vec.buf.ptr.pointer.pointer", "vec.len"},                 // before
}};

std::vector<ArgMember> members_on(std::string_view path, size_t text_offset) {
    std::vector<ArgMember> members;
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('.'));
        members.push_back({std::string(name), false, text_offset});
        path.remove_prefix(std::min(path.size(), name.size() + 1));
    }
    return members;
}

// The type at the end of `members`; nullopt: there is no such way.
std::optional<DwarfType> type_behind(DwarfType type, const std::vector<ArgMember>& members) {
    for (const auto& member : members) {
        if (!reaches_members(type, member)) return std::nullopt;
        auto found = find_member(type, member.name);
        if (!found || found->bits != 0) return std::nullopt;
        type = std::move(found->type);
    }
    return type;
}

bool is_layout_of(const DwarfType& object, std::string_view name, const TextLayout& layout) {
    if (!name.starts_with(layout.type_prefix)) return false;
    const auto address = type_behind(object, members_on(layout.address, 0));
    const auto length = type_behind(object, members_on(layout.length, 0));
    return address && length && address->form == DwarfForm::pointer &&
           length->form == DwarfForm::integer;
}

const TextLayout* layout_of(const DwarfType& object) {
    if (object.form != DwarfForm::structure) return nullptr;
    const auto name = own_name(object);
    for (const auto& layout : kLayouts) {
        if (is_layout_of(object, name, layout)) return &layout;
    }
    return nullptr;
}

bool may_be_text(const ArgSpec& arg) {
    if (!arg.is_parameter || !arg.walk.empty() || arg.addend != 0 || arg.is_hex) return false;
    if (!arg.names.empty() || !arg.length.empty() || arg.text_form != TextForm::ended) return false;
    return arg.type == ArgType::automatic || arg.type == ArgType::string;
}

// Of the object that `arg` ends at; null: there is none.
const TextLayout* find_layout(const FunctionArguments& function, ArgSpec& arg, bool& is_pointer) {
    if (!may_be_text(arg)) return nullptr;
    const auto* parameter = function.find(arg.operand);
    if (parameter == nullptr) return nullptr;
    auto object = type_behind(parameter->type, arg.members);
    if (!object) return nullptr;
    is_pointer = object->form == DwarfForm::pointer && !object->is_reference;
    if (is_pointer && arg.type != ArgType::string) return nullptr;
    if (object->form == DwarfForm::pointer) {
        auto target = pointed_type(*object);
        if (!target) return nullptr;
        object = std::move(*target);
    }
    return layout_of(*object);
}

void append(std::string_view path, bool is_pointer, ArgSpec& arg) {
    auto members = members_on(path, arg.text_offset);
    members.front().is_behind_pointer = is_pointer;
    arg.members.insert(arg.members.end(), members.begin(), members.end());
}

}  // namespace

void expand_text_object(const FunctionArguments& function, ArgSpec& arg) {
    bool is_pointer = false;
    const auto* layout = find_layout(function, arg, is_pointer);
    if (layout == nullptr) return;
    ArgSpec length = arg;
    length.type = ArgType::automatic;
    length.text_bytes = 0;
    append(layout->length, is_pointer, length);
    append(layout->address, is_pointer, arg);
    arg.type = ArgType::string;
    arg.text_form = TextForm::counted;
    if (arg.text_bytes == 0) arg.text_bytes = TR_STRING_BYTES;
    arg.length.push_back(std::move(length));
}

void expand_compared_text(const FunctionArguments& function, ArgSpec& arg) {
    bool is_pointer = false;
    const auto* layout = find_layout(function, arg, is_pointer);
    if (layout == nullptr || !layout->is_ended) return;
    append(layout->address, is_pointer, arg);
    arg.type = ArgType::string;
}

}  // namespace tracer
