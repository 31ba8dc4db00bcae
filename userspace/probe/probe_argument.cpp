// SPDX-License-Identifier: Apache-2.0
//
// Arguments of every kind of probe: from where they lie and the type that was asked for to read
// operations and a value's type. Called by the compiler of each kind.
#include "probe/probe_argument.h"

#include "probe/caret.h"
#include "probe/parameter_walk.h"
#include "probe/text_object.h"
#include "symbol/x86_registers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

using model::ValueType;

struct IntegerType {
    uint8_t bytes;
    bool is_signed;
};

std::optional<IntegerType> integer_of(ArgType type) {
    switch (type) {
        case ArgType::s8:
            return IntegerType{1, true};
        case ArgType::s16:
            return IntegerType{2, true};
        case ArgType::s32:
            return IntegerType{4, true};
        case ArgType::s64:
            return IntegerType{8, true};
        case ArgType::u8:
            return IntegerType{1, false};
        case ArgType::u16:
            return IntegerType{2, false};
        case ArgType::u32:
            return IntegerType{4, false};
        case ArgType::u64:
            return IntegerType{8, false};
        case ArgType::automatic:
        case ArgType::pointer:
        case ArgType::boolean:
        case ArgType::f32:
        case ArgType::f64:
        case ArgType::string:
            return std::nullopt;
    }
    return std::nullopt;
}

ArgType integer_type(size_t bytes, bool is_signed) {
    switch (bytes) {
        case 1:
            return is_signed ? ArgType::s8 : ArgType::u8;
        case 2:
            return is_signed ? ArgType::s16 : ArgType::u16;
        case 4:
            return is_signed ? ArgType::s32 : ArgType::u32;
        default:
            return is_signed ? ArgType::s64 : ArgType::u64;
    }
}

ValueType value_type(size_t bytes, bool is_signed) {
    if (bytes == 8) return is_signed ? ValueType::s64 : ValueType::u64;
    return is_signed ? ValueType::s32 : ValueType::u32;
}

tl::unexpected<Error> refuse_type(const ProbeSpec& spec,
                                  const ArgSpec& wanted,
                                  std::string_view message) {
    return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                   fmt::format("{}, not {}", message, arg_type_name(wanted.type)));
}

// Where an operand lies, how wide it is there, and what it is.
struct Place {
    tr_arg arg{};  // its operations
    uint8_t bytes = 8;
    bool is_signed = false;
    bool is_float = false;
    bool is_readable = true;
    bool is_kernel = false;     // what it points to is in the kernel's memory
    std::optional<tr_op> bits;  // what of the value read is meant: the last operation
    std::string description;    // "arg1 is a 4-byte integer"
};

void set_integer(ProbeArgument& out, uint8_t bytes, bool is_signed, ValueType type) {
    out.arg.bytes = bytes;
    out.arg.form = is_signed ? TR_ARG_SIGNED : TR_ARG_UNSIGNED;
    out.type = type;
}

Status apply_integer(IntegerType integer, const Place& source, ProbeArgument& out) {
    if (integer.bytes > source.bytes) {
        // Extended from what is there, in the way its own sign says.
        set_integer(out, source.bytes, source.is_signed,
                    value_type(integer.bytes, integer.is_signed));
    } else {
        set_integer(out, integer.bytes, integer.is_signed,
                    value_type(integer.bytes, integer.is_signed));
    }
    return {};
}

bool is_string_form(uint8_t form) {
    return form != TR_ARG_UNSIGNED && form != TR_ARG_SIGNED && form != TR_ARG_UNREADABLE;
}

tr_arg_form string_form(TextForm form, bool is_kernel) {
    switch (form) {
        case TextForm::ended:
            return is_kernel ? TR_ARG_KERNEL_STRING : TR_ARG_USER_STRING;
        case TextForm::array:
            return is_kernel ? TR_ARG_KERNEL_ARRAY : TR_ARG_USER_ARRAY;
        case TextForm::counted:
            return is_kernel ? TR_ARG_KERNEL_BYTES : TR_ARG_USER_BYTES;
    }
    return TR_ARG_UNREADABLE;
}

