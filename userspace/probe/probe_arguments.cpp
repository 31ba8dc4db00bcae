// SPDX-License-Identifier: Apache-2.0
//
// The parser of a probe's arguments: "(" [arg {"," arg}] ")", grammar in probe_spec.h. Whether an
// argument exists is the compiler's question. Called by probe_spec.cpp.
#include "probe/probe_arguments.h"

#include "probe/probe_operand.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kNamesMax = 64;
constexpr size_t kNameBytesMax = 64;

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

bool is_unsigned(ArgType type) {
    return type == ArgType::u8 || type == ArgType::u16 || type == ArgType::u32;
}

bool is_no_integer(ArgType type) {
    return type == ArgType::f32 || type == ArgType::f64 || type == ArgType::string;
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
            if (text_.accept(',')) continue;
            return text_.error_here("expected ',' or ')'",
                                    text_.is_at('[') ? "a text's length stands behind its type, "
                                                       "for example arg0:str[arg1]"
                                                     : "");
        }
    }

    Result<ArgSpec> run_operand() {
        ArgSpec arg;
        TR_TRY(parse_operand(text_, spec_.kind, nullptr, arg));
        TR_TRY(finish_operand(arg));
        return arg;
    }

private:
    Status parse_argument() {
        text_.skip_spaces();
        ArgSpec arg;
        ProbeToken word;
        word.offset = text_.position();
        if (text_.is_at('*') || text_.is_at('&')) {
            TR_TRY(parse_operand(text_, spec_.kind, nullptr, arg));
        } else {
            word = text_.take_until(kOperandEnds);
            text_.skip_spaces();
            const bool has_label = text_.accept('=');
            if (has_label) {
                TR_TRY(check_label(word));
                arg.label = word.text;
                text_.skip_spaces();
                word.offset = text_.position();
            }
            TR_TRY(parse_operand(text_, spec_.kind, has_label ? nullptr : &word, arg));
        }
        word.length = text_.position() - word.offset;
        TR_TRY(finish_operand(arg));
        if (text_.accept('/')) TR_TRY(take_format(arg));
        return add_argument(std::move(arg), word);
    }

    // What follows an operand's place.
    Status finish_operand(ArgSpec& arg) {
        if (arg.label.empty()) arg.label = default_label(arg);
        text_.skip_spaces();
        if (text_.accept(':')) {
            text_.skip_spaces();
            TR_TRY(take_type(arg));
            text_.skip_spaces();
        }
        return {};
    }

    // Readers of traces take a '.' in a name for a path.
    static std::string default_label(const ArgSpec& arg) {
        if (!arg.is_parameter) return operand_text(arg);
        auto named = arg;
        for (auto& member : named.members) member.is_behind_pointer = true;
        return operand_text(named).erase(arg.walk.size() * 2, std::string_view("arg:").size());
    }

    Status take_type(ArgSpec& arg) {
        const auto word = text_.take_until(kOperandEnds);
        for (const auto& type : kTypes) {
            if (word.text != type.word) continue;
            arg.type = type.type;
            if (arg.type != ArgType::string || !text_.accept('[')) return {};
            return take_room(arg);
        }
        return text_.error_at(word, "expected a type",
                              "types: s8 s16 s32 s64 u8 u16 u32 u64 ptr bool f32 f64 str "
                              "str[bytes] str[bytes+] str[operand]");
    }

    // What stands in the brackets of str[...]; '[' was taken.
    Status take_room(ArgSpec& arg) {
        text_.skip_spaces();
        const size_t begin = text_.position();
        if (!text_.at_end() && text_.text()[begin] >= '0' && text_.text()[begin] <= '9') {
            TR_TRY(take_room_bytes(arg));
            arg.text_form = text_.accept('+') ? TextForm::ended : TextForm::array;
        } else {
            TR_TRY(take_length(arg));
        }
        text_.skip_spaces();
        if (text_.accept(']')) return {};
        return text_.error_here("expected ']'",
                                "str[64], str[4096+], or the text's length: str[arg1]");
    }

    Status take_room_bytes(ArgSpec& arg) {
        const auto word = text_.take_until(kOperandEnds);
        const auto bytes = parse_number(word.text);
        if (!bytes || *bytes == 0 || *bytes > kTextRoomMax) {
            return text_.error_at(word, fmt::format("expected 1 to {} bytes", kTextRoomMax));
        }
        arg.text_bytes = static_cast<uint32_t>(*bytes);
        text_.skip_spaces();
        return {};
    }

    Status take_length(ArgSpec& arg) {
        ArgSpec length;
        TR_TRY(parse_operand(text_, spec_.kind, nullptr, length));
        if ((length.operand == "ret" && !length.is_parameter) !=
                (arg.operand == "ret" && !arg.is_parameter) &&
            spec_.kind == ProbeKind::span) {
            return fail_at(text_.text(), length.text_offset, length.operand.size(),
                           "a text and its length must be read at the same end of a span");
        }
        if (text_.accept(':')) {
            const size_t begin = text_.position();
            TR_TRY(take_type(length));
            if (is_no_integer(length.type)) {
                return fail_at(text_.text(), begin, text_.position() - begin,
                               "a length is an integer");
            }
        }
        text_.skip_spaces();
        if (text_.accept(',')) {
            text_.skip_spaces();
            TR_TRY(take_room_bytes(arg));
        }
        arg.text_form = TextForm::counted;
        arg.length.push_back(std::move(length));
        return {};
    }

    // '/' was taken.
    Status take_format(ArgSpec& arg) {
        text_.skip_spaces();
        const auto word = text_.take_until(kOperandEnds);
        const bool is_map = word.text == "map";
        if (word.text == "type") return take_type_name(arg, word);
        if (!is_map && word.text != "x") {
            return text_.error_at(word, "expected a format",
                                  "formats: /x (hexadecimal), /map(0=read,1=write), /type (of str: "
                                  "a C++ type's name)");
        }
        if (is_no_integer(arg.type)) {
            return text_.error_at(word, fmt::format("/{} is for integers", word.text));
        }
        if (!is_map) {
            arg.is_hex = true;
            return {};
        }
        if (!text_.accept('(')) {
            return text_.error_here("expected '(' after map", "for example /map(0=read,1=write)");
        }
        // Each turn takes at least a number.
        while (true) {
            TR_TRY(take_value_name(arg));
            text_.skip_spaces();
            if (text_.accept(')')) break;
            if (!text_.accept(',')) return text_.error_here("expected ',' or ')'");
        }
        std::ranges::sort(arg.names, {}, &model::ValueName::bits);
        return {};
    }

    // Of a field or parameter without a type the compiler knows whether it is text.
    Status take_type_name(ArgSpec& arg, const ProbeToken& word) const {
        if (arg.type != ArgType::string && arg.type != ArgType::automatic) {
            return text_.error_at(word, "/type is for text",
                                  "the name in a type_info: *(arg1+8):str/type");
        }
        arg.is_cxx_type = true;
        return {};
    }

    Status take_value_name(ArgSpec& arg) {
        text_.skip_spaces();
        const size_t begin = text_.position();
        const bool is_negative = text_.accept('-');
        auto word = text_.take_until(kOperandEnds);
        word.length = text_.position() - begin;
        word.offset = begin;
        const auto number = parse_number(word.text);
        if (!number) return text_.error_at(word, "expected a number", "map(0=read,1=write)");
        if (is_negative && is_unsigned(arg.type)) {
            return text_.error_at(word,
                                  fmt::format("{} is never negative", arg_type_name(arg.type)));
        }
        const uint64_t bits = is_negative ? ~*number + 1 : *number;
        text_.skip_spaces();
        if (!text_.accept('=')) return text_.error_here("expected '=' and a name");
        text_.skip_spaces();
        ProbeToken name;
        // In quotes it may be empty: in a name of a hit that is nothing, which ends a state.
        const bool is_quoted = text_.is_at('"');
        if (is_quoted) {
            TR_ASSIGN(name, text_.take_quoted());
        } else {
            name = text_.take_until(" \t,()\"");
        }
        if ((name.text.empty() && !is_quoted) || name.text.size() > kNameBytesMax) {
            return text_.error_at(name,
                                  fmt::format("expected a name of 1 to {} bytes", kNameBytesMax),
                                  "\"\" is no name, as where a state ends: map(0=\"\",1=busy)");
        }
        if (std::ranges::find(arg.names, bits, &model::ValueName::bits) != arg.names.end()) {
            return text_.error_at(word, "this value has a name already");
        }
        if (arg.names.size() == kNamesMax) {
            return text_.error_at(word, fmt::format("more than {} names", kNamesMax));
        }
        arg.names.push_back({bits, std::move(name.text)});
        return {};
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
                                  fmt::format("give one a name: x={}", operand_text(arg)));
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

    ProbeText& text_;
    ProbeSpec& spec_;
};

}  // namespace

