// SPDX-License-Identifier: Apache-2.0
//
// Operands of files that cannot be probed here, for `tracer list`: checked by the grammar of their
// machine and typed, never compiled. Untrusted input.
#include "symbol/foreign_operand.h"

#include "symbol/aarch64_operand.h"
#include "symbol/att_operand.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

// The type of a place by itself: what it has where the text gives no size, and at most.
struct PlaceType {
    std::optional<uint8_t> register_bytes;
    bool is_immediate = false;
};

std::string type_of_att(std::string_view text, AttMachine machine, PlaceType& out) {
    AttPlace place;
    auto reason = parse_att_place(text, machine, place);
    if (!reason.empty()) return reason;
    if (place.kind == AttPlaceKind::reg) out.register_bytes = place.base->bytes;
    out.is_immediate = place.kind == AttPlaceKind::immediate;
    return {};
}

std::string type_of_aarch64(std::string_view text, PlaceType& out) {
    Aarch64Place place;
    auto reason = parse_aarch64_place(text, place);
    if (!reason.empty()) return reason;
    if (place.kind == Aarch64PlaceKind::reg) out.register_bytes = place.reg.bytes;
    out.is_immediate = place.kind == Aarch64PlaceKind::immediate;
    return {};
}

std::string type_of_place(std::string_view text, ElfMachine machine, PlaceType& out) {
    switch (machine) {
        case ElfMachine::x86_64:
            return type_of_att(text, AttMachine::x86_64, out);
        case ElfMachine::i386:
            return type_of_att(text, AttMachine::i386, out);
        case ElfMachine::aarch64:
            return type_of_aarch64(text, out);
    }
    return {};
}

}  // namespace

CompiledOperand describe_foreign_operand(std::string_view text,
                                         ElfMachine machine,
                                         std::string_view machine_name) {
    CompiledOperand result;
    result.text = std::string(text);
    OperandSize size;
    size.bytes = machine == ElfMachine::i386 ? 4 : 8;
    PlaceType type;
    auto reason = take_operand_size(text, size);
    if (reason.empty()) reason = type_of_place(text, machine, type);
    result.set_size(size);
    if (type.register_bytes) {
        // An i386 compiler names a pair of registers by its first: "8@%eax" is 8 bytes wide.
        const bool is_pair = machine == ElfMachine::i386 && *type.register_bytes == 4;
        if (!size.is_given) {
            result.bytes = *type.register_bytes;
        } else if (!is_pair && !size.is_float) {
            result.bytes = std::min(size.bytes, *type.register_bytes);
        }
    } else if (!size.is_given) {
        result.is_signed = type.is_immediate;
    }
    result.make_unreadable(reason.empty() ? fmt::format("an operand of {}", machine_name)
                                          : std::move(reason));
    return result;
}

std::vector<CompiledOperand> describe_foreign_operands(std::string_view text,
                                                       const ElfFile& file,
                                                       size_t* total) {
    return take_operands(text, total, [&](std::string_view operand) {
        return describe_foreign_operand(operand, file.machine(), file.machine_name());
    });
}

}  // namespace tracer
