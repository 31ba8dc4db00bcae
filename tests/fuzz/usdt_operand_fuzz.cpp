// SPDX-License-Identifier: Apache-2.0
//
// Any text as the operands of a USDT note: what compiles keeps the limits of abi/probe.h.
#include "symbol/usdt_operand.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(data, data + size);
    tracer::OperandContext context;
    context.is_fixed_address = size % 2 == 0;
    context.location_vaddr = 0x1000;
    context.address_of = [](std::string_view name) -> std::optional<uint64_t> {
        if (name.size() % 3 == 0) return std::nullopt;
        return name.size() * 16;
    };
    context.got_slot_of = [](std::string_view name) -> std::optional<uint64_t> {
        if (name.size() % 2 == 0) return std::nullopt;
        return 0x3000;
    };
    context.thread_offset_of = [](std::string_view) { return std::optional<int64_t>(-8); };
    for (const auto& operand : tracer::compile_usdt_operands(text, context)) {
        const auto& arg = operand.arg;
        if (arg.op_count > TR_OPS_MAX) std::abort();
        if (operand.is_readable() != (arg.op_count != 0)) std::abort();
        if (operand.is_readable() != operand.reason.empty()) std::abort();
        for (size_t i = 0; i < arg.op_count; ++i) {
            if (arg.ops[i].reg >= TR_REG_COUNT || arg.ops[i].shift > 8) std::abort();
        }
    }
    return 0;
}