Status parse_arguments(ProbeText& text, ProbeSpec& spec) {
    return ArgumentsParser(text, spec).run();
}

Result<ArgSpec> parse_typed_operand(ProbeText& text, ProbeSpec& spec) {
    return ArgumentsParser(text, spec).run_operand();
}

std::string_view arg_type_name(ArgType type) {
    for (const auto& entry : kTypes) {
        if (entry.type == type) return entry.word;
    }
    return "";
}

std::string argument_text(const ArgSpec& arg) {
    auto text = operand_text(arg);
    if (arg.type != ArgType::automatic) text += fmt::format(":{}", arg_type_name(arg.type));
    if (arg.text_form == TextForm::counted && !arg.length.empty()) {
        text += "[" + argument_text(arg.length.front());
        if (arg.text_bytes != 0) text += fmt::format(",{}", arg.text_bytes);
        text += "]";
    } else if (arg.text_bytes != 0) {
        text += fmt::format("[{}{}]", arg.text_bytes, arg.text_form == TextForm::array ? "" : "+");
    }
    if (arg.is_hex) text += "/x";
    if (arg.is_cxx_type) text += "/type";
    for (size_t i = 0; i < arg.names.size(); ++i) {
        const auto& known = arg.names[i];
        const auto value = is_unsigned(arg.type)
                               ? fmt::format("{}", known.bits)
                               : fmt::format("{}", static_cast<int64_t>(known.bits));
        text += fmt::format("{}{}={}", i == 0 ? "/map(" : ",", value,
                            quote_probe_part(known.name, ",)"));
    }
    return arg.names.empty() ? text : text + ")";
}

}  // namespace tracer
