// SPDX-License-Identifier: Apache-2.0
//
// Operands of USDT notes: parsed to a small form, then compiled to read operations (abi/probe.h).
//
// A symbol's run-time address is its link-time address in a fixed-address program. Elsewhere it is
// taken relative to the probed instruction: %rip at the probe is the run-time address of the
// note's location, so sym = %rip + (link-time sym - link-time location). Called by the probe
// compiler; untrusted input.
#include "symbol/usdt_operand.h"

#include "symbol/x86_registers.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tracer {

namespace {

enum class PlaceKind : uint8_t { immediate, reg, memory };

// An operand's place, before symbols are looked up.
struct Place {
    PlaceKind kind = PlaceKind::memory;
    uint64_t number = 0;  // sum of the numbers, modulo 2^64
    std::string_view symbol;
    bool is_symbol_negative = false;
    bool is_thread_offset = false;  // @tpoff
    bool has_number = false;
    bool has_parentheses = false;
    bool has_fs = false;
    std::optional<RegisterName> base;  // the register itself for PlaceKind::reg
    std::optional<RegisterName> index;
    uint8_t scale_shift = 0;
};

// A parser's outcome: an empty text is success, else why the operand cannot be read.
using Reason = std::string;

bool is_symbol_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c == '@' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view take_while_symbol(std::string_view& rest) {
    size_t length = 0;
    while (length < rest.size() && is_symbol_char(rest[length])) ++length;
    auto token = rest.substr(0, length);
    rest.remove_prefix(length);
    return token;
}

std::optional<uint64_t> parse_number(std::string_view token) {
    int base = 10;
    if (token.starts_with("0x") || token.starts_with("0X")) {
        base = 16;
        token.remove_prefix(2);
    }
    uint64_t value = 0;
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value, base);
    if (token.empty() || error != std::errc{} || end != token.data() + token.size()) {
        return std::nullopt;
    }
    return value;
}

Reason parse_symbol(std::string_view token, bool is_negative, Place& place) {
    if (!place.symbol.empty()) return "two symbols in one operand";
    auto at = token.find('@');
    if (at != std::string_view::npos) {
        const auto suffix = token.substr(at + 1);
        if (suffix != "tpoff" && suffix != "TPOFF") {
            return fmt::format("relocation @{} is not supported", suffix);
        }
        place.is_thread_offset = true;
        token = token.substr(0, at);
    }
    if (token.empty()) return "empty symbol name";
    place.symbol = token;
    place.is_symbol_negative = is_negative;
    return {};
}

// [+-] term {[+-] term}; leaves `rest` at the first character that is no part of the sum.
Reason parse_sum(std::string_view& rest, Place& place) {
    bool expects_term = true;
    bool is_negative = false;
    // Each turn takes at least one character or returns.
    while (!rest.empty()) {
        if (rest[0] == '+' || rest[0] == '-') {
            is_negative = (expects_term && is_negative) != (rest[0] == '-');
            expects_term = true;
            rest.remove_prefix(1);
            continue;
        }
        if (!is_symbol_char(rest[0]) || !expects_term) break;
        const auto token = take_while_symbol(rest);
        if (is_digit(token[0])) {
            auto number = parse_number(token);
            if (!number) return fmt::format("'{}' is not a number", token);
            place.number += is_negative ? 0 - *number : *number;
            place.has_number = true;
        } else if (auto reason = parse_symbol(token, is_negative, place); !reason.empty()) {
            return reason;
        }
        expects_term = false;
        is_negative = false;
    }
    if (expects_term && (place.has_number || !place.symbol.empty())) return "sum without an end";
    return {};
}

Reason parse_register(std::string_view token, std::optional<RegisterName>& out) {
    if (!token.starts_with('%')) return fmt::format("'{}' is not a register", token);
    out = find_register(token.substr(1));
    if (!out) return fmt::format("unknown register {}", token);
    return {};
}

