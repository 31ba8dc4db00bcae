// SPDX-License-Identifier: Apache-2.0
//
// The parser of what follows a probe's place and arguments, grammar in probe_spec.h: which hits are
// recorded, and what they are called. Called by probe_spec.cpp; bounded by the text.
#include "probe/probe_clauses.h"

#include "probe/condition_spec.h"
#include "tracer/abi/gate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr uint32_t kSampleMax = 1000000000;
// A name is shown in one line; longer templates are a slip.
constexpr size_t kTemplatePiecesMax = 32;

class ClausesParser {
public:
    ClausesParser(ProbeText& text, ProbeSpec& spec) : text_(text), spec_(spec) {}

    Status run() {
        text_.skip_spaces();
        spec_.clauses.text_offset = text_.position();
        // Each turn takes at least a clause's word.
        while (true) {
            text_.skip_spaces();
            const ProbeText before = text_;
            const auto word = text_.take_word();
            const auto clause = std::ranges::find(kClauses, word.text, &Clause::word);
            if (clause == kClauses.end()) {
                text_ = before;
                break;
            }
            bool& is_seen = seen_[static_cast<size_t>(clause - kClauses.begin())];
            if (is_seen) return text_.error_at(word, fmt::format("a second '{}'", word.text));
            is_seen = true;
            text_.skip_spaces();
            TR_TRY((this->*clause->parse)());
        }
        const auto whole = text_.text().substr(spec_.clauses.text_offset,
                                               text_.position() - spec_.clauses.text_offset);
        spec_.clauses.text = whole.substr(0, whole.find_last_not_of(" \t") + 1);
        return {};
    }

private:
    struct Clause {
        std::string_view word;
        Status (ClausesParser::*parse)();
    };
    static const std::array<Clause, 4> kClauses;

    Status parse_if() {
        TR_ASSIGN(spec_.clauses.condition, parse_condition(text_, spec_));
        return {};
    }

    // "1/N"
    Status parse_sample() {
        const auto word = text_.take_until(" \t");
        const auto every = word.text.starts_with("1/") ? number(word.text.substr(2)) : std::nullopt;
        if (!every || *every == 0 || *every > kSampleMax) {
            return text_.error_at(word, fmt::format("expected 1/N, N from 1 to {}", kSampleMax),
                                  "sample 1/100 records the first of every hundred on each CPU");
        }
        spec_.clauses.sample_every = *every;
        return {};
    }

    // "N/s"
    Status parse_rate() {
        auto word = text_.take_until(" \t");
        std::string_view digits = word.text;
        const bool has_unit = digits.ends_with("/s");
        if (has_unit) digits.remove_suffix(2);
        const auto rate = has_unit ? number(digits) : std::nullopt;
        if (!rate || *rate == 0 || *rate > TR_GATE_RATE_MAX) {
            return text_.error_at(word,
                                  fmt::format("expected N/s, N from 1 to {}", TR_GATE_RATE_MAX),
                                  "rate 500/s records at most 500 hits a second");
        }
        spec_.clauses.rate_per_second = *rate;
        return {};
    }

    // A template in double quotes: \" and \\ as everywhere, {{ and }} for braces.
    Status parse_as() {
        const size_t begin = text_.position();
        TR_ASSIGN(const auto whole, text_.take_quoted());
        if (whole.text.empty()) return text_.error_at(whole, "an empty name");
        const auto raw = text_.text();
        const size_t end = begin + whole.length - 1;
        TemplatePiece literal;
        for (size_t at = begin + 1; at < end; ++at) {
            const char c = raw[at];
            const bool is_doubled = raw[at + 1] == c && at + 1 < end;
            if (c == '{' && !is_doubled) {
                add_piece(literal);
                TR_TRY(take_label(at, end));
                continue;
            }
            if (c == '}' && !is_doubled) {
                return fail_at(raw, at, 1, "a '}' without its '{'", "}} stands for a brace");
            }
            if (c == '{' || c == '}' || (c == '\\' && at + 1 < end)) ++at;
            literal.text += raw[at];
        }
        add_piece(literal);
        if (spec_.clauses.name.size() > kTemplatePiecesMax) {
            return text_.error_at(whole, "a name of too many parts");
        }
        return {};
    }

    // "{label}" from `at` on; leaves `at` on its '}'.
    Status take_label(size_t& at, size_t end) {
        const auto raw = text_.text();
        const size_t close = raw.find_first_of("{}", at + 1);
        if (close >= end || raw[close] == '{') {
            return fail_at(raw, at, 1, "a '{' without its '}'", "{{ stands for a brace");
        }
        TemplatePiece label{true, std::string(raw.substr(at + 1, close - at - 1)), at + 1};
        if (label.text.empty()) {
            return fail_at(raw, at, 2, "expected an argument's name in { }",
                           "for example as \"query {arg0}\"");
        }
        spec_.clauses.name.push_back(std::move(label));
        at = close;
        return {};
    }

    void add_piece(TemplatePiece& literal) {
        if (!literal.text.empty()) spec_.clauses.name.push_back(std::move(literal));
        literal = {};
    }

    static std::optional<uint32_t> number(std::string_view digits) {
        uint32_t value = 0;
        const auto* end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, value);
        if (error != std::errc{} || rest != end) return std::nullopt;
        return value;
    }

    ProbeText& text_;
    ProbeSpec& spec_;
    std::array<bool, 4> seen_{};
};

const std::array<ClausesParser::Clause, 4> ClausesParser::kClauses{{
    {"if", &ClausesParser::parse_if},
    {"sample", &ClausesParser::parse_sample},
    {"rate", &ClausesParser::parse_rate},
    {"as", &ClausesParser::parse_as},
}};

}  // namespace

Status parse_clauses(ProbeText& text, ProbeSpec& spec) {
    return ClausesParser(text, spec).run();
}

}  // namespace tracer
