// SPDX-License-Identifier: Apache-2.0
//
// The two judges of conditions. They share the comparison of texts, which goes back and forth where
// the kernel's keeps a set of positions. Used by the unit tests of the compiler and by the root
// tests of gates.
#include "support/condition_model.h"

#include <array>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr std::array<std::string_view, 8> kOperators{"==", "!=", "<", "<=", ">", ">=", "&", "~"};

struct IntegerType {
    std::string_view name;
    unsigned bits;
    bool is_signed;
};
constexpr std::array kTypes{
    IntegerType{"s8", 8, true},    IntegerType{"u8", 8, false},   IntegerType{"s16", 16, true},
    IntegerType{"u16", 16, false}, IntegerType{"s32", 32, true},  IntegerType{"u32", 32, false},
    IntegerType{"s64", 64, true},  IntegerType{"u64", 64, false},
};

constexpr std::array<std::string_view, 9> kPatterns{"pg*",  "*log", "a?c", "*",      "?*?",
                                                    "*e*e", "abc",  "",    "*a*b*c*"};

uint64_t extend(uint64_t value, unsigned bits, bool is_signed) {
    if (bits == 64) return value;
    const uint64_t low = value & ((uint64_t{1} << bits) - 1);
    const bool is_negative = is_signed && (low >> (bits - 1)) != 0;
    return is_negative ? low | ~((uint64_t{1} << bits) - 1) : low;
}

template <typename T>
size_t pick(std::mt19937& random, T count) {
    return std::uniform_int_distribution<size_t>(0, static_cast<size_t>(count) - 1)(random);
}

Judgement judge_bool(bool truth) {
    return truth ? Judgement::is_true : Judgement::is_false;
}

// Whether the pattern can fit the text, or (`may_go_on`) the text with something unseen behind it.
bool fits(std::string_view pattern, bool is_glob, std::string_view text, bool may_go_on) {
    if (pattern.empty()) return text.empty() && !may_go_on;
    if (text.empty() && may_go_on) return true;
    if (is_glob && pattern[0] == '*') {
        for (size_t taken = 0; taken <= text.size(); ++taken) {
            if (fits(pattern.substr(1), is_glob, text.substr(taken), may_go_on)) return true;
            // The rest that is not seen may be taken too.
            if (taken == text.size() && may_go_on) return true;
        }
        return false;
    }
    if (text.empty()) return false;
    if (!(is_glob && pattern[0] == '?') && pattern[0] != text[0]) return false;
    return fits(pattern.substr(1), is_glob, text.substr(1), may_go_on);
}

// Fits whatever is behind the text: the pattern ends in a star and fits a beginning of it.
bool fits_any_end(std::string_view pattern, bool is_glob, std::string_view text) {
    if (!is_glob || !pattern.ends_with('*')) return false;
    return fits(pattern, is_glob, text, false);
}

}  // namespace

struct RandomCondition::Node {
    enum class Kind : uint8_t { term, negation, conjunction, disjunction };
    Kind kind = Kind::term;
    std::shared_ptr<const Node> left;
    std::shared_ptr<const Node> right;
    // Terms.
    size_t compare = 0;  // into kOperators
    bool is_text = false;
    std::string_view pattern;
    bool is_second = false;
    IntegerType type{};
    uint64_t constant = 0;
};

RandomCondition RandomCondition::make(std::mt19937& random) {
    RandomCondition made;
    made.root_ = make_node(random, 1 + pick(random, TR_TERMS_MAX), made.text_);
    return made;
}

std::shared_ptr<const RandomCondition::Node> RandomCondition::make_node(std::mt19937& random,
                                                                        size_t terms,
                                                                        std::string& text) {
    if (terms == 1 && pick(random, 4) != 0) return make_term(random, text);
    auto node = std::make_shared<Node>();
    if (terms == 1 || pick(random, 5) == 0) {
        node->kind = Node::Kind::negation;
        text += "!(";
        node->left = make_node(random, terms, text);
        text += ")";
        return node;
    }
    const bool is_and = pick(random, 2) == 0;
    node->kind = is_and ? Node::Kind::conjunction : Node::Kind::disjunction;
    const size_t left = 1 + pick(random, terms - 1);
    text += "(";
    node->left = make_node(random, left, text);
    text += is_and ? " && " : "||";
    node->right = make_node(random, terms - left, text);
    text += ")";
    return node;
}

std::shared_ptr<const RandomCondition::Node> RandomCondition::make_term(std::mt19937& random,
                                                                        std::string& text) {
    auto node = std::make_shared<Node>();
    node->is_text = pick(random, 4) == 0;
    if (node->is_text) {
        constexpr std::array<size_t, 3> kTextOperators{0, 1, 7};
        node->compare = kTextOperators[pick(random, kTextOperators.size())];
        node->pattern = kPatterns[pick(random, kPatterns.size())];
        text += fmt::format("arg2 {} \"{}\"", kOperators[node->compare], node->pattern);
        return node;
    }
    node->type = kTypes[pick(random, kTypes.size())];
    node->compare = pick(random, 7);
    node->is_second = pick(random, 2) == 0;
    // Of every type something, and never its lowest or highest.
    const uint64_t magnitude = 1 + pick(random, 100);
    const bool is_negative = node->type.is_signed && pick(random, 2) == 0;
    node->constant = is_negative ? uint64_t{0} - magnitude : magnitude;
    text += fmt::format(
        "arg{}:{}{}{}{}", node->is_second ? 1 : 0, node->type.name, kOperators[node->compare],
        is_negative ? "-" : " ",
        pick(random, 2) == 0 ? fmt::format("{:#x}", magnitude) : fmt::format("{}", magnitude));
    return node;
}

