// SPDX-License-Identifier: Apache-2.0
//
// From names to offsets: arg:request->head.size becomes the walk that a user could have written
// by hand, so that everything behind is the same for both. Relies on symbol/dwarf_* for places and
// types. Called by the compiler of functions' arguments.
#include "probe/parameter_walk.h"

#include "probe/caret.h"
#include "probe/probe_argument.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tracer {

namespace {

constexpr size_t kNamesShownMax = 12;

// The type of a value that is one; automatic for what is not.
ArgType scalar_type(const DwarfType& type) {
    constexpr std::array kSigned = {ArgType::s8, ArgType::s16, ArgType::s32, ArgType::s64};
    constexpr std::array kUnsigned = {ArgType::u8, ArgType::u16, ArgType::u32, ArgType::u64};
    size_t log = 0;
    while (log < kSigned.size() && uint64_t{1} << log != type.bytes) ++log;
    if (log == kSigned.size()) return ArgType::automatic;
    switch (type.form) {
        case DwarfForm::integer:
        case DwarfForm::enumeration:
            return type.is_signed ? kSigned.at(log) : kUnsigned.at(log);
        case DwarfForm::boolean:
            return type.bytes == 1 ? ArgType::boolean : kUnsigned.at(log);
        case DwarfForm::floating:
            if (type.bytes == 4) return ArgType::f32;
            return type.bytes == 8 ? ArgType::f64 : ArgType::automatic;
        case DwarfForm::pointer:
            if (type.bytes != 8) return ArgType::automatic;
            return type.points_to_text ? ArgType::string : ArgType::pointer;
        case DwarfForm::none:
        case DwarfForm::structure:
        case DwarfForm::array:
        case DwarfForm::other:
            return ArgType::automatic;
    }
    return ArgType::automatic;
}

std::vector<model::ValueName> names_of(const DwarfType& type) {
    std::vector<model::ValueName> names;
    for (auto& known : enumerators_of(type)) {
        names.push_back({static_cast<uint64_t>(known.value), std::move(known.name)});
    }
    // The first of several names for one value.
    std::ranges::stable_sort(names, {}, &model::ValueName::bits);
    const auto repeated = std::unique(
        names.begin(), names.end(), [](const auto& a, const auto& b) { return a.bits == b.bits; });
    names.erase(repeated, names.end());
    return names;
}

// Gives a value the type that is known of it, where the user named none.
void set_known_type(const DwarfType& type, ArgSpec& arg) {
    if (arg.type != ArgType::automatic) return;
    arg.type = scalar_type(type);
    const bool has_format = arg.is_hex || !arg.names.empty();
    if (has_format && arg.type == ArgType::string) arg.type = ArgType::pointer;
    if (type.form == DwarfForm::enumeration && !has_format) arg.names = names_of(type);
}

std::string list_of(std::vector<std::string> names) {
    if (names.empty()) return "it has none";
    const bool is_cut = names.size() > kNamesShownMax;
    names.resize(std::min(names.size(), kNamesShownMax));
    return fmt::format("there are: {}{}", fmt::join(names, " "), is_cut ? " ..." : "");
}

std::string member_names(const DwarfType& type) {
    std::vector<std::string> names;
    if (const auto members = members_of(type)) {
        for (const auto& member : *members) names.push_back(member.name);
    }
    return list_of(std::move(names));
}

class ParameterWalk {
public:
    ParameterWalk(const ProbeSpec& spec, const FunctionParameter& parameter, ArgSpec& arg)
        : spec_(spec), place_(parameter.place), type_(parameter.type), arg_(arg) {}

    Result<ParameterStart> run() {
        TR_TRY(begin());
        for (const auto& member : arg_.members) TR_TRY(step(member));
        TR_TRY(finish());
        return start_;
    }

private:
    template <typename Text>
    tl::unexpected<Error> refuse(const Text& message, std::string hint = {}) const {
        return fail_at(spec_.text, arg_.text_offset, arg_.operand.size(), message, std::move(hint));
    }
    tl::unexpected<Error> refuse(const ArgMember& member,
                                 std::string_view message,
                                 std::string hint = {}) const {
        return fail_at(spec_.text, member.text_offset, member.name.size(), message,
                       std::move(hint));
    }

    void add_op(const tr_op& op) { start_.arg.ops[start_.arg.op_count++] = op; }

    Status begin() {
        switch (place_.kind) {
            case PlaceKind::none:
                return refuse(fmt::format("{} cannot be read: {}", arg_.operand, place_.reason));
            case PlaceKind::constant:
                add_op({.code = TR_OP_CONST, .imm = place_.constant});
                is_read_ = true;
                break;
            case PlaceKind::stack:
                add_op({.code = TR_OP_REG, .reg = TR_REG_RSP});
                offset_ = place_.stack_offset;
                is_in_memory_ = true;
                if (place_.is_indirect) enter_pointed(0);
                break;
            case PlaceKind::registers:
                if (!place_.is_indirect) break;
                TR_TRY(read_register());
                is_in_memory_ = true;
                offset_ = 0;
                break;
        }
        return {};
    }