void set_string(const ArgSpec& wanted, bool is_kernel, ProbeArgument& out) {
    const uint32_t room_default =
        wanted.text_form == TextForm::counted ? kTextRoomMax : TR_STRING_BYTES;
    out.arg.form = static_cast<uint8_t>(string_form(wanted.text_form, is_kernel));
    out.arg.bytes = 8;
    out.arg.string_bytes_max =
        static_cast<uint16_t>(wanted.text_bytes != 0 ? wanted.text_bytes : room_default);
    out.type = ValueType::string;
}

// Gives an argument whose ops are set its form and type.
Status apply_type(const ProbeSpec& spec,
                  const ArgSpec& wanted,
                  const Place& source,
                  ProbeArgument& out) {
    const auto type = wanted.type;
    if (type == ArgType::automatic) {
        set_integer(out, source.bytes, source.is_signed,
                    source.is_float ? ValueType::f64 : value_type(source.bytes, source.is_signed));
        out.is_f32 = source.is_float && source.bytes == 4;
        return {};
    }
    if (auto integer = integer_of(type)) return apply_integer(*integer, source, out);
    if (type == ArgType::boolean) {
        set_integer(out, source.bytes, false, ValueType::boolean);
        return {};
    }
    if (type == ArgType::f32 || type == ArgType::f64) {
        const uint8_t bytes = type == ArgType::f32 ? 4 : 8;
        if (source.bytes != bytes) return refuse_type(spec, wanted, source.description);
        set_integer(out, bytes, false, ValueType::f64);
        out.is_f32 = bytes == 4;
        return {};
    }
    if (source.bytes != 8 || source.is_float) return refuse_type(spec, wanted, source.description);
    if (type == ArgType::string) {
        set_string(wanted, source.is_kernel, out);
    } else {
        set_integer(out, 8, false, ValueType::pointer);
    }
    return {};
}

// The parser and the type that was found may not have known each other.
Status apply_format(const ProbeSpec& spec, const ArgSpec& wanted, ProbeArgument& out) {
    if (wanted.is_cxx_type) {
        out.is_cxx_type = out.type == ValueType::string;
        if (out.is_cxx_type) return {};
        return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                       fmt::format("{} is no text: it has no /type", wanted.operand),
                       "the name in a type_info: *(arg1+8):str/type");
    }
    if (!wanted.is_hex && wanted.names.empty()) return {};
    if (out.type == ValueType::f64 || out.type == ValueType::string) {
        return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                       fmt::format("{} is no integer: it has no /{}", wanted.operand,
                                   wanted.is_hex ? "x" : "map"));
    }
    out.names = wanted.names;
    if (wanted.is_hex) {
        out.arg.form = TR_ARG_UNSIGNED;
        out.type = ValueType::pointer;
    }
    return {};
}

Status add_op(const ProbeSpec& spec, const ArgSpec& wanted, const tr_op& op, tr_arg& arg) {
    if (arg.op_count == TR_OPS_MAX) {
        return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                       fmt::format("this takes more than the {} steps that a probe makes for one "
                                   "argument",
                                   TR_OPS_MAX));
    }
    arg.ops[arg.op_count++] = op;
    return {};
}

// Adds what the operand loads from behind its place.
Status load(const ProbeSpec& spec, const ArgSpec& wanted, Place& place) {
    if (wanted.walk.empty() && wanted.addend == 0) return {};
    if (place.bytes != 8 || place.is_float) {
        return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                       fmt::format("{}, not an address", place.description));
    }
    const auto code = static_cast<uint8_t>(place.is_kernel ? TR_OP_KLOAD : TR_OP_LOAD);
    for (size_t i = 0; i < wanted.walk.size(); ++i) {
        const bool is_last = i + 1 == wanted.walk.size() && wanted.addend == 0;
        const uint8_t bytes = is_last ? loaded_bytes(wanted.type) : uint8_t{8};
        TR_TRY(
            add_op(spec, wanted, {.code = code, .bytes = bytes, .imm = wanted.walk[i]}, place.arg));
        place.bytes = bytes;
        const auto integer = integer_of(wanted.type);
        place.is_signed = is_last && (!integer || integer->is_signed);
    }
    place.description = fmt::format("{} is an integer", operand_text(wanted));
    if (wanted.addend == 0) return {};
    return add_op(spec, wanted, {.code = TR_OP_ADD, .imm = wanted.addend}, place.arg);
}

