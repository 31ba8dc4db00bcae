// SPDX-License-Identifier: Apache-2.0
//
// The parser of a probe's condition. It makes the straight program that the kernel runs at once:
// what && and || mean is where each term goes on when it is true and when it is false, and what !
// means is that the two are exchanged. Called by probe_clauses.cpp; bounded by the text, by
// TR_TERMS_MAX and by kDepthMax.
#include "probe/condition_spec.h"

#include "probe/probe_arguments.h"
#include "probe/probe_operand.h"
#include "tracer/abi/gate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kDepthMax = 32;
constexpr std::string_view kConstantEnds = " \t()&|!<>=~,:\"";

constexpr std::string_view kValuesHint =
    "values: arg0, arg1:u32, a tracepoint's fields, names given to arguments, comm, pid, tid, "
    "cgroup, container";

struct OperatorName {
    std::string_view word;
    ConditionOperator compare;
};

// The longer of two that begin alike stands first.
constexpr std::array<OperatorName, 8> kOperators{{
    {"==", ConditionOperator::equal},
    {"!=", ConditionOperator::not_equal},
    {"<=", ConditionOperator::less_equal},
    {">=", ConditionOperator::greater_equal},
    {"<", ConditionOperator::less},
    {">", ConditionOperator::greater},
    {"&", ConditionOperator::any_bit},
    {"~", ConditionOperator::glob},
}};

struct SourceName {
    std::string_view word;
    ConditionSource source;
};

constexpr std::array<SourceName, 5> kSources{{
    {"comm", ConditionSource::comm},
    {"pid", ConditionSource::pid},
    {"tid", ConditionSource::tid},
    {"cgroup", ConditionSource::cgroup},
    {"container", ConditionSource::container},
}};

class ConditionParser {
public:
    ConditionParser(ProbeText& text, ProbeSpec& spec) : text_(text), spec_(spec) {}

    Result<std::vector<ConditionTerm>> run() {
        TR_ASSIGN(const auto whole, parse_or(0));
        settle(whole.on_true, kConditionTrue);
        settle(whole.on_false, kConditionFalse);
        return std::move(terms_);
    }

private:
    // The jumps of a part that do not lead anywhere yet, as term * 2 + (1: the one taken if true).
    using Jumps = std::vector<size_t>;
    struct Part {
        size_t first = 0;  // its first term
        Jumps on_true;
        Jumps on_false;
    };

    void settle(const Jumps& jumps, size_t target) {
        for (const size_t jump : jumps) {
            auto& term = terms_[jump / 2];
            (jump % 2 != 0 ? term.on_true : term.on_false) = static_cast<uint8_t>(target);
        }
    }

    bool accept(std::string_view word) {
        text_.skip_spaces();
        if (!text_.text().substr(text_.position()).starts_with(word)) return false;
        for (size_t i = 0; i < word.size(); ++i) text_.accept(word[i]);
        return true;
    }

    Result<Part> parse_or(size_t depth) {
        TR_ASSIGN(Part left, parse_and(depth));
        while (accept("||")) {
            TR_ASSIGN(Part right, parse_and(depth));
            settle(left.on_false, right.first);
            left.on_false = std::move(right.on_false);
            left.on_true.insert(left.on_true.end(), right.on_true.begin(), right.on_true.end());
        }
        return left;
    }

    Result<Part> parse_and(size_t depth) {
        TR_ASSIGN(Part left, parse_not(depth));
        while (accept("&&")) {
            TR_ASSIGN(Part right, parse_not(depth));
            settle(left.on_true, right.first);
            left.on_true = std::move(right.on_true);
            left.on_false.insert(left.on_false.end(), right.on_false.begin(), right.on_false.end());
        }
        return left;
    }

