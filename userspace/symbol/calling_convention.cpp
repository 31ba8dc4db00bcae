// SPDX-License-Identifier: Apache-2.0
//
// The classification of System V ABI for x86-64 (3.2.3), on types as debug information tells them.
// Only consulted where the debug information does not say itself where a parameter is at the entry:
// code without optimisation. Called by the reader of functions.
#include "symbol/calling_convention.h"

#include "symbol/dwarf_session.h"

#include <algorithm>
#include <dwarf.h>

namespace tracer {

namespace {

constexpr std::array kGeneral = {TR_REG_RDI, TR_REG_RSI, TR_REG_RDX,
                                 TR_REG_RCX, TR_REG_R8,  TR_REG_R9};
constexpr size_t kVectorRegisters = 8;
constexpr uint64_t kAggregateBytesMax = 16;
constexpr int kNestingMax = 16;
constexpr uint64_t kElementsMax = kAggregateBytesMax;

uint64_t round_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

void merge(ArgumentClass& into, ArgumentClass value) {
    // Rule 4: INTEGER wins over SSE, anything over NO_CLASS.
    if (value == ArgumentClass::none || into == ArgumentClass::integer) return;
    into = value;
}

bool is_x87(const DwarfType& type) {
    return type.form == DwarfForm::floating && type.bytes == 16 &&
           type.name.find("long double") != std::string::npos;
}

// Walks a value's scalars, each at its offset.
class Classifier {
public:
    explicit Classifier(ValueClass& out) : out_(out) {}

    void add(const DwarfType& type, uint64_t offset, int depth) {
        if (depth > kNestingMax) {
            out_.is_unknown = true;
            return;
        }
        switch (type.form) {
            case DwarfForm::structure:
                return add_structure(type, offset, depth);
            case DwarfForm::array:
                return add_array(type, offset, depth);
            case DwarfForm::none:
                out_.is_unknown = true;
                return;
            case DwarfForm::integer:
            case DwarfForm::boolean:
            case DwarfForm::enumeration:
            case DwarfForm::pointer:
                return add_scalar(type, offset, ArgumentClass::integer);
            case DwarfForm::floating:
                return add_floating(type, offset);
            case DwarfForm::other:
                return add_other(type, offset);
        }
    }

private:
    void add_structure(const DwarfType& type, uint64_t offset, int depth) {
        const auto members = members_of(type);
        if (!members) {
            out_.is_unknown = true;
            return;
        }
        for (const auto& member : *members) {
            if (member.bits == 0) {
                add(member.type, offset + member.offset, depth + 1);
                continue;
            }
            const uint64_t first = offset + member.offset + member.bit_offset / 8;
            take(first, ArgumentClass::integer);
            take(offset + member.offset + (member.bit_offset + member.bits - 1) / 8,
                 ArgumentClass::integer);
        }
    }

    void add_array(const DwarfType& type, uint64_t offset, int depth) {
        const auto element = pointed_type(type);
        const auto count = element_count(type);
        if (!element || element->form == DwarfForm::none) {
            out_.is_unknown = true;
            return;
        }
        // A value of more bytes is in memory anyway; a flexible array has no elements.
        for (uint64_t i = 0; i < std::min(count.value_or(0), kElementsMax); ++i) {
            add(*element, offset + i * element->bytes, depth + 1);
        }
    }

    void add_floating(const DwarfType& type, uint64_t offset) {
        if (is_x87(type)) {
            out_.is_x87 = true;
            out_.is_in_memory = true;
            out_.alignment = 16;
            return;
        }
        // A 16-byte __float128 takes one register: its second half is SSEUP.
        add_scalar({DwarfForm::floating, std::min<uint64_t>(type.bytes, 8)}, offset,
                   ArgumentClass::vector);
        if (type.bytes == 16) out_.alignment = 16;
    }

    void add_other(const DwarfType& type, uint64_t offset) {
        auto die = type.die->die;
        const int tag = dwarf_tag(&die);
        const auto encoding = unsigned_attribute(die, DW_AT_encoding).value_or(0);
        if (tag == DW_TAG_ptr_to_member_type) {
            for (uint64_t i = 0; i < type.bytes; i += 8) take(offset + i, ArgumentClass::integer);
        } else if (tag == DW_TAG_array_type) {
            // A vector type: one register whatever its size, the upper parts are SSEUP.
            take(offset, ArgumentClass::vector);
            out_.alignment = std::max(out_.alignment, type.bytes);
        } else if (encoding == DW_ATE_complex_float && type.bytes <= kAggregateBytesMax) {
            for (uint64_t i = 0; i < type.bytes; i += 8) take(offset + i, ArgumentClass::vector);
        } else if (encoding == DW_ATE_complex_float) {
            // Only that of long double is larger.
            out_.is_x87 = true;
            out_.is_in_memory = true;
            out_.alignment = 16;
        } else {
            out_.is_unknown = true;
        }
    }

    void add_scalar(const DwarfType& type, uint64_t offset, ArgumentClass value) {
        if (type.bytes == 0 || type.bytes > kAggregateBytesMax) {
            out_.is_unknown = true;
            return;
        }
        // Rule 1: what has members that are not aligned is in memory.
        if (offset % type.bytes != 0) out_.is_in_memory = true;
        out_.alignment = std::max(out_.alignment, type.bytes);
        for (uint64_t i = 0; i < type.bytes; i += 8) take(offset + i, value);
    }

