// SPDX-License-Identifier: Apache-2.0
//
// The parser of -e texts (grammar in the header). Knows words and places only; whether a probe
// exists is the compiler's question. Called by the command line, by packs and by tests.
#include "probe/probe_spec.h"

#include "probe/probe_arguments.h"
#include "probe/probe_clauses.h"
#include "probe/probe_text.h"
#include "probe/wildcard.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kTextBytesMax = 8192;
constexpr std::string_view kPartEnds = ":()\" \t";

struct KindName {
    std::string_view word;
    ProbeKind kind;
    std::string_view form;
    bool is_at_calls = false;
};

constexpr std::array<KindName, 6> kKinds{{
    {"usdt", ProbeKind::usdt, "usdt:[PATH:]provider:name"},
    {"u", ProbeKind::uprobe, "u:PATH:symbol[+offset]"},
    {"ur", ProbeKind::uretprobe, "ur:PATH:symbol"},
    {"span", ProbeKind::span, "span:PATH:symbol"},
    {"calls", ProbeKind::uprobe, "calls:PATH:symbol", true},
    {"t", ProbeKind::tracepoint, "t:category:name"},
}};

constexpr std::string_view kSpaceHint =
    "a part with spaces or parentheses in it is put in double quotes";

class Parser {
public:
    Parser(std::string_view text, ProbeTextOrigin origin) : text_(text), origin_(origin) {
        spec_.text = std::string(text);
    }

    Result<ProbeSpec> run() {
        const auto text = text_.text();
        if (text.size() > kTextBytesMax) {
            return fail(ErrorCode::usage,
                        fmt::format("a probe of {} bytes is longer than the {} allowed",
                                    text.size(), kTextBytesMax));
        }
        if (text.find('\0') != std::string_view::npos) {
            return fail(ErrorCode::usage, "a probe's text holds a NUL character");
        }
        TR_TRY(parse_kind());
        TR_TRY(parse_parts());
        text_.skip_spaces();
        if (text_.is_at('(')) TR_TRY(parse_arguments(text_, spec_));
        TR_TRY(parse_clauses(text_, spec_));
        TR_TRY(expect_end());
        return std::move(spec_);
    }

private:
    Status parse_kind() {
        const auto word = text_.take_until(kPartEnds);
        for (const auto& kind : kKinds) {
            if (word.text != kind.word) continue;
            spec_.kind = kind.kind;
            spec_.is_at_calls = kind.is_at_calls;
            form_ = kind.form;
            if (!text_.is_at(':')) return text_.error_here("expected ':' after the probe's kind");
            return {};
        }
        return text_.error_at(word, "a probe begins with its kind: usdt, u, ur, span, calls or t",
                              "for example usdt:python:gc__start, u:/usr/bin/app:main, "
                              "span:libc.so.6:malloc, t:sched:sched_switch");
    }

    Status parse_parts() {
        std::vector<ProbeToken> parts;
        while (text_.accept(':')) {
            TR_ASSIGN(auto part, parse_part());
            parts.push_back(std::move(part));
        }
        const bool is_usdt = spec_.kind == ProbeKind::usdt;
        const size_t count_max = is_usdt ? 3 : 2;
        if (parts.size() > count_max) {
            const auto& part = parts[count_max];
            return text_.error_at(part, fmt::format("unexpected part; expected {}", form_),
                                  "a part with ':' in it is put in double quotes");
        }
        if (parts.size() < 2) {
            const bool has_space = text_.is_at(' ') || text_.is_at('\t');
            return text_.error_here(fmt::format("expected {}", form_),
                                    std::string(has_space ? kSpaceHint : ""));
        }
        TR_TRY(check_suffixes(parts));
        auto& name = parts.back();
        auto& holder = parts[parts.size() - 2];
        if (parts.size() == 3) TR_TRY(take_path(parts[0]));
        if (is_usdt || spec_.kind == ProbeKind::tracepoint) {
            spec_.provider = std::move(holder.text);
        } else {
            TR_TRY(take_path(holder));
            TR_TRY(take_symbol_offset(name));
            if (spec_.is_at_calls && has_wildcard(name.text)) {
                return text_.error_at(name, "calls: is of one function; a wildcard names several");
            }
        }
        spec_.name = std::move(name.text);
        return {};
    }

    Status take_path(ProbeToken& token) {
        // In quotes it is a file of that name.
        spec_.is_matched_file = token.text == "@" && !token.is_quoted;
        if (spec_.is_matched_file && origin_ == ProbeTextOrigin::command_line) {
            return text_.error_at(token, "@ is the file that a pack has matched; this is no pack",
                                  "name the file by its path, or by its base name");
        }
        spec_.path = std::move(token.text);
        return {};
    }

