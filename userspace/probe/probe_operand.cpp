// SPDX-License-Identifier: Apache-2.0
//
// Operands: argN, ret, a field, a parameter, register or variable by its name, and loads from
// behind. Iterative, so that no text can make it deep. Whether the place exists is the compiler's
// question. Called by the parser of arguments.
#include "probe/probe_operand.h"

#include "symbol/x86_registers.h"
#include "tracer/abi/probe.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace tracer {

namespace {

// Six are in registers (System V ABI for x86-64, 3.2.3), further ones on the stack, where no bound
// is known: as many of those as make up what one probe records at most.
constexpr size_t kFunctionArgumentsMax = TR_ARGS_MAX;
constexpr size_t kArgumentRegisters = 6;
// Each takes an operation, and the place itself at least one.
constexpr size_t kLoadsMax = TR_OPS_MAX - 1;
constexpr int64_t kOffsetMax = std::numeric_limits<int32_t>::max();
constexpr size_t kMembersMax = 16;

// N of "argN", written without needless zeros.
std::optional<size_t> argument_number(std::string_view text) {
    constexpr std::string_view kPrefix = "arg";
    if (!text.starts_with(kPrefix)) return std::nullopt;
    text.remove_prefix(kPrefix.size());
    size_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    if (text.size() > 1 && text[0] == '0') return std::nullopt;
    return number;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_word_char);
}

bool is_of_function(ProbeKind kind) {
    return kind != ProbeKind::usdt && kind != ProbeKind::tracepoint;
}

class OperandParser {
public:
    OperandParser(ProbeText& text, ProbeKind kind, ArgSpec& arg)
        : text_(text), kind_(kind), arg_(arg) {}

    Status run(const ProbeToken* first) {
        size_t loads = 0;
        const size_t begin = text_.position();
        while (first == nullptr && text_.accept('*')) {
            if (!text_.accept('(')) return text_.error_here("expected '(' after '*'");
            text_.skip_spaces();
            if (++loads > kLoadsMax) {
                return fail_at(text_.text(), begin, text_.position() - begin,
                               fmt::format("more than {} loads, one behind the other", kLoadsMax));
            }
        }
        if (first == nullptr && text_.is_at('&')) {
            TR_TRY(parse_variable());
        } else {
            TR_TRY(parse_place(first != nullptr ? *first : text_.take_until(kOperandEnds)));
        }
        TR_TRY(parse_scale());
        for (; loads > 0; --loads) {
            int64_t offset = 0;
            TR_TRY(parse_addends(offset));
            if (!text_.accept(')')) {
                return text_.error_here("expected '+', '-' or ')'", "for example *(arg0+8):u32");
            }
            arg_.walk.push_back(offset);
        }
        return parse_addends(arg_.addend);
    }

private:
    Status parse_place(const ProbeToken& word) {
        arg_.operand = word.text;
        arg_.text_offset = word.offset;
        if (word.text == "arg" && text_.is_at(':') && kind_ != ProbeKind::tracepoint) {
            return parse_parameter(word);
        }
        return check_place(word);
    }

    Status parse_scale() {
        if (!text_.is_at('*')) return {};
        const size_t begin = text_.position();
        text_.accept('*');
        auto word = text_.take_until(kOperandEnds);
        word.offset = begin;
        word.length = text_.position() - begin;
        const auto number = parse_number(word.text);
        const bool is_scale = number && (*number == 2 || *number == 4 || *number == 8);
        const auto argument = argument_number(arg_.operand);
        const bool is_in_register =
            is_of_function(kind_) && !arg_.is_parameter &&
            (arg_.operand.starts_with('%') || (argument && *argument < kArgumentRegisters));
        if (!is_scale || !is_in_register) {
            return text_.error_at(word,
                                  is_scale ? "only what lies in a register can be multiplied"
                                           : "expected *2, *4 or *8",
                                  "for example bytes=arg3*8:u64 of a function's number of words");
        }
        arg_.scale = static_cast<uint8_t>(*number);
        return {};
    }

    // '&' comes next.
    Status parse_variable() {
        const size_t begin = text_.position();
        text_.accept('&');
        auto name = text_.take_until(kOperandEnds);
        name.text.insert(0, "&");
        name.offset = begin;
        name.length = text_.position() - begin;
        if (!is_name(name.text.substr(1))) {
            return text_.error_at(name, "expected the name of a variable behind '&'",
                                  "for example pages=*(&mapped_pages):u64");
        }
        if (!is_of_function(kind_)) {
            return text_.error_at(name, "a variable's address is known at places of its own file",
                                  "u:, ur:, span: and calls: probes can read it");
        }
        arg_.operand = std::move(name.text);
        arg_.text_offset = name.offset;
        return {};
    }

