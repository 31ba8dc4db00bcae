// SPDX-License-Identifier: Apache-2.0
//
// Location expressions (DWARF 5, 2.6) as far as they can describe a place that is right before the
// function's first instruction has run: registers, the caller's part of the stack, constants, and
// two of them in pieces. Everything else is left to the calling convention, or not known. Called by
// the reader of functions.
#include "symbol/dwarf_location.h"

#include <algorithm>
#include <dwarf.h>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr uint64_t kGeneralRegisters = 16;  // DWARF numbers 0 to 15; from 17 on they are vectors
constexpr uint64_t kFirstVectorRegister = 17;
constexpr uint64_t kVectorRegisters = 16;
constexpr int64_t kReturnAddressBytes = 8;

using Ops = std::span<const Dwarf_Op>;

std::optional<uint64_t> register_of(const Dwarf_Op& op) {
    if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) return op.atom - DW_OP_reg0;
    if (op.atom == DW_OP_regx) return op.number;
    return std::nullopt;
}

struct BasedAddress {
    uint64_t reg;
    int64_t offset;
};

std::optional<BasedAddress> based_address_of(const Dwarf_Op& op) {
    if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
        return BasedAddress{op.atom - uint64_t{DW_OP_breg0}, static_cast<int64_t>(op.number)};
    }
    if (op.atom == DW_OP_bregx) {
        return BasedAddress{op.number, static_cast<int64_t>(op.number2)};
    }
    return std::nullopt;
}

std::optional<int64_t> constant_of(const Dwarf_Op& op) {
    if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) return op.atom - DW_OP_lit0;
    switch (op.atom) {
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_const8u:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts:
            return static_cast<int64_t>(op.number);
        default:
            return std::nullopt;
    }
}

ParameterPlace in_register(uint64_t reg) {
    ParameterPlace place;
    if (reg < kGeneralRegisters) {
        place.kind = PlaceKind::registers;
        place.registers[0] = static_cast<tr_reg>(reg);
    } else if (reg >= kFirstVectorRegister && reg < kFirstVectorRegister + kVectorRegisters) {
        place.reason = fmt::format("in the vector register xmm{}, which a probe cannot read",
                                   reg - kFirstVectorRegister);
    } else {
        place.reason = fmt::format("in register {} of DWARF, which a probe cannot read", reg);
    }
    return place;
}

ParameterPlace on_stack(int64_t offset) {
    ParameterPlace place;
    place.kind = PlaceKind::stack;
    place.stack_offset = offset;
    return place;
}

// True where the frame base is the canonical frame address: rsp + 8 at the entry.
bool is_frame_of_caller(Dwarf_Die& function) {
    Dwarf_Attribute attribute;
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    return dwarf_attr(&function, DW_AT_frame_base, &attribute) != nullptr &&
           dwarf_getlocation(&attribute, &ops, &count) == 0 && count == 1 &&
           ops[0].atom == DW_OP_call_frame_cfa;
}

// DW_OP_entry_value(reg): what the register held at the entry, which is what we ask for.
std::optional<uint64_t> entry_register_of(Dwarf_Attribute& attribute, const Dwarf_Op& op) {
    if (op.atom != DW_OP_entry_value && op.atom != DW_OP_GNU_entry_value) return std::nullopt;
    Dwarf_Attribute inner;
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_getlocation_attr(&attribute, &op, &inner) != 0) return std::nullopt;
    if (dwarf_getlocation(&inner, &ops, &count) != 0 || count != 1) return std::nullopt;
    return register_of(ops[0]);
}

class Expression {
public:
    Expression(Dwarf_Die& function, Dwarf_Attribute& attribute)
        : function_(function), attribute_(attribute) {}

    // nullopt: not a form that is right at the entry.
    [[nodiscard]] std::optional<ParameterPlace> place_of(Ops ops) {
        if (ops.empty()) return std::nullopt;
        const bool is_in_pieces = std::any_of(
            ops.begin(), ops.end(), [](const Dwarf_Op& op) { return op.atom == DW_OP_piece; });
        return is_in_pieces ? pieces(ops) : whole(ops);
    }

private:
    std::optional<ParameterPlace> whole(Ops ops) {
        if (ops.size() == 1) return single(ops[0]);
        if (ops.size() != 2) return std::nullopt;
        if (ops[1].atom == DW_OP_stack_value) return value(ops[0]);
        if (ops[1].atom == DW_OP_deref) {
            auto place = single(ops[0]);
            if (!place || place->kind != PlaceKind::stack) return std::nullopt;
            place->is_indirect = true;
            return place;
        }
        const bool is_frame =
            ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst;
        if (!is_frame) return std::nullopt;
        return on_stack(kReturnAddressBytes + static_cast<int64_t>(ops[1].number));
    }