    // Reads the part of the value at offset_ from the register that holds it.
    Status read_register() {
        if (is_read_) return {};
        const auto index = static_cast<size_t>(offset_) / 8;
        const auto reg = index < 2 ? place_.registers.at(index) : std::nullopt;
        if (!reg) {
            return refuse(
                fmt::format("{} is in a vector register, which a probe cannot read", arg_.operand));
        }
        add_op({.code = TR_OP_REG,
                .reg = static_cast<uint8_t>(*reg),
                .shift = static_cast<uint8_t>(offset_ % 8 * 8)});
        is_read_ = true;
        return {};
    }

    // Follows the pointer that lies at the present offset in memory.
    void enter_pointed(int64_t offset) {
        walk_.push_back(offset_);
        offset_ = offset;
    }

    Status step(const ArgMember& member) {
        const bool is_pointer = type_.form == DwarfForm::pointer;
        if (!reaches_members(type_, member)) {
            return refuse(member,
                          is_pointer ? fmt::format("{} is a pointer", type_.name)
                                     : fmt::format("{} is no pointer", type_.name),
                          is_pointer ? "write -> before it" : "write . before it");
        }
        auto found = find_member(type_, member.name);
        if (!found) return refuse(member, found.error().what, found.error().hint);
        if (found->bits != 0) {
            start_.bits = {.code = TR_OP_BITS,
                           .bytes = static_cast<uint8_t>(found->bits),
                           .shift = static_cast<uint8_t>(found->bit_offset),
                           .imm = found->type.is_signed ? 1 : 0};
        }
        const auto offset = static_cast<int64_t>(found->offset);
        if (!is_pointer) {
            offset_ += offset;
        } else if (is_in_memory_) {
            enter_pointed(offset);
        } else {
            TR_TRY(read_register());
            is_in_memory_ = true;
            offset_ = offset;
        }
        type_ = std::move(found->type);
        return {};
    }

    [[nodiscard]] bool has_walk() const { return !arg_.walk.empty() || arg_.addend != 0; }

    // A reference to a single value means that value, as in the source.
    Status follow_reference() {
        if (!type_.is_reference || has_walk() || arg_.type == ArgType::pointer) return {};
        auto target = pointed_type(type_);
        if (!target || scalar_type(*target) == ArgType::automatic) return {};
        if (is_in_memory_) {
            enter_pointed(0);
        } else {
            TR_TRY(read_register());
            is_in_memory_ = true;
            offset_ = 0;
        }
        type_ = std::move(*target);
        return {};
    }

    // Ends at what the members led to, and goes on with what the user loads from behind it.
    Status finish() {
        // The bytes that hold it are read as what they are declared as: no others are right.
        if (start_.bits && (has_walk() || arg_.type != ArgType::automatic)) {
            return refuse(fmt::format("{} is a bit field", operand_text(arg_)),
                          "it has the type of its declaration, and is no address");
        }
        TR_TRY(follow_reference());
        const bool is_block = type_.form == DwarfForm::array || type_.form == DwarfForm::structure;
        if (!is_in_memory_) {
            if (is_block) return refuse_block();
            TR_TRY(read_register());
        } else if (is_block) {
            TR_TRY(finish_block());
        } else {
            walk_.push_back(offset_);
        }
        const auto type = scalar_type(type_);
        if (!is_block && type == ArgType::automatic && arg_.type == ArgType::automatic) {
            return refuse(fmt::format("{} ({} bytes) is no single value", type_.name, type_.bytes));
        }
        if (!has_walk() && !is_block) settle_type(type);
        walk_.insert(walk_.end(), arg_.walk.begin(), arg_.walk.end());
        arg_.walk = std::move(walk_);
        return {};
    }

    // An array or a structure in memory stands for its address, as in C.
    Status finish_block() {
        if (!arg_.walk.empty()) {
            arg_.walk.front() += offset_;
            return {};
        }
        arg_.addend += offset_;
        const bool is_text =
            arg_.type == ArgType::string || (arg_.type == ArgType::automatic && is_char_array());
        if (!is_text) return refuse_block();
        arg_.type = ArgType::string;
        if (arg_.text_form == TextForm::ended && arg_.text_bytes == 0 &&
            type_.form == DwarfForm::array) {
            const uint64_t bytes = std::min<uint64_t>(type_.bytes, kTextRoomMax);
            arg_.text_form = bytes != 0 ? TextForm::array : TextForm::ended;
            arg_.text_bytes = static_cast<uint32_t>(bytes);
        }
        return {};
    }