    // "arg" was taken, ':' comes next.
    Status parse_parameter(const ProbeToken& word) {
        if (!is_of_function(kind_)) {
            return text_.error_at(word, "a USDT probe's arguments have no names",
                                  "they are arg0, arg1, ...: see tracer list");
        }
        if (kind_ == ProbeKind::uretprobe) return refuse_at_return(word);
        text_.accept(':');
        TR_ASSIGN(auto name, take_name("expected the name of a parameter"));
        arg_.is_parameter = true;
        arg_.operand = std::move(name.text);
        arg_.text_offset = name.offset;
        while (text_.is_at('.') || text_.is_at('-')) {
            const bool is_arrow = text_.is_at('-');
            // "-" and a digit is a subtraction.
            if (is_arrow && !text_.accept("->")) break;
            if (!is_arrow) text_.accept('.');
            TR_ASSIGN(auto member, take_name("expected the name of a member"));
            if (arg_.members.size() == kMembersMax) {
                return text_.error_at(member, fmt::format("more than {} members", kMembersMax));
            }
            arg_.members.push_back({std::move(member.text), is_arrow, member.offset});
        }
        return {};
    }

    Result<ProbeToken> take_name(std::string_view expected) {
        auto name = text_.take_until(std::string(kOperandEnds) + ".");
        if (is_name(name.text)) return name;
        return text_.error_at(name, expected, "for example arg:request->size");
    }

    Status parse_addends(int64_t& sum) {
        text_.skip_spaces();
        while (text_.is_at('+') || text_.is_at('-')) {
            const bool is_minus = text_.accept('-');
            if (!is_minus) text_.accept('+');
            text_.skip_spaces();
            const auto word = text_.take_until(kOperandEnds);
            const auto number = parse_number(word.text);
            const auto bytes = number && *number <= static_cast<uint64_t>(kOffsetMax)
                                   ? static_cast<int64_t>(*number)
                                   : kOffsetMax + 1;
            const int64_t next = is_minus ? sum - bytes : sum + bytes;
            if (bytes > kOffsetMax || next > kOffsetMax || next < -kOffsetMax) {
                return text_.error_at(word, "expected a number of bytes",
                                      "decimal or 0x hexadecimal, at most 0x7fffffff");
            }
            sum = next;
            text_.skip_spaces();
        }
        return {};
    }

    Status refuse_at_return(const ProbeToken& word) const {
        return text_.error_at(word, "a function's arguments are gone when it returns",
                              "use span:PATH:symbol to have both its arguments and ret");
    }

    Status check_place(const ProbeToken& word) const {
        const auto& text = word.text;
        if (kind_ == ProbeKind::tracepoint) {
            if (is_name(text)) return {};
            return text_.error_at(word, "expected the name of a field");
        }
        if (text.starts_with('%')) return check_register(word);
        const bool is_return = text == "ret";
        const auto number = argument_number(text);
        if (!is_return && !number) {
            return text_.error_at(word, "expected arg0, arg1, ... or ret",
                                  is_of_function(kind_)
                                      ? "for example (arg0:str, n=arg1:u32), or by name arg:NAME"
                                      : "for example (arg0:str, n=arg1:u32)");
        }
        if (is_return && (kind_ == ProbeKind::usdt || kind_ == ProbeKind::uprobe)) {
            return text_.error_at(word, "ret is known only when a function returns",
                                  "use ur:PATH:symbol or span:PATH:symbol");
        }
        if (number && kind_ == ProbeKind::uretprobe) return refuse_at_return(word);
        // A USDT note says how many there are; of a function nothing does.
        if (number && kind_ != ProbeKind::usdt && *number >= kFunctionArgumentsMax) {
            return text_.error_at(word,
                                  fmt::format("a function's arguments can be read up to arg{}",
                                              kFunctionArgumentsMax - 1),
                                  "arg0 to arg5 are in registers, arg6 to arg11 on the stack");
        }
        return {};
    }

    [[nodiscard]] Status check_register(const ProbeToken& word) const {
        const auto known = find_register(std::string_view(word.text).substr(1));
        if (known && known->bytes == 8 && is_of_function(kind_)) return {};
        return text_.error_at(word,
                              is_of_function(kind_) ? "expected a 64-bit register"
                                                    : "registers are for probes of functions",
                              "%rax %rbx %rcx %rdx %rsi %rdi %rbp %rsp %r8 ... %r15");
    }

    ProbeText& text_;
    ProbeKind kind_;
    ArgSpec& arg_;
};

std::string addend_text(int64_t addend) {
    return addend == 0 ? "" : fmt::format("{:+}", addend);
}

}  // namespace

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<uint64_t> parse_number(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
    }
    uint64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number, base);
    if (text.empty() || error != std::errc{} || rest != end) return std::nullopt;
    return number;
}

Status parse_operand(ProbeText& text, ProbeKind kind, const ProbeToken* first, ArgSpec& arg) {
    return OperandParser(text, kind, arg).run(first);
}

std::string operand_text(const ArgSpec& arg) {
    std::string text(arg.walk.size() * 2, '(');
    for (size_t i = 0; i < text.size(); i += 2) text[i] = '*';
    if (arg.is_parameter) text += "arg:";
    text += arg.operand;
    for (const auto& member : arg.members) {
        text += member.is_behind_pointer ? "->" : ".";
        text += member.name;
    }
    if (arg.scale != 1) text += fmt::format("*{}", arg.scale);
    for (const int64_t offset : arg.walk) text += addend_text(offset) + ")";
    return text + addend_text(arg.addend);
}

}  // namespace tracer
