// SPDX-License-Identifier: Apache-2.0
//
// Operands of USDT notes: parsed to a small form, then compiled to read operations (abi/probe.h).
//
// A symbol's run-time address is its link-time address in a fixed-address program. Elsewhere it is
// taken relative to the probed instruction: %rip at the probe is the run-time address of the
// note's location, so sym = %rip + (link-time sym - link-time location). Called by the probe
// compiler; untrusted input.
#include "symbol/usdt_operand.h"

#include "symbol/att_operand.h"
#include "symbol/operand_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

// A parser's outcome: an empty text is success, else why the operand cannot be read.
using Reason = std::string;

class OperandCompiler {
public:
    OperandCompiler(const OperandContext& context, CompiledOperand& out)
        : context_(context), out_(out) {}

    Reason compile(const AttPlace& place) {
        if (place.kind == AttPlaceKind::reg) {
            add({.code = TR_OP_REG,
                 .reg = static_cast<uint8_t>(place.base->reg),
                 .shift = place.base->shift});
            return {};
        }
        if (place.is_got_slot) return compile_got_slot(place);
        uint64_t offset = place.number;
        bool is_relative = false;
        if (auto reason = resolve(place, offset, is_relative); !reason.empty()) return reason;
        if (place.kind == AttPlaceKind::immediate) {
            add_start(is_relative, offset);
            return {};
        }
        return compile_memory(place, offset, is_relative);
    }

private:
    // Adds the symbol's part to `offset`; `is_relative`: the sum counts from %rip.
    Reason resolve(const AttPlace& place, uint64_t& offset, bool& is_relative) const {
        if (place.symbol.empty()) {
            if (place.base && place.base->reg == TR_REG_RIP) return "%rip without a symbol";
            return {};
        }
        if (place.is_symbol_negative) return "a subtracted symbol";
        if (place.is_thread_offset) {
            // The segment's base may also have been loaded into a register.
            if (place.kind == AttPlaceKind::memory && !place.has_thread_segment &&
                (!place.base || place.base->reg == TR_REG_RIP)) {
                return "@tpoff without %fs:";
            }
            auto offset_found =
                context_.thread_offset_of ? context_.thread_offset_of(place.symbol) : std::nullopt;
            if (!offset_found) {
                return fmt::format("no offset of thread-local '{}' is known", place.symbol);
            }
            offset += static_cast<uint64_t>(*offset_found);
            return {};
        }
        auto address = find(context_.address_of, place.symbol);
        if (!address) return fmt::format("symbol '{}' is not in the file", place.symbol);
        offset += *address;
        const bool has_rip = place.base && place.base->reg == TR_REG_RIP;
        is_relative = has_rip || !context_.is_fixed_address;
        if (is_relative) offset -= context_.location_vaddr;
        return {};
    }

    Reason compile_memory(const AttPlace& place, uint64_t offset, bool is_relative) {
        const bool has_rip = place.base && place.base->reg == TR_REG_RIP;
        if (has_rip && (place.index || place.has_thread_segment)) {
            return "%rip with another register";
        }
        if (is_relative && !has_rip && (place.base || place.index || place.has_thread_segment)) {
            return "a symbol's absolute address in a position-independent file";
        }
        // The offset rides on the load, except where %rip or nothing else starts the sum.
        uint64_t load_offset = offset;
        if (place.has_thread_segment) {
            add({.code = TR_OP_REG, .reg = TR_REG_FS_BASE});
            if (place.base) add_index(*place.base, 0);
        } else if (is_relative) {
            add_start(true, offset);
            load_offset = 0;
        } else if (place.base) {
            // 32-bit names (x32 programs) stand for registers whose upper half is zero.
            add({.code = TR_OP_REG, .reg = static_cast<uint8_t>(place.base->reg)});
        } else if (!place.index) {
            add_start(false, offset);
            load_offset = 0;
        }
        if (place.index) add_index(*place.index, place.scale_shift);
        add({.code = TR_OP_LOAD, .bytes = out_.bytes, .imm = static_cast<int64_t>(load_offset)});
        return fits_ ? Reason{} : "needs more steps than a probe may have";
    }