    [[nodiscard]] bool is_char_array() const {
        if (type_.form != DwarfForm::array) return false;
        const auto element = pointed_type(type_);
        return element && element->form == DwarfForm::integer && element->bytes == 1;
    }

    Status refuse_block() const {
        if (type_.form == DwarfForm::array) {
            return refuse(fmt::format("{} is an array", type_.name),
                          fmt::format("read one element: {}", second_element()));
        }
        return refuse(fmt::format("{} is a structure: name a member", type_.name),
                      member_names(type_));
    }

    // Of the array that the members led to, as an argument: for hints.
    [[nodiscard]] std::string second_element() const {
        ArgSpec element = arg_;
        element.addend = 0;
        element.walk = {0};
        const auto type = pointed_type(type_);
        if (type) {
            element.walk = {static_cast<int64_t>(type->bytes)};
            element.type = scalar_type(*type);
        }
        return argument_text(element);
    }

    // A value in memory is never read wider than it is.
    void settle_type(ArgType own) {
        set_known_type(type_, arg_);
        start_.is_signed = type_.is_signed;
        if (!is_in_memory_) {
            start_.bytes = own == ArgType::automatic ? 8 : static_cast<uint8_t>(type_.bytes);
            return;
        }
        const bool is_wider = loaded_bytes(arg_.type) > type_.bytes;
        if (is_wider && own != ArgType::automatic) arg_.type = own;
    }

    const ProbeSpec& spec_;
    const ParameterPlace& place_;
    DwarfType type_;
    ArgSpec& arg_;
    ParameterStart start_;
    // Of what the members have led to so far: in memory it lies at the address that the walk loads,
    // plus offset_; else in the registers, offset_ bytes into the value.
    bool is_in_memory_ = false;
    bool is_read_ = false;  // its register was read
    int64_t offset_ = 0;
    std::vector<int64_t> walk_;
};

// The parameter that is passed where argN lies; null: none, or not in one piece.
const FunctionParameter* parameter_at(const FunctionArguments& function, size_t index) {
    constexpr std::array kRegisters = {TR_REG_RDI, TR_REG_RSI, TR_REG_RDX,
                                       TR_REG_RCX, TR_REG_R8,  TR_REG_R9};
    for (const auto& parameter : function.parameters) {
        const auto& place = parameter.place;
        if (place.is_indirect) continue;
        if (index < kRegisters.size()) {
            if (place.kind == PlaceKind::registers && place.registers[0] == kRegisters.at(index)) {
                return &parameter;
            }
            continue;
        }
        const auto offset = static_cast<int64_t>(8 + 8 * (index - kRegisters.size()));
        if (place.kind == PlaceKind::stack && place.stack_offset == offset) return &parameter;
    }
    return nullptr;
}

}  // namespace

bool reaches_members(const DwarfType& type, const ArgMember& member) {
    if (type.is_reference && !member.is_behind_pointer) return true;
    return (type.form == DwarfForm::pointer) == member.is_behind_pointer;
}

Result<ParameterStart> walk_parameter(const ProbeSpec& spec,
                                      const FunctionArguments& function,
                                      ArgSpec& arg) {
    const auto* parameter = function.find(arg.operand);
    if (parameter == nullptr) {
        std::vector<std::string> names;
        for (const auto& known : function.parameters) {
            if (!known.name.empty()) names.push_back(known.name);
        }
        return fail_at(spec.text, arg.text_offset, arg.operand.size(),
                       fmt::format("{} has no parameter '{}'", function.name, arg.operand),
                       list_of(std::move(names)));
    }
    return ParameterWalk(spec, *parameter, arg).run();
}

void take_known_type(const FunctionArguments& function, ArgSpec& arg) {
    if (arg.type != ArgType::automatic || !arg.walk.empty() || arg.addend != 0) return;
    if (arg.scale != 1) return;
    const bool is_return = arg.operand == "ret";
    const auto* parameter = is_return ? nullptr : parameter_at(function, argument_index(arg));
    if (!is_return && parameter == nullptr) return;
    const auto& place = is_return ? function.return_place : parameter->place;
    const auto& type = is_return ? function.return_type : parameter->type;
    if (place.kind == PlaceKind::registers && place.is_indirect) {
        arg.type = ArgType::pointer;
        return;
    }
    if (is_return && (place.kind != PlaceKind::registers || place.registers[0] != TR_REG_RAX)) {
        return;
    }
    // A float that lies where an integer would is one that the compiler put there itself.
    if (type.form == DwarfForm::floating) return;
    set_known_type(type, arg);
}

}  // namespace tracer