    void take(uint64_t offset, ArgumentClass value) {
        const uint64_t index = offset / 8;
        if (index < out_.eightbytes.size()) merge(out_.eightbytes[index], value);
    }

    ValueClass& out_;
};

// C++ passes what has a copy constructor or destructor of its own by the address of a copy.
bool is_passed_by_address(const DwarfType& type) {
    if (type.form != DwarfForm::structure) return false;
    auto die = type.die->die;
    if (const auto convention = unsigned_attribute(die, DW_AT_calling_convention)) {
        return *convention == DW_CC_pass_by_reference;
    }
    // Compilers that do not say it (DWARF 4): a destructor that is declared is enough.
    for (Children child(*type.die->session, die); child.valid(); child.next()) {
        if (dwarf_tag(&child.die()) == DW_TAG_subprogram &&
            die_name(child.die()).starts_with('~')) {
            return true;
        }
    }
    return false;
}

ParameterPlace lost_place() {
    ParameterPlace place;
    place.reason = "how it is passed depends on a type that the debug information does not tell";
    return place;
}

}  // namespace

ValueClass classify_value(const DwarfType& type) {
    ValueClass out;
    out.bytes = type.bytes;
    if (is_passed_by_address(type)) {
        out.is_indirect = true;
        out.bytes = 8;
        out.returns_by_address = true;
        out.eightbytes[0] = ArgumentClass::integer;
        return out;
    }
    const bool is_void = type.form == DwarfForm::none && type.die == nullptr;
    if (is_void) return out;
    const bool is_aggregate = type.form == DwarfForm::structure || type.form == DwarfForm::array;
    Classifier(out).add(type, 0, 0);
    if (is_aggregate && type.bytes > kAggregateBytesMax) out.is_in_memory = true;
    if (is_aggregate && type.die != nullptr) {
        auto die = type.die->die;
        const auto declared = unsigned_attribute(die, DW_AT_alignment).value_or(0);
        out.alignment = std::max(out.alignment, declared);
    }
    const bool is_returned_in_x87 =
        out.is_x87 && (!is_aggregate || type.bytes <= kAggregateBytesMax);
    out.returns_by_address = out.is_in_memory && !is_returned_in_x87;
    return out;
}

ArgumentPlaces::ArgumentPlaces(const ValueClass& returned) {
    if (returned.returns_by_address) ++general_used_;
    is_lost_ = returned.is_unknown;
}

ParameterPlace ArgumentPlaces::next(const ValueClass& value) {
    if (is_lost_ || value.is_unknown) {
        is_lost_ = true;
        return lost_place();
    }
    const auto count = [&](ArgumentClass wanted) {
        return static_cast<size_t>(
            std::count(value.eightbytes.begin(), value.eightbytes.end(), wanted));
    };
    const size_t general = count(ArgumentClass::integer);
    const size_t vector = count(ArgumentClass::vector);
    ParameterPlace place;
    if (!value.is_in_memory && general + vector == 0) {
        place.reason = "an empty type, of which nothing is passed";
        return place;
    }
    // All of a value is in registers, or nothing of it.
    const bool fits = !value.is_in_memory && general_used_ + general <= kGeneral.size() &&
                      vector_used_ + vector <= kVectorRegisters;
    if (!fits) {
        stack_bytes_ = round_up(stack_bytes_, std::max<uint64_t>(value.alignment, 8));
        place.kind = PlaceKind::stack;
        place.stack_offset = static_cast<int64_t>(8 + stack_bytes_);
        place.is_indirect = value.is_indirect;
        stack_bytes_ += round_up(value.bytes, 8);
        return place;
    }
    place.kind = PlaceKind::registers;
    place.is_indirect = value.is_indirect;
    for (size_t i = 0; i < value.eightbytes.size(); ++i) {
        if (value.eightbytes[i] == ArgumentClass::integer) {
            place.registers[i] = kGeneral[general_used_++];
        }
        if (value.eightbytes[i] == ArgumentClass::vector) ++vector_used_;
    }
    if (general == 0) {
        place.kind = PlaceKind::none;
        place.reason = "in a vector register, which a probe cannot read";
    }
    return place;
}

ParameterPlace place_of_return(const ValueClass& value) {
    ParameterPlace place;
    if (value.is_unknown) return lost_place();
    if (value.is_x87 && !value.returns_by_address) {
        place.reason = "in a register of the x87, which a probe cannot read";
        return place;
    }
    if (value.returns_by_address) {
        place.kind = PlaceKind::registers;
        place.registers[0] = TR_REG_RAX;
        place.is_indirect = true;
        return place;
    }
    constexpr std::array kReturned = {TR_REG_RAX, TR_REG_RDX};
    size_t used = 0;
    for (size_t i = 0; i < value.eightbytes.size(); ++i) {
        if (value.eightbytes[i] == ArgumentClass::integer) place.registers[i] = kReturned[used++];
    }
    if (used != 0) {
        place.kind = PlaceKind::registers;
    } else {
        place.reason = "in a vector register, which a probe cannot read";
    }
    return place;
}

}  // namespace tracer