    // One part between colons; stops at ':', a parenthesis, a space or the end.
    Result<ProbeToken> parse_part() {
        ProbeToken token;
        if (text_.is_at('"')) {
            TR_ASSIGN(token, text_.take_quoted());
            // "+off" may follow a quoted symbol.
            token.suffix = text_.take_until(kPartEnds).text;
        } else {
            token = text_.take_until(kPartEnds);
            if (text_.is_at('"')) {
                return text_.error_here("a quote in the middle of a part",
                                        "put the whole part in double quotes");
            }
        }
        token.length = text_.position() - token.offset;
        if (token.text.empty()) {
            return text_.error_at(token, fmt::format("empty part; expected {}", form_));
        }
        return token;
    }

    // Only "symbol"+off may go on after its closing quote.
    Status check_suffixes(const std::vector<ProbeToken>& parts) const {
        const bool takes_offset =
            spec_.kind != ProbeKind::usdt && spec_.kind != ProbeKind::tracepoint;
        for (const auto& part : parts) {
            const bool is_symbol = takes_offset && &part == &parts.back();
            if (part.suffix.empty() || (is_symbol && part.suffix[0] == '+')) continue;
            return fail_at(text_.text(), part.offset + part.length - part.suffix.size(),
                           part.suffix.size(), "expected ':' or '(' after a quoted part");
        }
        return {};
    }

    // Splits "+off" off a symbol. Only a trailing '+' with a digit after it counts: operators of
    // C++ are mangled in symbol tables.
    Status take_symbol_offset(ProbeToken& token) {
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
            return fail_at(text_.text(), offset, digits.size(),
                           "expected an offset in bytes, decimal or 0x hexadecimal");
        }
        if (spec_.kind != ProbeKind::uprobe || spec_.is_at_calls) {
            return fail_at(text_.text(), offset - 1, digits.size() + 1,
                           "an offset is for u: probes; the others are of whole functions");
        }
        if (token.text.empty()) {
            return text_.error_at(token, "an offset without a symbol");
        }
        // What is the start of an instruction in one function is the middle of one in another.
        if (has_wildcard(token.text)) {
            return text_.error_at(token, "an offset is for one symbol; a wildcard names several");
        }
        return {};
    }

    Status expect_end() {
        text_.skip_spaces();
        if (text_.at_end()) return {};
        std::string_view message = "unexpected text";
        std::string_view hint = kSpaceHint;
        if (spec_.has_args) {
            message = "unexpected text after ')'";
            hint = kClauseHint;
        }
        if (!spec_.clauses.text.empty()) {
            message = "unexpected text behind a clause";
            hint = kClauseHint;
        }
        return fail_at(text_.text(), text_.position(), text_.text().size() - text_.position(),
                       message, std::string(hint));
    }

    ProbeText text_;
    ProbeTextOrigin origin_;
    std::string_view form_;
    ProbeSpec spec_;
};

bool is_space(char c) {
    return c == ' ' || c == '\t';
}

// What `list` prints behind a probe goes with it when the line is pasted.
std::string_view without_comment(std::string_view text) {
    bool is_quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && is_quoted) {
            ++i;
        } else if (text[i] == '"') {
            is_quoted = !is_quoted;
        } else if (text[i] == '#' && !is_quoted && i > 0 && is_space(text[i - 1])) {
            auto end = i;
            while (end > 0 && is_space(text[end - 1])) --end;
            return text.substr(0, end);
        }
    }
    return text;
}

}  // namespace

Result<ProbeSpec> parse_probe_spec(std::string_view text, ProbeTextOrigin origin) {
    return Parser(without_comment(text), origin).run();
}

std::string probe_text(const ProbeSpec& spec, std::string_view provider, std::string_view name) {
    if (!has_wildcard(spec.provider) && !has_wildcard(spec.name)) return spec.text;
    const bool has_provider = spec.kind == ProbeKind::usdt || spec.kind == ProbeKind::tracepoint;
    std::string text;
    for (const KindName& kind : kKinds) {
        if (kind.kind == spec.kind && kind.is_at_calls == spec.is_at_calls) text = kind.word;
    }
    const bool is_called_at = spec.path == "@" && !spec.is_matched_file;
    if (!spec.path.empty()) text += ":" + quote_probe_part(spec.path, is_called_at ? "@" : "");
    if (has_provider) text += ":" + quote_probe_part(provider);
    text += ":" + quote_probe_part(name, has_provider ? "" : "+");
    if (spec.symbol_offset != 0) text += fmt::format("+{:#x}", spec.symbol_offset);
    if (spec.has_args) {
        text += spec.text.substr(spec.args_text_offset);
    } else if (!spec.clauses.text.empty()) {
        text += " " + spec.clauses.text;
    }
    return text;
}

std::string quote_probe_part(std::string_view part, std::string_view also) {
    const auto special = std::string(kPartEnds).append("\\").append(also);
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