Status walk(const ProbeSpec& spec, const ArgSpec& wanted, Place& place) {
    TR_TRY(load(spec, wanted, place));
    return place.bits ? add_op(spec, wanted, *place.bits, place.arg) : Status{};
}

// Behind the operations of a text's address those of its length. False: it cannot be read here.
Status add_length(const ProbeSpec& spec, const ArgSpec& length, Place place, ProbeArgument& out) {
    TR_TRY(walk(spec, length, place));
    ProbeArgument integer;
    integer.arg = place.arg;
    TR_TRY(apply_type(spec, length, place, integer));
    if (integer.type == ValueType::f64 || is_string_form(integer.arg.form)) {
        return refuse_type(spec, length, "a length is an integer");
    }
    out.arg.length_bytes = integer.arg.bytes;
    TR_TRY(add_op(spec, length, {.code = TR_OP_LENGTH}, out.arg));
    for (size_t i = 0; i < place.arg.op_count; ++i) {
        TR_TRY(add_op(spec, length, place.arg.ops[i], out.arg));
    }
    return {};
}

// From the place of what was asked for, and of its length, to the argument.
Result<ProbeArgument> build(const ProbeSpec& spec,
                            const ArgSpec& wanted,
                            Place place,
                            const Place& length) {
    if (!place.is_readable || !length.is_readable) return missing_argument(wanted.label);
    TR_TRY(walk(spec, wanted, place));
    ProbeArgument argument;
    argument.label = wanted.label;
    argument.arg = place.arg;
    TR_TRY(apply_type(spec, wanted, place, argument));
    TR_TRY(apply_format(spec, wanted, argument));
    if (!wanted.length.empty() && is_string_form(argument.arg.form)) {
        TR_TRY(add_length(spec, wanted.length.front(), length, argument));
    }
    return argument;
}

// The place of an argument's length by the same rule as its own; none if it has none.
template <typename PlaceOf>
Result<Place> place_of_length(const ArgSpec& wanted, PlaceOf&& place_of) {
    if (wanted.length.empty()) return Place{};
    return place_of(wanted.length.front());
}

Status refuse_float(const ProbeSpec& spec, const ArgSpec& wanted) {
    if (wanted.type != ArgType::f32 && wanted.type != ArgType::f64) return {};
    if (!wanted.walk.empty() || wanted.is_parameter) return {};
    return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                   "floating-point values of functions are in vector registers, which a probe "
                   "cannot read");
}

// A function's argument or its return value, by the System V ABI for x86-64, 3.2.3: the first six
// integers are in registers, further ones on the stack above the return address.
Place place_by_number(const ArgSpec& wanted) {
    constexpr std::array kRegisters = {TR_REG_RDI, TR_REG_RSI, TR_REG_RDX,
                                       TR_REG_RCX, TR_REG_R8,  TR_REG_R9};
    Place place;
    place.is_signed = true;
    place.description = fmt::format("{} is an integer", wanted.operand);
    // A bool's upper bytes are not defined by the ABI.
    if (wanted.type == ArgType::boolean && wanted.walk.empty()) place.bytes = 1;
    place.arg.op_count = 1;
    tr_op& first = place.arg.ops[0];
    first.code = TR_OP_REG;
    first.reg = TR_REG_RAX;
    if (wanted.operand == "ret") return place;
    // The accumulator is 0 to begin with.
    if (wanted.scale != 1) {
        first.code = TR_OP_INDEX;
        first.shift = static_cast<uint8_t>(std::countr_zero(wanted.scale));
    }
    if (wanted.operand.starts_with('%')) {
        const auto known = find_register(std::string_view(wanted.operand).substr(1));
        TR_CHECK(known.has_value());
        first.reg = static_cast<uint8_t>(known->reg);
        return place;
    }
    const size_t index = argument_index(wanted);
    if (index < kRegisters.size()) {
        first.reg = static_cast<uint8_t>(kRegisters[index]);
        return place;
    }
    const auto offset = static_cast<int64_t>(8 + 8 * (index - kRegisters.size()));
    first.reg = TR_REG_RSP;
    place.arg.ops[place.arg.op_count++] = {.code = TR_OP_LOAD, .bytes = 8, .imm = offset};
    return place;
}