Judgement RandomCondition::judge(const ConditionInput& input) const {
    return judge_node(*root_, input);
}

Judgement RandomCondition::judge_node(const Node& node, const ConditionInput& input) {
    switch (node.kind) {
        case Node::Kind::negation: {
            const auto inner = judge_node(*node.left, input);
            return inner == Judgement::is_unknown ? inner : judge_bool(inner != Judgement::is_true);
        }
        case Node::Kind::conjunction:
        case Node::Kind::disjunction: {
            const auto left = judge_node(*node.left, input);
            const bool is_and = node.kind == Node::Kind::conjunction;
            if (left == (is_and ? Judgement::is_true : Judgement::is_false)) {
                return judge_node(*node.right, input);
            }
            return left;
        }
        case Node::Kind::term:
            break;
    }
    if (node.is_text) {
        if (!input.text) return Judgement::is_unknown;
        const auto matched = match_text(node.pattern, node.compare == 7, *input.text);
        if (matched == Judgement::is_unknown || node.compare != 1) return matched;
        return judge_bool(matched == Judgement::is_false);
    }
    const uint64_t value =
        extend(node.is_second ? input.arg1 : input.arg0, node.type.bits, node.type.is_signed);
    const auto number = static_cast<int64_t>(value);
    const auto constant = static_cast<int64_t>(node.constant);
    const bool is_less = node.type.is_signed ? number < constant : value < node.constant;
    const std::array<bool, 7> answers{value == node.constant,
                                      value != node.constant,
                                      is_less,
                                      is_less || value == node.constant,
                                      !is_less && value != node.constant,
                                      !is_less,
                                      (value & node.constant) != 0};
    return judge_bool(answers[node.compare]);
}

ConditionInput RandomCondition::random_input(std::mt19937& random) {
    const auto integer = [&]() -> uint64_t {
        const uint64_t small = pick(random, 300);
        switch (pick(random, 4)) {
            case 0:
                return small;
            case 1:
                return uint64_t{0} - small;
            case 2:
                return small << pick(random, 56);
            default:
                return random() * uint64_t{0x100000001};
        }
    };
    ConditionInput input{integer(), integer(), std::nullopt};
    if (pick(random, 8) == 0) return input;
    constexpr std::string_view kLetters = "abcepglo";
    std::string text;
    const size_t bytes = pick(random, 10) == 0 ? 58 + pick(random, 10) : pick(random, 7);
    for (size_t i = 0; i < bytes; ++i) text += kLetters[pick(random, kLetters.size())];
    constexpr std::array<std::string_view, 5> kTexts{"pg", "pglog", "abc", "a", "elite"};
    if (pick(random, 3) == 0) text = kTexts[pick(random, kTexts.size())];
    input.text = text;
    return input;
}

Judgement match_text(std::string_view pattern, bool is_glob, std::string_view text) {
    if (text.size() <= TR_TERM_TEXT_BYTES) return judge_bool(fits(pattern, is_glob, text, false));
    const auto seen = text.substr(0, TR_TERM_TEXT_BYTES);
    if (fits_any_end(pattern, is_glob, seen)) return Judgement::is_true;
    return fits(pattern, is_glob, seen, true) ? Judgement::is_unknown : Judgement::is_false;
}

Judgement run_terms(std::span<const tr_term> terms, const ConditionInput& input) {
    size_t next = 0;
    while (next < terms.size()) {
        const tr_term& term = terms[next];
        Judgement truth = Judgement::is_unknown;
        if (term.source == TR_TERM_TEXT) {
            if (term.arg.ops[0].reg != TR_REG_RDX || !input.text) return Judgement::is_unknown;
            truth = match_text({term.pattern, term.pattern_bytes}, term.compare == TR_COMPARE_GLOB,
                               *input.text);
            if (truth == Judgement::is_unknown) return truth;
        } else {
            const uint64_t value =
                extend(term.arg.ops[0].reg == TR_REG_RDI ? input.arg0 : input.arg1,
                       term.arg.bytes * 8U, term.arg.form == TR_ARG_SIGNED);
            const auto number = static_cast<int64_t>(value);
            const auto constant = static_cast<int64_t>(term.constant);
            const std::array<bool, 6> answers{
                value == term.constant, number<constant, number> constant,
                value<term.constant, value> term.constant, (value & term.constant) != 0};
            if (term.compare >= answers.size()) return Judgement::is_unknown;
            truth = judge_bool(answers[term.compare]);
        }
        const size_t target = truth == Judgement::is_true ? term.on_true : term.on_false;
        if (target == TR_TERM_ACCEPT || target == TR_TERM_REJECT) {
            return judge_bool(target == TR_TERM_ACCEPT);
        }
        // Jumps only go forward.
        if (target <= next) return Judgement::is_unknown;
        next = target;
    }
    return Judgement::is_unknown;
}

}  // namespace tracer::test
