// SPDX-License-Identifier: Apache-2.0
//
// Read operations (abi/probe.h) in words. Called by explain_plan.
#include "probe/explain_argument.h"

#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::array<std::string_view, TR_REG_COUNT> kRegisterNames = {
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",     "r8",    "r9",
    "r10", "r11", "r12", "r13", "r14", "r15", "rip", "fs base", "record"};

std::string_view register_name(uint8_t reg) {
    return reg < kRegisterNames.size() ? kRegisterNames[reg] : "an unknown register";
}

std::string with_offset(const std::string& base, int64_t offset) {
    if (offset == 0) return base;
    // The smallest number has no positive counterpart as int64_t.
    const uint64_t distance =
        offset < 0 ? ~static_cast<uint64_t>(offset) + 1 : static_cast<uint64_t>(offset);
    return fmt::format("{} {} {:#x}", base, offset < 0 ? '-' : '+', distance);
}

// `value`: what the accumulator holds so far.
std::string step_text(const std::string& value, const tr_op& op) {
    switch (op.code) {
        case TR_OP_CONST:
            return fmt::format("constant {}", op.imm);
        case TR_OP_REG: {
            const auto name = std::string(register_name(op.reg));
            return with_offset(op.shift == 0 ? name : fmt::format("{} >> {}", name, op.shift),
                               op.imm);
        }
        case TR_OP_INDEX:
            return fmt::format("{} + {} * {}", value, register_name(op.reg), 1u << (op.shift & 3));
        case TR_OP_LOAD:
        case TR_OP_KLOAD:
            return fmt::format("{} bytes at {}", op.bytes, with_offset(value, op.imm));
        case TR_OP_ADD:
            return with_offset(value, op.imm);
        case TR_OP_BITS:
            return fmt::format("{} bit{} from bit {} of {}", op.bytes, op.bytes == 1 ? "" : "s",
                               op.shift, value);
        case TR_OP_DATA_LOC:
            return fmt::format("where the record's word at {:#x} leads", op.imm);
        default:
            return fmt::format("operation {} on {}", op.code, value);
    }
}

std::string_view text_kind(uint8_t form) {
    const bool is_kernel =
        form == TR_ARG_KERNEL_STRING || form == TR_ARG_KERNEL_ARRAY || form == TR_ARG_KERNEL_BYTES;
    return is_kernel ? "kernel text" : "text";
}

// The usual room needs no word.
std::string room_text(const tr_arg& arg) {
    if (arg.string_bytes_max == 0 || arg.string_bytes_max == TR_STRING_BYTES) return {};
    return fmt::format(", at most {} bytes", arg.string_bytes_max - 1);
}

std::string part_text(const std::string& value, uint8_t bytes, bool is_register) {
    return is_register && bytes != 8 ? fmt::format("low {} bytes of {}", bytes, value) : value;
}

}  // namespace

std::string_view value_type_name(model::ValueType type) {
    switch (type) {
        case model::ValueType::none:
            return "none";
        case model::ValueType::s32:
            return "s32";
        case model::ValueType::u32:
            return "u32";
        case model::ValueType::s64:
            return "s64";
        case model::ValueType::u64:
            return "u64";
        case model::ValueType::f64:
            return "f64";
        case model::ValueType::boolean:
            return "bool";
        case model::ValueType::pointer:
            return "ptr";
        case model::ValueType::string:
            return "str";
    }
    return "";
}

std::string read_text(const tr_arg& arg) {
    if (arg.form == TR_ARG_UNREADABLE || arg.op_count > TR_OPS_MAX) return "cannot be read here";
    std::string value = "0";
    std::string address;  // of a text whose length is read too
    for (const auto& op : std::span(arg.ops, arg.op_count)) {
        if (op.code == TR_OP_LENGTH) {
            address = std::exchange(value, "0");
        } else {
            value = step_text(value, op);
        }
    }
    const bool is_register = arg.op_count > 0 && arg.ops[arg.op_count - 1].code == TR_OP_REG;
    switch (arg.form) {
        case TR_ARG_USER_STRING:
        case TR_ARG_KERNEL_STRING:
            return fmt::format("{} at {}{}", text_kind(arg.form), value, room_text(arg));
        case TR_ARG_USER_ARRAY:
        case TR_ARG_KERNEL_ARRAY:
            return fmt::format("{} at {}, {} bytes or to a NUL", text_kind(arg.form), value,
                               arg.string_bytes_max);
        case TR_ARG_USER_BYTES:
        case TR_ARG_KERNEL_BYTES:
            return fmt::format(
                "{} at {}, as many bytes as {} says, at most {}", text_kind(arg.form), address,
                part_text(value, arg.length_bytes, is_register), arg.string_bytes_max);
        default:
            return part_text(value, arg.bytes, is_register);
    }
}

std::vector<ExplainedArgument> explain_arguments(const ProbeDefinition& definition,
                                                 const model::Point& point,
                                                 const tr_probe& program) {
    std::vector<ExplainedArgument> out;
    // The hidden ones are how ends find their begins.
    const size_t first = hidden_slots(definition.role);
    const bool is_end = is_span_end(definition.role) || definition.role == HitRole::pair_end ||
                        definition.role == HitRole::pair_until;
    std::vector<std::string> names;
    if (is_end && definition.key != PairKey::none) {
        names.emplace_back(definition.key == PairKey::frame ? "frame_key" : "key");
        if (definition.has_second_key) names.emplace_back("key2");
    }
    if (definition.role != HitRole::pair_until) {
        for (const auto& shown : is_end ? point.end_arguments : point.arguments) {
            names.push_back(shown.name);
        }
    }
    for (size_t i = 0; i < names.size() && first + i < program.arg_count; ++i) {
        const auto type =
            i < definition.slots.size() ? definition.slots[i] : model::ValueType::none;
        const bool is_cxx_type = (definition.cxx_type_slots >> i & 1u) != 0;
        out.push_back(
            {names[i], value_type_name(type),
             read_text(program.args[first + i]) + (is_cxx_type ? ", the name of a C++ type" : "")});
    }
    return out;
}

}  // namespace tracer
