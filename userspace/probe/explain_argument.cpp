// SPDX-License-Identifier: Apache-2.0
//
// Read operations (abi/probe.h) in words. Called by explain_plan.
#include "probe/explain_argument.h"

#include <array>
#include <span>

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
        case TR_OP_DATA_LOC:
            return fmt::format("where the record's word at {:#x} leads", op.imm);
        default:
            return fmt::format("operation {} on {}", op.code, value);
    }
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
    for (const auto& op : std::span(arg.ops, arg.op_count)) value = step_text(value, op);
    if (arg.form == TR_ARG_USER_STRING) return fmt::format("text at {}", value);
    if (arg.form == TR_ARG_KERNEL_STRING) return fmt::format("kernel text at {}", value);
    const bool is_part =
        arg.bytes != 8 && arg.op_count > 0 && arg.ops[arg.op_count - 1].code == TR_OP_REG;
    return is_part ? fmt::format("low {} bytes of {}", arg.bytes, value) : value;
}

std::vector<ExplainedArgument> explain_arguments(const ProbeDefinition& definition,
                                                 const model::Point& point,
                                                 const tr_probe& program) {
    std::vector<ExplainedArgument> out;
    const auto& shown =
        definition.role == HitRole::span_end ? point.end_arguments : point.arguments;
    // Slot 0 of a span's is the stack pointer, by which ends find their begins.
    const size_t first = definition.role == HitRole::instant ? 0 : 1;
    for (size_t i = 0; i < shown.size() && first + i < program.arg_count; ++i) {
        const auto type =
            i < definition.slots.size() ? definition.slots[i] : model::ValueType::none;
        out.push_back({shown[i].name, value_type_name(type), read_text(program.args[first + i])});
    }
    return out;
}

}  // namespace tracer