    Result<Part> parse_not(size_t depth) {
        if (depth == kDepthMax) {
            return text_.error_here(fmt::format("nested deeper than {}", kDepthMax));
        }
        if (accept("!")) {
            TR_ASSIGN(Part part, parse_not(depth + 1));
            std::swap(part.on_true, part.on_false);
            return part;
        }
        if (accept("(")) {
            TR_ASSIGN(Part part, parse_or(depth + 1));
            text_.skip_spaces();
            if (!text_.accept(')')) return text_.error_here("expected ')', && or ||");
            return part;
        }
        TR_TRY(parse_term());
        const size_t index = terms_.size() - 1;
        return Part{index, {index * 2 + 1}, {index * 2}};
    }

    Status parse_term() {
        text_.skip_spaces();
        ConditionTerm term;
        term.text_offset = text_.position();
        TR_TRY(take_source(term));
        TR_TRY(take_operator(term));
        text_.skip_spaces();
        if (text_.is_at('"')) {
            TR_TRY(take_text(term));
        } else {
            TR_TRY(take_integer(term));
        }
        term.text_length = text_.position() - term.text_offset;
        if (terms_.size() == TR_TERMS_MAX) {
            return fail_at(text_.text(), term.text_offset, term.text_length,
                           fmt::format("more than {} comparisons in a condition", TR_TERMS_MAX),
                           "two -e with a condition each record two probes");
        }
        TR_TRY(check(term));
        terms_.push_back(std::move(term));
        return {};
    }

    Status take_source(ConditionTerm& term) {
        const ProbeText before = text_;
        const auto word = text_.take_until(kOperandEnds);
        // Labels first: a tracepoint's field called pid or comm is meant where it has been named.
        const auto label = std::ranges::find(spec_.args, word.text, &ArgSpec::label);
        if (label != spec_.args.end() && !text_.is_at(':')) {
            term.operand = *label;
            term.operand.text_offset = word.offset;
            return check_operand(term, word);
        }
        const auto source = std::ranges::find(kSources, word.text, &SourceName::word);
        if (source != kSources.end()) {
            term.source = source->source;
            return {};
        }
        text_ = before;
        if (word.text.empty() && !text_.is_at('*') && !text_.is_at('&')) {
            return text_.error_here("expected a value to compare",
                                    "for example if arg1 > 4096 && comm ~ \"pg*\"");
        }
        auto operand = parse_typed_operand(text_, spec_);
        if (!operand) {
            auto error = std::move(operand).error();
            // Of a word that is no operand; what is said of a type behind one stays.
            if (!text_.is_at(':')) error.hint = kValuesHint;
            return tl::unexpected(std::move(error));
        }
        term.operand = std::move(*operand);
        return check_operand(term, word);
    }

    Status check_operand(const ConditionTerm& term, const ProbeToken& word) const {
        if (spec_.kind == ProbeKind::span && term.operand.operand == "ret") {
            return text_.error_at(word, "whether a span is recorded is known at its begin",
                                  "ret can be compared in ur:PATH:symbol");
        }
        const auto type = term.operand.type;
        if (type == ArgType::f32 || type == ArgType::f64) {
            return text_.error_at(word, "floating-point values cannot be compared in the kernel");
        }
        return {};
    }

    Status take_operator(ConditionTerm& term) {
        text_.skip_spaces();
        const auto rest = text_.text().substr(text_.position());
        const auto found = std::ranges::find_if(
            kOperators, [&](const OperatorName& entry) { return rest.starts_with(entry.word); });
        if (found == kOperators.end() || rest.starts_with("&&")) {
            return text_.error_here("expected one of == != < <= > >= & ~",
                                    rest.starts_with('=') ? "== compares" : "");
        }
        accept(found->word);
        term.compare = found->compare;
        return {};
    }

    Status take_text(ConditionTerm& term) {
        TR_ASSIGN(auto token, text_.take_quoted());
        if (token.text.size() > TR_TERM_TEXT_BYTES) {
            return text_.error_at(token, fmt::format("a text of {} bytes; at most {} are compared",
                                                     token.text.size(), TR_TERM_TEXT_BYTES));
        }
        term.is_text = true;
        term.text = std::move(token.text);
        return {};
    }