Result<Place> place_of_variable(const ProbeSpec& spec,
                                const ArgSpec& arg,
                                const VariablePlaces& variables) {
    const auto variable =
        variables ? variables(std::string_view(arg.operand).substr(1)) : std::nullopt;
    if (!variable) {
        auto error = fail_at(spec.text, arg.text_offset, arg.operand.size(),
                             "the file's symbols have no such variable")
                         .value();
        error.code = ErrorCode::not_found;
        return tl::unexpected(std::move(error));
    }
    // Where it returns to is not known.
    if (spec.kind == ProbeKind::uretprobe && !variable->is_of_thread) {
        return fail_at(spec.text, arg.text_offset, arg.operand.size(),
                       "a variable's address is known at places of its own file",
                       "u:, span: and calls: probes can read it, and this one those that each "
                       "thread has");
    }
    Place place;
    place.arg.op_count = 1;
    const tr_reg base = variable->is_of_thread ? TR_REG_FS_BASE : TR_REG_RIP;
    place.arg.ops[0] = {
        .code = TR_OP_REG, .reg = static_cast<uint8_t>(base), .imm = variable->distance};
    place.description = fmt::format("{} is an address", arg.operand);
    return place;
}

// What a function finds at its entry and what calls it does not have at that place yet.
Status refuse_at_call(const ProbeSpec& spec, const ArgSpec& arg) {
    constexpr size_t kInRegisters = 6;
    const bool is_named = arg.is_parameter;
    const bool is_on_stack =
        !is_named && arg.operand.starts_with("arg") && argument_index(arg) >= kInRegisters;
    if (!is_named && !is_on_stack) return {};
    return fail_at(spec.text, arg.text_offset, arg.operand.size(),
                   is_named ? "a parameter by its name is read at the function's entry"
                            : "arguments on the stack have no fixed place where it is called",
                   "arg0 to arg5 are in registers by then");
}

// With what debug information tells; what it adds to the walk and the type goes into `arg`.
Result<Place> place_in_function(const ProbeSpec& spec,
                                const FunctionArguments* known,
                                const VariablePlaces& variables,
                                ArgSpec& arg) {
    if (spec.is_at_calls) TR_TRY(refuse_at_call(spec, arg));
    if (!arg.is_parameter) {
        if (arg.operand.starts_with('&')) return place_of_variable(spec, arg, variables);
        const bool is_argument = !arg.operand.starts_with('%');
        if (known != nullptr && is_argument) take_known_type(*known, arg);
        return place_by_number(arg);
    }
    if (known == nullptr) {
        return fail_at(spec.text, arg.text_offset, arg.operand.size(),
                       "the file has no debug information of this function");
    }
    TR_ASSIGN(const auto start, walk_parameter(spec, *known, arg));
    Place place;
    place.arg = start.arg;
    place.bytes = start.bytes;
    place.is_signed = start.is_signed;
    place.bits = start.bits;
    place.description = fmt::format("{} is a {}-byte value", operand_text(arg), start.bytes);
    return place;
}

