// SPDX-License-Identifier: Apache-2.0
//
// The parser of -e texts (grammar in the header). Knows words and places only; whether a probe
// exists is the compiler's question. Called by the command line, by packs and by tests.
#include "probe/probe_spec.h"

#include "probe/caret.h"
#include "probe/wildcard.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kTextBytesMax = 8192;
// Six are in registers (System V ABI for x86-64, 3.2.3), further ones on the stack, where no bound
// is known: as many of those as make up what one probe records at most.
constexpr size_t kFunctionArgumentsMax = TR_ARGS_MAX;

struct KindName {
    std::string_view word;
    ProbeKind kind;
    std::string_view form;
};

constexpr std::array<KindName, 5> kKinds{{
    {"usdt", ProbeKind::usdt, "usdt:[PATH:]provider:name"},
    {"u", ProbeKind::uprobe, "u:PATH:symbol[+offset]"},
    {"ur", ProbeKind::uretprobe, "ur:PATH:symbol"},
    {"span", ProbeKind::span, "span:PATH:symbol"},
    {"t", ProbeKind::tracepoint, "t:category:name"},
}};

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

bool is_space(char c) {
    return c == ' ' || c == '\t';
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

struct Token {
    std::string text;
    size_t offset = 0;  // in the probe's text
    size_t length = 0;
    bool is_quoted = false;
    std::string suffix;  // what stands between the closing quote and the part's end
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) { spec_.text = std::string(text); }

    Result<ProbeSpec> run() {
        if (text_.size() > kTextBytesMax) {
            return fail(ErrorCode::usage,
                        fmt::format("a probe of {} bytes is longer than the {} allowed",
                                    text_.size(), kTextBytesMax));
        }
        if (text_.find('\0') != std::string_view::npos) {
            return fail(ErrorCode::usage, "a probe's text holds a NUL character");
        }
        TR_TRY(parse_kind());
        TR_TRY(parse_parts());
        TR_TRY(parse_arguments());
        return std::move(spec_);
    }

private:
    Status parse_kind() {
        const auto end = std::min(text_.find_first_of(":(\""), text_.size());
        const auto word = text_.substr(0, end);
        for (const auto& kind : kKinds) {
            if (word != kind.word) continue;
            spec_.kind = kind.kind;
            form_ = kind.form;
            position_ = end;
            if (at_end() || text_[position_] != ':') {
                return error_here("expected ':' after the probe's kind");
            }
            return {};
        }
        return fail_at(text_, 0, word.size(),
                       "a probe begins with its kind: usdt, u, ur, span or t",
                       "for example usdt:python:gc__start, u:/usr/bin/app:main, "
                       "span:libc.so.6:malloc, t:sched:sched_switch");
    }

    Status parse_parts() {
        std::vector<Token> parts;
        while (!at_end() && text_[position_] == ':') {
            ++position_;
            TR_ASSIGN(auto part, parse_part());
            parts.push_back(std::move(part));
        }
        const bool is_usdt = spec_.kind == ProbeKind::usdt;
        const size_t count_max = is_usdt ? 3 : 2;
        if (parts.size() > count_max) {
            const auto& part = parts[count_max];
            return fail_at(text_, part.offset, part.length,
                           fmt::format("unexpected part; expected {}", form_),
                           "a part with ':' in it is put in double quotes");
        }
        if (parts.size() < 2) {
            return fail_at(text_, position_, 0, fmt::format("expected {}", form_));
        }
        TR_TRY(check_suffixes(parts));
        auto& name = parts.back();
        auto& holder = parts[parts.size() - 2];
        if (parts.size() == 3) spec_.path = std::move(parts[0].text);
        if (is_usdt || spec_.kind == ProbeKind::tracepoint) {
            TR_TRY(check_name(holder));
            spec_.provider = std::move(holder.text);
        } else {
            spec_.path = std::move(holder.text);
            TR_TRY(take_symbol_offset(name));
        }
        TR_TRY(check_name(name));
        spec_.name = std::move(name.text);
        return {};
    }

    // One part between colons; stops at ':', '(' or the end.
    Result<Token> parse_part() {
        Token token;
        token.offset = position_;
        if (!at_end() && text_[position_] == '"') {
            TR_TRY(take_quoted(token));
            // "+off" may follow a quoted symbol.
            const auto rest_end = std::min(text_.find_first_of(":(", position_), text_.size());
            token.suffix = std::string(text_.substr(position_, rest_end - position_));
            position_ = rest_end;
        } else {
            const auto end = std::min(text_.find_first_of(":(\"", position_), text_.size());
            token.text = std::string(text_.substr(position_, end - position_));
            position_ = end;
            if (!at_end() && text_[position_] == '"') {
                return error_here("a quote in the middle of a part",
                                  "put the whole part in double quotes");
            }
        }
        token.length = position_ - token.offset;
        if (token.text.empty()) {
            return fail_at(text_, token.offset, token.length,
                           fmt::format("empty part; expected {}", form_));
        }
        return token;
    }

    Status take_quoted(Token& token) {
        token.is_quoted = true;
        ++position_;
        while (!at_end() && text_[position_] != '"') {
            if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
            token.text += text_[position_++];
        }
        if (at_end()) return fail_at(text_, token.offset, 1, "a quote without an end");
        ++position_;
        return {};
    }

    // Only "symbol"+off may go on after its closing quote.
    Status check_suffixes(const std::vector<Token>& parts) const {
        const bool takes_offset =
            spec_.kind != ProbeKind::usdt && spec_.kind != ProbeKind::tracepoint;
        for (const auto& part : parts) {
            const bool is_symbol = takes_offset && &part == &parts.back();
            if (part.suffix.empty() || (is_symbol && part.suffix[0] == '+')) continue;
            return fail_at(text_, part.offset + part.length - part.suffix.size(),
                           part.suffix.size(), "expected ':' or '(' after a quoted part");
        }
        return {};
    }

    Status check_name(const Token& token) const {
        if (token.is_quoted) return {};
        auto space = std::find_if(token.text.begin(), token.text.end(), is_space);
        if (space == token.text.end()) return {};
        return fail_at(text_, token.offset + static_cast<size_t>(space - token.text.begin()), 1,
                       "a space inside a name", "a part with spaces in it is put in double quotes");
    }

    // Splits "+off" off a symbol. Only a trailing '+' with a digit after it counts: operators of
    // C++ are mangled in symbol tables.
    Status take_symbol_offset(Token& token) {
        std::string digits;
        if (token.is_quoted) {
            if (token.suffix.empty()) return {};
            digits = token.suffix.substr(1);
        } else {
            const auto plus = token.text.rfind('+');
            if (plus == std::string::npos) return {};
            digits = token.text.substr(plus + 1);
            token.text.resize(plus);
        }
        const size_t offset = token.offset + token.length - digits.size();
        std::string_view number = digits;
        int base = 10;
        if (number.starts_with("0x")) {
            base = 16;
            number.remove_prefix(2);
        }
        const auto* end = number.data() + number.size();
        auto [rest, error] = std::from_chars(number.data(), end, spec_.symbol_offset, base);
        if (number.empty() || error != std::errc{} || rest != end) {
            return fail_at(text_, offset, digits.size(),
                           "expected an offset in bytes, decimal or 0x hexadecimal");
        }
        if (spec_.kind != ProbeKind::uprobe) {
            return fail_at(text_, offset - 1, digits.size() + 1,
                           "an offset is for u: probes; returns and spans are of whole functions");
        }
        if (token.text.empty()) {
            return fail_at(text_, token.offset, token.length, "an offset without a symbol");
        }
        // What is the start of an instruction in one function is the middle of one in another.
        if (has_wildcard(token.text)) {
            return fail_at(text_, token.offset, token.length,
                           "an offset is for one symbol; a wildcard names several");
        }
        return {};
    }

    Status parse_arguments() {
        if (at_end()) return {};
        // parse_part stops at ':', '(' or the end, and parse_parts takes every ':'.
        spec_.has_args = true;
        spec_.args_text_offset = position_;
        ++position_;
        skip_spaces();
        if (!at_end() && text_[position_] == ')') {
            ++position_;
            return expect_end();
        }
        // Each turn takes at least an operand.
        while (true) {
            TR_TRY(parse_argument());
            skip_spaces();
            if (at_end()) return error_here("expected ',' or ')'");
            const char next = text_[position_++];
            if (next == ')') return expect_end();
            if (next != ',') {
                --position_;
                return error_here("expected ',' or ')'");
            }
        }
    }

    Status parse_argument() {
        skip_spaces();
        ArgSpec arg;
        auto word = take_word();
        skip_spaces();
        if (!at_end() && text_[position_] == '=') {
            TR_TRY(check_label(word));
            arg.label = word.text;
            ++position_;
            skip_spaces();
            word = take_word();
            skip_spaces();
        }
        TR_TRY(check_operand(word));
        arg.operand = word.text;
        arg.text_offset = word.offset;
        if (arg.label.empty()) arg.label = arg.operand;
        if (!at_end() && text_[position_] == ':') {
            ++position_;
            skip_spaces();
            TR_TRY(take_type(arg));
        }
        return add_argument(std::move(arg), word);
    }

    Status take_type(ArgSpec& arg) {
        const auto word = take_word();
        for (const auto& type : kTypes) {
            if (word.text != type.word) continue;
            arg.type = type.type;
            return {};
        }
        return fail_at(text_, word.offset, word.length, "expected a type",
                       "types: s8 s16 s32 s64 u8 u16 u32 u64 ptr bool f32 f64 str");
    }

    Status add_argument(ArgSpec arg, const Token& word) {
        const size_t count_max = spec_.kind == ProbeKind::span ? TR_ARGS_MAX - 1 : TR_ARGS_MAX;
        if (spec_.args.size() == count_max) {
            return fail_at(text_, word.offset, word.length,
                           fmt::format("more than {} arguments", count_max),
                           spec_.kind == ProbeKind::span
                               ? "a span keeps one of its 12 places for the stack pointer"
                               : "");
        }
        for (const auto& other : spec_.args) {
            if (other.label != arg.label) continue;
            return fail_at(text_, word.offset, word.length,
                           fmt::format("two arguments called '{}'", arg.label),
                           fmt::format("give one a name: x={}", arg.operand));
        }
        spec_.args.push_back(std::move(arg));
        return {};
    }

    Status check_label(const Token& word) const {
        const auto& text = word.text;
        const bool is_name = !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
                             std::all_of(text.begin(), text.end(), is_word_char);
        if (is_name) return {};
        return fail_at(text_, word.offset, word.length, "expected a name for the argument",
                       "a name is letters, digits and '_'");
    }

    Status check_operand(const Token& word) const {
        const auto& text = word.text;
        if (spec_.kind == ProbeKind::tracepoint) {
            if (!text.empty() && std::all_of(text.begin(), text.end(), is_word_char)) return {};
            return fail_at(text_, word.offset, word.length, "expected the name of a field");
        }
        const bool is_return = text == "ret";
        const auto number = argument_number(text);
        if (!is_return && !number) {
            return fail_at(text_, word.offset, word.length, "expected arg0, arg1, ... or ret",
                           "for example (arg0:str, n=arg1:u32)");
        }
        if (is_return && (spec_.kind == ProbeKind::usdt || spec_.kind == ProbeKind::uprobe)) {
            return fail_at(text_, word.offset, word.length,
                           "ret is known only when a function returns",
                           "use ur:PATH:symbol or span:PATH:symbol");
        }
        if (number && spec_.kind == ProbeKind::uretprobe) {
            return fail_at(text_, word.offset, word.length,
                           "a function's arguments are gone when it returns",
                           "use span:PATH:symbol to have both its arguments and ret");
        }
        // A USDT note says how many there are; of a function nothing does.
        if (number && spec_.kind != ProbeKind::usdt && *number >= kFunctionArgumentsMax) {
            return fail_at(text_, word.offset, word.length,
                           fmt::format("a function's arguments can be read up to arg{}",
                                       kFunctionArgumentsMax - 1),
                           "arg0 to arg5 are in registers, arg6 to arg11 on the stack");
        }
        return {};
    }

    // Everything up to a character that ends a word here; may be empty.
    Token take_word() {
        Token token;
        token.offset = position_;
        while (!at_end() &&
               std::string_view(" \t=:,()\"").find(text_[position_]) == std::string_view::npos) {
            ++position_;
        }
        token.length = position_ - token.offset;
        token.text = std::string(text_.substr(token.offset, token.length));
        return token;
    }

    Status expect_end() {
        skip_spaces();
        if (at_end()) return {};
        return fail_at(text_, position_, text_.size() - position_, "unexpected text after ')'");
    }

    void skip_spaces() {
        while (!at_end() && is_space(text_[position_])) ++position_;
    }

    [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }

    [[nodiscard]] tl::unexpected<Error> error_here(std::string_view message,
                                                   std::string hint = {}) const {
        return fail_at(text_, position_, 1, message, std::move(hint));
    }

    std::string_view text_;
    size_t position_ = 0;
    std::string_view form_;
    ProbeSpec spec_;
};

}  // namespace

