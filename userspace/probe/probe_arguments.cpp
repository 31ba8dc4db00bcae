// SPDX-License-Identifier: Apache-2.0
//
// The parser of a probe's arguments: "(" [arg {"," arg}] ")", grammar in probe_spec.h. Whether an
// argument exists is the compiler's question. Called by probe_spec.cpp.
#include "probe/probe_arguments.h"

#include "tracer/abi/event.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

// Six are in registers (System V ABI for x86-64, 3.2.3), further ones on the stack, where no bound
// is known: as many of those as make up what one probe records at most.
constexpr size_t kFunctionArgumentsMax = TR_ARGS_MAX;

struct TypeName {
    std::string_view word;
    ArgType type;
};

constexpr std::array<TypeName, 13> kTypes{{
    {"s8", ArgType::s8},
    {"s16", ArgType::s16},
    {"s32", ArgType::s32},
    {"s64", ArgType::s64},
    {"u8", ArgType::u8},
    {"u16", ArgType::u16},
    {"u32", ArgType::u32},
    {"u64", ArgType::u64},
    {"ptr", ArgType::pointer},
    {"bool", ArgType::boolean},
    {"f32", ArgType::f32},
    {"f64", ArgType::f64},
    {"str", ArgType::string},
}};

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

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

class ArgumentsParser {
public:
    ArgumentsParser(ProbeText& text, ProbeSpec& spec) : text_(text), spec_(spec) {}

    Status run() {
        spec_.has_args = true;
        spec_.args_text_offset = text_.position();
        if (!text_.accept('(')) return text_.error_here("expected '('");
        text_.skip_spaces();
        if (text_.accept(')')) return {};
        // Each turn takes at least an operand.
        while (true) {
            TR_TRY(parse_argument());
            text_.skip_spaces();
            if (text_.accept(')')) return {};
            if (!text_.accept(',')) return text_.error_here("expected ',' or ')'");
        }
    }

private:
    Status parse_argument() {
        text_.skip_spaces();
        ArgSpec arg;
        auto word = text_.take_word();
        text_.skip_spaces();
        if (text_.accept('=')) {
            TR_TRY(check_label(word));
            arg.label = word.text;
            text_.skip_spaces();
            word = text_.take_word();
            text_.skip_spaces();
        }
        TR_TRY(check_operand(word));
        arg.operand = word.text;
        arg.text_offset = word.offset;
        if (arg.label.empty()) arg.label = arg.operand;
        if (text_.accept(':')) {
            text_.skip_spaces();
            TR_TRY(take_type(arg));
        }
        return add_argument(std::move(arg), word);
    }

    Status take_type(ArgSpec& arg) {
        const auto word = text_.take_word();
        for (const auto& type : kTypes) {
            if (word.text != type.word) continue;
            arg.type = type.type;
            return {};
        }
        return text_.error_at(word, "expected a type",
                              "types: s8 s16 s32 s64 u8 u16 u32 u64 ptr bool f32 f64 str");
    }

    Status add_argument(ArgSpec arg, const ProbeToken& word) {
        const size_t count_max = spec_.kind == ProbeKind::span ? TR_ARGS_MAX - 1 : TR_ARGS_MAX;
        if (spec_.args.size() == count_max) {
            return text_.error_at(word, fmt::format("more than {} arguments", count_max),
                                  spec_.kind == ProbeKind::span
                                      ? "a span keeps one of its 12 places for the stack pointer"
                                      : "");
        }
        for (const auto& other : spec_.args) {
            if (other.label != arg.label) continue;
            return text_.error_at(word, fmt::format("two arguments called '{}'", arg.label),
                                  fmt::format("give one a name: x={}", arg.operand));
        }
        spec_.args.push_back(std::move(arg));
        return {};
    }

    Status check_label(const ProbeToken& word) const {
        const auto& text = word.text;
        const bool is_name = !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
                             std::all_of(text.begin(), text.end(), is_word_char);
        if (is_name) return {};
        return text_.error_at(word, "expected a name for the argument",
                              "a name is letters, digits and '_'");
    }

    Status check_operand(const ProbeToken& word) const {
        const auto& text = word.text;
        if (spec_.kind == ProbeKind::tracepoint) {
            if (!text.empty() && std::all_of(text.begin(), text.end(), is_word_char)) return {};
            return text_.error_at(word, "expected the name of a field");
        }
        const bool is_return = text == "ret";
        const auto number = argument_number(text);
        if (!is_return && !number) {
            return text_.error_at(word, "expected arg0, arg1, ... or ret",
                                  "for example (arg0:str, n=arg1:u32)");
        }
        if (is_return && (spec_.kind == ProbeKind::usdt || spec_.kind == ProbeKind::uprobe)) {
            return text_.error_at(word, "ret is known only when a function returns",
                                  "use ur:PATH:symbol or span:PATH:symbol");
        }
        if (number && spec_.kind == ProbeKind::uretprobe) {
            return text_.error_at(word, "a function's arguments are gone when it returns",
                                  "use span:PATH:symbol to have both its arguments and ret");
        }
        // A USDT note says how many there are; of a function nothing does.
        if (number && spec_.kind != ProbeKind::usdt && *number >= kFunctionArgumentsMax) {
            return text_.error_at(word,
                                  fmt::format("a function's arguments can be read up to arg{}",
                                              kFunctionArgumentsMax - 1),
                                  "arg0 to arg5 are in registers, arg6 to arg11 on the stack");
        }
        return {};
    }

    ProbeText& text_;
    ProbeSpec& spec_;
};

}  // namespace

Status parse_arguments(ProbeText& text, ProbeSpec& spec) {
    return ArgumentsParser(text, spec).run();
}

std::string_view arg_type_name(ArgType type) {
    for (const auto& entry : kTypes) {
        if (entry.type == type) return entry.word;
    }
    return "";
}

}  // namespace tracer