Place place_of_operand(const ArgSpec& wanted, std::span<const CompiledOperand> operands) {
    const size_t index = argument_index(wanted);
    Place place;
    if (index >= operands.size() || !operands[index].is_readable()) {
        place.is_readable = false;
        return place;
    }
    const auto& operand = operands[index];
    place.arg = operand.arg;
    place.bytes = operand.bytes;
    place.is_signed = operand.is_signed;
    place.is_float = operand.is_float;
    place.description = fmt::format("{} is a {}-byte {} here ({})", wanted.operand, operand.bytes,
                                    operand.is_float ? "float" : "integer", operand.text);
    return place;
}

bool is_text(const TracepointField& field) {
    return field.form == FieldForm::char_array || field.form == FieldForm::data_location;
}

Result<Place> place_of_field(const ProbeSpec& spec,
                             const ArgSpec& wanted,
                             const TracepointFormat& format,
                             bool is_system_call) {
    const auto* field = find_field(format, wanted.operand);
    Place place;
    place.is_readable = field != nullptr;
    if (field == nullptr) return place;
    if (field->form == FieldForm::other || is_text(*field)) {
        return fail_at(
            spec.text, wanted.text_offset, wanted.operand.size(),
            fmt::format("field '{}' ({}) is not a single value", field->name, field->type));
    }
    place.bytes = static_cast<uint8_t>(field->bytes);
    place.is_signed = field->is_signed;
    place.is_kernel = !is_system_call;
    place.description = fmt::format("{} is a {}-byte integer", field->name, field->bytes);
    place.arg.op_count = 2;
    place.arg.ops[0] = {.code = TR_OP_REG, .reg = TR_REG_RECORD};
    place.arg.ops[1] = {
        .code = TR_OP_KLOAD, .bytes = place.bytes, .imm = static_cast<int64_t>(field->offset)};
    return place;
}

// A field that is text itself, in the tracepoint's own record.
Result<ProbeArgument> argument_of_text(const ProbeSpec& spec,
                                       const ArgSpec& wanted,
                                       const TracepointField& field) {
    const bool is_string = wanted.type == ArgType::automatic || wanted.type == ArgType::string;
    if (!is_string) return refuse_type(spec, wanted, fmt::format("{} is text", field.name));
    if (!wanted.walk.empty() || wanted.addend != 0 || !wanted.length.empty()) {
        return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                       fmt::format("{} is text, not an address", field.name));
    }
    ProbeArgument argument;
    argument.label = wanted.label;
    argument.arg.op_count = 1;
    const auto offset = static_cast<int64_t>(field.offset);
    auto typed = wanted;
    if (field.form == FieldForm::data_location) {
        argument.arg.ops[0] = {.code = TR_OP_DATA_LOC, .imm = offset};
    } else {
        argument.arg.ops[0] = {.code = TR_OP_REG, .reg = TR_REG_RECORD, .imm = offset};
        // It may be full, without a NUL; whatever follows is another field.
        typed.text_form = TextForm::array;
        const uint32_t room = wanted.text_bytes != 0 ? wanted.text_bytes : kTextRoomMax;
        typed.text_bytes = std::min(field.bytes, room);
    }
    set_string(typed, true, argument);
    TR_TRY(apply_format(spec, wanted, argument));
    return argument;
}

}  // namespace

uint8_t loaded_bytes(ArgType type) {
    if (const auto integer = integer_of(type)) return integer->bytes;
    if (type == ArgType::boolean) return 1;
    return type == ArgType::f32 ? 4 : 8;
}

const TracepointField* find_field(const TracepointFormat& format, std::string_view name) {
    const auto found = std::ranges::find(format.fields, name, &TracepointField::name);
    return found != format.fields.end() ? &*found : nullptr;
}

ArgType type_of_operand(const CompiledOperand& operand) {
    if (operand.is_float) return operand.bytes == 4 ? ArgType::f32 : ArgType::f64;
    return integer_type(operand.bytes, operand.is_signed);
}