    // The address of a symbol, by way of the slot from which the code would load it. No instruction
    // of the note's names the slot, so the linker makes one only when other code needs it; without
    // one, the symbol is in this file and its address is known.
    Reason compile_got_slot(const AttPlace& place) {
        const bool has_rip = place.base && place.base->reg == TR_REG_RIP;
        if (place.kind != AttPlaceKind::memory || !has_rip || place.index || place.number != 0 ||
            place.has_thread_segment || place.is_symbol_negative) {
            return "@GOTPCREL in another form than symbol@GOTPCREL(%rip)";
        }
        if (auto slot = find(context_.got_slot_of, place.symbol)) {
            add_start(true, *slot - context_.location_vaddr);
            add({.code = TR_OP_LOAD, .bytes = out_.bytes});
            return {};
        }
        auto address = find(context_.address_of, place.symbol);
        if (!address) {
            return fmt::format("neither symbol '{}' nor a slot for its address is in the file",
                               place.symbol);
        }
        add_start(true, *address - context_.location_vaddr);
        return {};
    }

    static std::optional<uint64_t> find(
        const std::function<std::optional<uint64_t>(std::string_view)>& lookup,
        std::string_view name) {
        return lookup ? lookup(name) : std::nullopt;
    }

    void add_start(bool is_relative, uint64_t offset) {
        const auto imm = static_cast<int64_t>(offset);
        if (is_relative) {
            add({.code = TR_OP_REG, .reg = TR_REG_RIP, .imm = imm});
        } else {
            add({.code = TR_OP_CONST, .imm = imm});
        }
    }

    void add_index(const RegisterName& name, uint8_t shift) {
        add({.code = TR_OP_INDEX, .reg = static_cast<uint8_t>(name.reg), .shift = shift});
    }

    void add(const tr_op& op) {
        if (out_.arg.op_count == TR_OPS_MAX) {
            fits_ = false;
            return;
        }
        out_.arg.ops[out_.arg.op_count++] = op;
    }

    const OperandContext& context_;
    CompiledOperand& out_;
    bool fits_ = true;
};

// "-4@%al": no more is in the register than its name is wide.
Reason fit_register(uint8_t register_bytes, const OperandSize& size, CompiledOperand& out) {
    if (size.is_float && size.bytes > register_bytes) {
        return fmt::format("a {}-byte float in a register of {} bytes", size.bytes, register_bytes);
    }
    out.bytes = size.is_given ? std::min(size.bytes, register_bytes) : register_bytes;
    return {};
}

}  // namespace

void CompiledOperand::set_size(const OperandSize& size) {
    bytes = size.bytes;
    is_signed = size.is_signed;
    is_float = size.is_float;
}

void CompiledOperand::make_unreadable(std::string why) {
    arg = tr_arg{};
    arg.form = TR_ARG_UNREADABLE;
    arg.bytes = bytes;
    reason = std::move(why);
}

CompiledOperand compile_usdt_operand(std::string_view text, const OperandContext& context) {
    CompiledOperand result;
    result.text = std::string(text);
    OperandSize size;
    AttPlace place;
    auto reason = take_operand_size(text, size);
    result.set_size(size);
    if (reason.empty()) reason = parse_att_place(text, AttMachine::x86_64, place);
    if (!reason.empty()) {
        result.make_unreadable(std::move(reason));
        return result;
    }
    if (place.kind == AttPlaceKind::reg) {
        reason = fit_register(place.base->bytes, size, result);
    } else if (!size.is_given) {
        result.is_signed = place.kind == AttPlaceKind::immediate;
    }
    if (reason.empty()) reason = OperandCompiler(context, result).compile(place);
    if (!reason.empty()) {
        result.make_unreadable(std::move(reason));
        return result;
    }
    result.arg.bytes = result.bytes;
    result.arg.form = result.is_signed ? TR_ARG_SIGNED : TR_ARG_UNSIGNED;
    return result;
}

std::vector<CompiledOperand> compile_usdt_operands(std::string_view text,
                                                   const OperandContext& context,
                                                   size_t* total) {
    return take_operands(text, total, [&](std::string_view operand) {
        return compile_usdt_operand(operand, context);
    });
}

std::vector<CompiledOperand> take_operands(
    std::string_view text,
    size_t* total,
    const std::function<CompiledOperand(std::string_view)>& make) {
    std::vector<CompiledOperand> operands;
    size_t count = 0;
    while (true) {
        const auto operand = take_operand(text);
        if (operand.empty()) break;
        ++count;
        if (operands.size() < TR_ARGS_MAX) operands.push_back(make(operand));
    }
    if (total != nullptr) *total = count;
    return operands;
}

}  // namespace tracer