    std::optional<ParameterPlace> single(const Dwarf_Op& op) {
        if (const auto reg = register_of(op)) return in_register(*reg);
        if (op.atom == DW_OP_call_frame_cfa) return on_stack(kReturnAddressBytes);
        if (op.atom == DW_OP_fbreg) {
            const auto offset = static_cast<int64_t>(op.number);
            // Below the frame's address lies what the function's own code will put there.
            if (offset < 0 || !is_frame_of_caller(function_)) return std::nullopt;
            return on_stack(kReturnAddressBytes + offset);
        }
        const auto address = based_address_of(op);
        if (!address) return std::nullopt;
        if (address->reg == TR_REG_RSP && address->offset >= kReturnAddressBytes) {
            return on_stack(address->offset);
        }
        const bool is_pointer = address->offset == 0 && address->reg < kGeneralRegisters &&
                                address->reg != TR_REG_RSP && address->reg != TR_REG_RBP;
        if (!is_pointer) return std::nullopt;
        auto place = in_register(address->reg);
        place.is_indirect = true;
        return place;
    }

    // Of an expression whose result is the value itself.
    std::optional<ParameterPlace> value(const Dwarf_Op& op) {
        if (const auto reg = entry_register_of(attribute_, op)) return in_register(*reg);
        if (const auto number = constant_of(op)) {
            ParameterPlace place;
            place.kind = PlaceKind::constant;
            place.constant = *number;
            return place;
        }
        const auto address = based_address_of(op);
        if (address && address->offset == 0) return in_register(address->reg);
        return std::nullopt;
    }

    // Whole eightbytes in registers. Values that the optimiser split in other ways stay unknown.
    std::optional<ParameterPlace> pieces(Ops ops) {
        ParameterPlace place;
        place.kind = PlaceKind::registers;
        size_t index = 0;
        uint64_t bytes_before = 0;
        std::optional<uint64_t> reg;
        for (const auto& op : ops) {
            if (op.atom != DW_OP_piece) {
                if (reg) return std::nullopt;
                reg = register_of(op);
                if (!reg) return std::nullopt;
                continue;
            }
            if (index == place.registers.size() || bytes_before % 8 != 0) return std::nullopt;
            if (reg && *reg < kGeneralRegisters) place.registers[index] = static_cast<tr_reg>(*reg);
            bytes_before += op.number;
            ++index;
            reg.reset();
        }
        if (!place.registers[0] && !place.registers[1]) {
            place.kind = PlaceKind::none;
            place.reason = "in vector registers, which a probe cannot read, or optimised away";
        }
        return place;
    }

    Dwarf_Die& function_;
    Dwarf_Attribute& attribute_;
};

std::optional<int64_t> constant_value(Dwarf_Die& parameter, uint64_t bytes) {
    if (bytes > sizeof(int64_t)) return std::nullopt;
    return signed_attribute(parameter, DW_AT_const_value);
}

}  // namespace

ParameterLocation locate_at_entry(Dwarf_Die& function,
                                  Dwarf_Die& parameter,
                                  uint64_t entry,
                                  uint64_t bytes) {
    ParameterLocation out;
    Dwarf_Attribute attribute;
    if (dwarf_attr(&parameter, DW_AT_location, &attribute) == nullptr) {
        const auto constant = constant_value(parameter, bytes);
        if (constant) {
            out.state = EntryLocation::told;
            out.place.kind = PlaceKind::constant;
            out.place.constant = *constant;
        } else {
            out.place.reason = "the debug information does not say where it is: optimised away";
        }
        return out;
    }
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    const int found = dwarf_getlocation_addr(&attribute, entry, &ops, &count, 1);
    const bool is_list = dwarf_whatform(&attribute) != DW_FORM_exprloc &&
                         dwarf_whatform(&attribute) != DW_FORM_block1;
    if (found == 1) {
        if (auto place = Expression(function, attribute).place_of({ops, count})) {
            out.state = EntryLocation::told;
            out.place = std::move(*place);
            return out;
        }
    }
    out.state = is_list ? EntryLocation::not_told : EntryLocation::later;
    if (is_list)
        out.place.reason =
            "the debug information does not say where it is at the function's first instruction";
    return out;
}

}  // namespace tracer