// The text between the parentheses: [%base] ["," %index ["," scale]].
Reason parse_address(std::string_view inside, Place& place) {
    place.has_parentheses = true;
    std::array<std::string_view, 3> parts;
    size_t count = 0;
    while (true) {
        if (count == parts.size()) return "too many registers in parentheses";
        const auto comma = inside.find(',');
        parts[count++] = inside.substr(0, comma);
        if (comma == std::string_view::npos) break;
        inside.remove_prefix(comma + 1);
    }
    if (!parts[0].empty()) {
        if (auto reason = parse_register(parts[0], place.base); !reason.empty()) return reason;
    }
    if (count >= 2 && !parts[1].empty()) {
        if (auto reason = parse_register(parts[1], place.index); !reason.empty()) return reason;
    }
    if (count == 3) {
        if (parts[2] == "1") {
            place.scale_shift = 0;
        } else if (parts[2] == "2") {
            place.scale_shift = 1;
        } else if (parts[2] == "4") {
            place.scale_shift = 2;
        } else if (parts[2] == "8") {
            place.scale_shift = 3;
        } else {
            return fmt::format("scale '{}' is not 1, 2, 4 or 8", parts[2]);
        }
    }
    if (!place.base && !place.index) return "no register in parentheses";
    for (const auto& used : {place.base, place.index}) {
        if (used && used->bytes < 4) return "an address register must be 32 or 64 bits wide";
    }
    if (place.index && (place.index->reg == TR_REG_RIP || place.index->reg == TR_REG_RSP)) {
        return "%rip and %rsp cannot be an index";
    }
    return {};
}

Reason parse_place(std::string_view text, Place& place) {
    auto rest = text;
    if (rest.starts_with('$')) {
        rest.remove_prefix(1);
        place.kind = PlaceKind::immediate;
        if (auto reason = parse_sum(rest, place); !reason.empty()) return reason;
        if (!rest.empty() || (!place.has_number && place.symbol.empty())) {
            return "not an immediate value";
        }
        return {};
    }
    if (rest.starts_with("%fs:")) {
        place.has_fs = true;
        rest.remove_prefix(4);
    } else if (rest.starts_with("%gs:")) {
        return "%gs: is the kernel's";
    } else if (rest.starts_with('%')) {
        place.kind = PlaceKind::reg;
        return parse_register(rest, place.base);
    }
    if (auto reason = parse_sum(rest, place); !reason.empty()) return reason;
    if (rest.starts_with('(')) {
        const auto end = rest.find(')');
        if (end == std::string_view::npos) return "no closing parenthesis";
        auto reason = parse_address(rest.substr(1, end - 1), place);
        if (!reason.empty()) return reason;
        rest.remove_prefix(end + 1);
    }
    if (!rest.empty()) return fmt::format("unexpected '{}'", rest);
    if (!place.has_number && place.symbol.empty() && !place.has_parentheses) {
        return "nothing to read";
    }
    return {};
}

// Takes "N@" off the front of `text`; false when there is none.
bool take_size(std::string_view& text, CompiledOperand& out) {
    auto rest = text;
    const bool is_signed = rest.starts_with('-');
    if (is_signed) rest.remove_prefix(1);
    if (rest.size() < 2 || !is_digit(rest[0])) return false;
    const auto bytes = static_cast<uint8_t>(rest[0] - '0');
    rest.remove_prefix(1);
    const bool is_float = rest.starts_with('f');
    if (is_float) rest.remove_prefix(1);
    if (!rest.starts_with('@')) return false;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
    out.bytes = bytes;
    out.is_signed = is_signed && !is_float;
    out.is_float = is_float;
    text = rest.substr(1);
    return true;
}

class OperandCompiler {
public:
    OperandCompiler(const OperandContext& context, CompiledOperand& out)
        : context_(context), out_(out) {}