Result<ProbeSpec> parse_probe_spec(std::string_view text) {
    return Parser(text).run();
}

std::string probe_text(const ProbeSpec& spec, std::string_view provider, std::string_view name) {
    if (!has_wildcard(spec.provider) && !has_wildcard(spec.name)) return spec.text;
    const bool has_provider = spec.kind == ProbeKind::usdt || spec.kind == ProbeKind::tracepoint;
    std::string text;
    for (const KindName& kind : kKinds) {
        if (kind.kind == spec.kind) text = kind.word;
    }
    if (!spec.path.empty()) text += ":" + quote_probe_part(spec.path);
    if (has_provider) text += ":" + quote_probe_part(provider);
    text += ":" + quote_probe_part(name, has_provider ? "" : "+");
    if (spec.symbol_offset != 0) text += fmt::format("+{:#x}", spec.symbol_offset);
    if (spec.has_args) text += spec.text.substr(spec.args_text_offset);
    return text;
}

std::string_view arg_type_name(ArgType type) {
    for (const auto& entry : kTypes) {
        if (entry.type == type) return entry.word;
    }
    return "";
}

std::string quote_probe_part(std::string_view part, std::string_view also) {
    const auto special = std::string(":(\"\\ \t").append(also);
    if (!part.empty() && part.find_first_of(special) == std::string_view::npos) {
        return std::string(part);
    }
    std::string text = "\"";
    for (char c : part) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + "\"";
}

}  // namespace tracer