ArgType type_of_field(const TracepointField& field) {
    switch (field.form) {
        case FieldForm::integer:
            return integer_type(field.bytes, field.is_signed);
        case FieldForm::pointer:
            return ArgType::pointer;
        case FieldForm::boolean:
            return ArgType::boolean;
        case FieldForm::char_array:
        case FieldForm::data_location:
            return ArgType::string;
        case FieldForm::other:
            return ArgType::automatic;
    }
    return ArgType::automatic;
}

Result<ProbeArgument> argument_of_operand(const ProbeSpec& spec,
                                          const ArgSpec& wanted,
                                          std::span<const CompiledOperand> operands) {
    const auto place_of = [&](const ArgSpec& arg) -> Result<Place> {
        return place_of_operand(arg, operands);
    };
    TR_ASSIGN(const auto length, place_of_length(wanted, place_of));
    TR_ASSIGN(auto place, place_of(wanted));
    return build(spec, wanted, std::move(place), length);
}

Result<ProbeArgument> argument_of_function(const ProbeSpec& spec,
                                           const ArgSpec& wanted,
                                           const FunctionArguments* known,
                                           const VariablePlaces& variables) {
    TR_TRY(refuse_float(spec, wanted));
    auto typed = wanted;
    if (known != nullptr) expand_text_object(*known, typed);
    Place length;
    if (!typed.length.empty()) {
        TR_ASSIGN(length, place_in_function(spec, known, variables, typed.length.front()));
    }
    TR_ASSIGN(auto place, place_in_function(spec, known, variables, typed));
    return build(spec, typed, std::move(place), length);
}

Result<ProbeArgument> argument_of_field(const ProbeSpec& spec,
                                        const ArgSpec& wanted,
                                        const TracepointFormat& format,
                                        bool is_system_call) {
    const auto* field = find_field(format, wanted.operand);
    if (field != nullptr && is_text(*field)) return argument_of_text(spec, wanted, *field);
    const auto place_of = [&](const ArgSpec& arg) {
        return place_of_field(spec, arg, format, is_system_call);
    };
    TR_ASSIGN(const auto length, place_of_length(wanted, place_of));
    TR_ASSIGN(auto place, place_of(wanted));
    auto typed = wanted;
    if (field != nullptr && typed.type == ArgType::automatic && typed.walk.empty() &&
        field->form != FieldForm::integer) {
        typed.type = type_of_field(*field);
    }
    return build(spec, typed, std::move(place), length);
}

ProbeArgument missing_argument(std::string label) {
    ProbeArgument argument;
    argument.label = std::move(label);
    argument.arg.form = TR_ARG_UNREADABLE;
    argument.arg.bytes = 8;
    return argument;
}

std::string_view wanted_form(const ArgSpec& arg) {
    if (!arg.walk.empty() || arg.addend != 0) return "address";
    return arg.type == ArgType::automatic ? "integer" : arg_type_name(arg.type);
}

size_t argument_index(const ArgSpec& arg) {
    size_t index = 0;
    for (char c : arg.operand.substr(3)) index = index * 10 + static_cast<size_t>(c - '0');
    return index;
}

ValueType widest(ValueType a, ValueType b) {
    if (a == b || b == ValueType::none) return a;
    if (a == ValueType::none) return b;
    auto is_either = [&](ValueType type) { return a == type || b == type; };
    if (is_either(ValueType::string)) return ValueType::string;
    if (is_either(ValueType::f64)) return ValueType::f64;
    if (is_either(ValueType::s64)) return ValueType::s64;
    if (is_either(ValueType::u64)) {
        return is_either(ValueType::s32) ? ValueType::s64 : ValueType::u64;
    }
    if (is_either(ValueType::pointer)) return ValueType::u64;
    // What is left are s32, u32 and boolean.
    if (is_either(ValueType::s32) && is_either(ValueType::u32)) return ValueType::s64;
    return is_either(ValueType::s32) ? ValueType::s32 : ValueType::u32;
}

}  // namespace tracer