    Reason compile(const Place& place) {
        if (place.kind == PlaceKind::reg) {
            add({.code = TR_OP_REG,
                 .reg = static_cast<uint8_t>(place.base->reg),
                 .shift = place.base->shift});
            return {};
        }
        uint64_t offset = place.number;
        bool is_relative = false;
        if (auto reason = resolve(place, offset, is_relative); !reason.empty()) return reason;
        if (place.kind == PlaceKind::immediate) {
            add_start(is_relative, offset);
            return {};
        }
        return compile_memory(place, offset, is_relative);
    }

private:
    // Adds the symbol's part to `offset`; `is_relative`: the sum counts from %rip.
    Reason resolve(const Place& place, uint64_t& offset, bool& is_relative) const {
        if (place.symbol.empty()) {
            if (place.base && place.base->reg == TR_REG_RIP) return "%rip without a symbol";
            return {};
        }
        if (place.is_symbol_negative) return "a subtracted symbol";
        if (place.is_thread_offset) {
            if (!place.has_fs) return "@tpoff without %fs:";
            auto offset_found =
                context_.thread_offset_of ? context_.thread_offset_of(place.symbol) : std::nullopt;
            if (!offset_found) {
                return fmt::format("no offset of thread-local '{}' is known", place.symbol);
            }
            offset += static_cast<uint64_t>(*offset_found);
            return {};
        }
        auto address = context_.address_of ? context_.address_of(place.symbol) : std::nullopt;
        if (!address) return fmt::format("symbol '{}' is not in the file", place.symbol);
        offset += *address;
        const bool has_rip = place.base && place.base->reg == TR_REG_RIP;
        is_relative = has_rip || !context_.is_fixed_address;
        if (is_relative) offset -= context_.location_vaddr;
        return {};
    }

    Reason compile_memory(const Place& place, uint64_t offset, bool is_relative) {
        const bool has_rip = place.base && place.base->reg == TR_REG_RIP;
        if (has_rip && (place.index || place.has_fs)) return "%rip with another register";
        if (is_relative && !has_rip && (place.base || place.index || place.has_fs)) {
            return "a symbol's absolute address in a position-independent file";
        }
        // The offset rides on the load, except where %rip or nothing else starts the sum.
        uint64_t load_offset = offset;
        if (place.has_fs) {
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

void make_unreadable(CompiledOperand& operand, Reason reason) {
    operand.arg = tr_arg{};
    operand.arg.form = TR_ARG_UNREADABLE;
    operand.arg.bytes = operand.bytes;
    operand.reason = std::move(reason);
}

}  // namespace

CompiledOperand compile_usdt_operand(std::string_view text, const OperandContext& context) {
    CompiledOperand result;
    result.text = std::string(text);
    const bool has_size = take_size(text, result);
    Place place;
    if (auto reason = parse_place(text, place); !reason.empty()) {
        make_unreadable(result, std::move(reason));
        return result;
    }
    if (!has_size) {
        result.is_signed = place.kind == PlaceKind::immediate;
        if (place.kind == PlaceKind::reg) result.bytes = place.base->bytes;
    }
    // "-4@%al": no more is in the register than its name is wide.
    if (place.kind == PlaceKind::reg) result.bytes = std::min(result.bytes, place.base->bytes);
    if (auto reason = OperandCompiler(context, result).compile(place); !reason.empty()) {
        make_unreadable(result, std::move(reason));
        return result;
    }
    result.arg.bytes = result.bytes;
    result.arg.form = result.is_signed ? TR_ARG_SIGNED : TR_ARG_UNSIGNED;
    return result;
}

std::vector<CompiledOperand> compile_usdt_operands(std::string_view text,
                                                   const OperandContext& context,
                                                   size_t* total) {
    std::vector<CompiledOperand> operands;
    size_t count = 0;
    while (true) {
        const auto begin = text.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        const auto token = text.substr(0, text.find_first_of(" \t"));
        text.remove_prefix(token.size());
        ++count;
        if (operands.size() < TR_ARGS_MAX) {
            operands.push_back(compile_usdt_operand(token, context));
        }
    }
    if (total != nullptr) *total = count;
    return operands;
}

}  // namespace tracer