    Status take_integer(ConditionTerm& term) {
        ProbeToken word;
        word.offset = text_.position();
        std::optional<uint64_t> value;
        if (text_.is_at('\'')) {
            value = take_character();
            word.length = text_.position() - word.offset;
        } else {
            word = text_.take_until(kConstantEnds);
            std::string_view digits = word.text;
            term.is_negative = digits.starts_with('-');
            if (term.is_negative) digits.remove_prefix(1);
            value = number(digits);
        }
        if (!value) {
            return text_.error_at(
                word, "expected an integer or a text in double quotes",
                "integers: 10, -1, 0x1f, 017, 'c'; texts and names of values: \"idle\"");
        }
        term.magnitude = *value;
        term.is_negative = term.is_negative && *value != 0;
        return {};
    }

    // 'c', or one of '\n' '\t' '\0' '\\' '\''.
    std::optional<uint64_t> take_character() {
        text_.accept('\'');
        const auto rest = text_.text().substr(text_.position());
        const size_t bytes = rest.starts_with('\\') ? 2 : 1;
        if (rest.size() <= bytes || rest[bytes] != '\'') return std::nullopt;
        for (size_t i = 0; i <= bytes; ++i) text_.accept(rest[i]);
        if (bytes == 1) return static_cast<unsigned char>(rest[0]);
        switch (rest[1]) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case '0':
                return 0;
            case '\\':
            case '\'':
                return static_cast<unsigned char>(rest[1]);
            default:
                return std::nullopt;
        }
    }

    static std::optional<uint64_t> number(std::string_view digits) {
        int base = 10;
        if (digits.starts_with("0x") || digits.starts_with("0X")) {
            base = 16;
            digits.remove_prefix(2);
        } else if (digits.size() > 1 && digits.starts_with('0')) {
            base = 8;
        }
        uint64_t value = 0;
        const auto* end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, value, base);
        if (error != std::errc{} || rest != end) return std::nullopt;
        return value;
    }

    // Whether what is compared goes with the operator and the constant.
    Status check(const ConditionTerm& term) const {
        const auto fail_term = [&](std::string_view message, std::string hint = {}) {
            return fail_at(text_.text(), term.text_offset, term.text_length, message,
                           std::move(hint));
        };
        const bool is_equality = term.compare == ConditionOperator::equal ||
                                 term.compare == ConditionOperator::not_equal;
        const bool is_glob = term.compare == ConditionOperator::glob;
        if (is_glob && !term.is_text) {
            return fail_term("~ takes a text with * and ?, in double quotes");
        }
        if (term.is_text && !is_equality && !is_glob) {
            return fail_term(fmt::format("{} compares integers", operator_name(term.compare)),
                             "texts are compared with == != ~");
        }
        switch (term.source) {
            case ConditionSource::operand:
                return {};
            case ConditionSource::comm:
                if (!term.is_text) return fail_term("comm is a text, in double quotes");
                return {};
            case ConditionSource::pid:
            case ConditionSource::tid:
                if (term.is_text) return fail_term("pid and tid are numbers");
                return {};
            case ConditionSource::cgroup:
                if (!is_equality) return fail_term("a cgroup is compared with == or !=");
                return {};
            case ConditionSource::container:
                if (!is_equality || !term.is_text) {
                    return fail_term("a container is compared with == or != and its name",
                                     "container == \"web\"");
                }
                return {};
        }
        return {};
    }

    ProbeText& text_;
    ProbeSpec& spec_;
    std::vector<ConditionTerm> terms_;
};

}  // namespace

Result<std::vector<ConditionTerm>> parse_condition(ProbeText& text, ProbeSpec& spec) {
    return ConditionParser(text, spec).run();
}

std::string_view operator_name(ConditionOperator compare) {
    for (const auto& entry : kOperators) {
        if (entry.compare == compare) return entry.word;
    }
    return "";
}

}  // namespace tracer
