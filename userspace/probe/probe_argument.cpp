// SPDX-License-Identifier: Apache-2.0
//
// Arguments of every kind of probe: from where they lie and the type that was asked for to read
// operations and a value's type. Called by the compiler of each kind.
#include "probe/probe_argument.h"

#include "probe/caret.h"

#include <algorithm>
#include <array>
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

// What lies at an argument's place.
struct Source {
    uint8_t bytes = 8;
    bool is_signed = false;
    bool is_float = false;
    std::string description;  // "arg1 is a 4-byte integer"
};

void set_integer(ProbeArgument& out, uint8_t bytes, bool is_signed, ValueType type) {
    out.arg.bytes = bytes;
    out.arg.form = is_signed ? TR_ARG_SIGNED : TR_ARG_UNSIGNED;
    out.type = type;
}

Status apply_integer(IntegerType integer, const Source& source, ProbeArgument& out) {
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

// Gives an argument whose ops are set its form and type.
Status apply_type(const ProbeSpec& spec,
                  const ArgSpec& wanted,
                  const Source& source,
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
        out.arg.form = TR_ARG_USER_STRING;
        out.arg.bytes = 8;
        out.type = ValueType::string;
    } else {
        set_integer(out, 8, false, ValueType::pointer);
    }
    return {};
}

void add_op(tr_arg& arg, const tr_op& op) {
    TR_CHECK(arg.op_count < TR_OPS_MAX);
    arg.ops[arg.op_count++] = op;
}

Status refuse_float(const ProbeSpec& spec, const ArgSpec& wanted) {
    if (wanted.type != ArgType::f32 && wanted.type != ArgType::f64) return {};
    return fail_at(spec.text, wanted.text_offset, wanted.operand.size(),
                   "floating-point values of functions are in vector registers, which a probe "
                   "cannot read");
}

}  // namespace

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
                                          const CompiledOperand& operand) {
    if (!operand.is_readable()) return missing_argument(wanted.label);
    ProbeArgument argument;
    argument.label = wanted.label;
    argument.arg = operand.arg;
    const Source source{operand.bytes, operand.is_signed, operand.is_float,
                        fmt::format("{} is a {}-byte {} here ({})", wanted.operand, operand.bytes,
                                    operand.is_float ? "float" : "integer", operand.text)};
    TR_TRY(apply_type(spec, wanted, source, argument));
    return argument;
}

Result<ProbeArgument> argument_of_function(const ProbeSpec& spec, const ArgSpec& wanted) {
    // System V ABI for x86-64, 3.2.3: the first six integers are in registers, further ones on the
    // stack above the return address.
    constexpr std::array kRegisters = {TR_REG_RDI, TR_REG_RSI, TR_REG_RDX,
                                       TR_REG_RCX, TR_REG_R8,  TR_REG_R9};
    TR_TRY(refuse_float(spec, wanted));
    ProbeArgument argument;
    argument.label = wanted.label;
    const size_t index = argument_index(wanted);
    if (index < kRegisters.size()) {
        add_op(argument.arg, {.code = TR_OP_REG, .reg = static_cast<uint8_t>(kRegisters[index])});
    } else {
        const auto offset = static_cast<int64_t>(8 + 8 * (index - kRegisters.size()));
        add_op(argument.arg, {.code = TR_OP_REG, .reg = TR_REG_RSP});
        add_op(argument.arg, {.code = TR_OP_LOAD, .bytes = 8, .imm = offset});
    }
    TR_TRY(apply_type(spec, wanted, {8, true, false, wanted.operand}, argument));
    // A bool's upper bytes are not defined by the ABI.
    if (wanted.type == ArgType::boolean) argument.arg.bytes = 1;
    return argument;
}

Result<ProbeArgument> argument_of_return(const ProbeSpec& spec, const ArgSpec& wanted) {
    TR_TRY(refuse_float(spec, wanted));
    ProbeArgument argument;
    argument.label = wanted.label;
    add_op(argument.arg, {.code = TR_OP_REG, .reg = TR_REG_RAX});
    TR_TRY(apply_type(spec, wanted, {8, true, false, wanted.operand}, argument));
    if (wanted.type == ArgType::boolean) argument.arg.bytes = 1;
    return argument;
}

Result<ProbeArgument> argument_of_field(const ProbeSpec& spec,
                                        const ArgSpec& wanted,
                                        const TracepointField& field,
                                        bool is_system_call) {
    ProbeArgument argument;
    argument.label = wanted.label;
    const auto offset = static_cast<int64_t>(field.offset);
    const bool is_text =
        field.form == FieldForm::char_array || field.form == FieldForm::data_location;
    if (is_text) {
        if (wanted.type != ArgType::automatic && wanted.type != ArgType::string) {
            return refuse_type(spec, wanted, fmt::format("{} is text", field.name));
        }
        if (field.form == FieldForm::data_location) {
            add_op(argument.arg, {.code = TR_OP_DATA_LOC, .imm = offset});
        } else {
            add_op(argument.arg, {.code = TR_OP_REG, .reg = TR_REG_RECORD, .imm = offset});
            // The array may be full, without a NUL; whatever follows is another field.
            argument.arg.string_bytes_max =
                static_cast<uint16_t>(std::min<uint32_t>(field.bytes + 1, TR_STRING_BYTES));
        }
        argument.arg.form = TR_ARG_KERNEL_STRING;
        argument.arg.bytes = 8;
        argument.type = ValueType::string;
        return argument;
    }
    if (field.form == FieldForm::other) {
        return fail_at(
            spec.text, wanted.text_offset, wanted.operand.size(),
            fmt::format("field '{}' ({}) is not a single value", field.name, field.type));
    }
    const auto bytes = static_cast<uint8_t>(field.bytes);
    add_op(argument.arg, {.code = TR_OP_REG, .reg = TR_REG_RECORD});
    add_op(argument.arg, {.code = TR_OP_KLOAD, .bytes = bytes, .imm = offset});
    auto typed = wanted;
    if (typed.type == ArgType::automatic && field.form != FieldForm::integer) {
        typed.type = type_of_field(field);
    }
    const auto description = fmt::format("{} is a {}-byte integer", field.name, field.bytes);
    TR_TRY(apply_type(spec, typed, {bytes, field.is_signed, false, description}, argument));
    if (typed.type == ArgType::string && !is_system_call) {
        argument.arg.form = TR_ARG_KERNEL_STRING;
    }
    return argument;
}

ProbeArgument missing_argument(std::string label) {
    ProbeArgument argument;
    argument.label = std::move(label);
    argument.arg.form = TR_ARG_UNREADABLE;
    argument.arg.bytes = 8;
    return argument;
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
