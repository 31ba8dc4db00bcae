// SPDX-License-Identifier: Apache-2.0
//
// From a condition's text form to the terms of a gate (tracer/abi/gate.h). Comparisons become
// those that the kernel knows: the other operators are these with the two jumps exchanged. Relies
// on the compilers of each kind of probe for where operands lie; called by them.
#include "probe/compile_condition.h"

#include "probe/caret.h"
#include "probe/condition_spec.h"
#include "probe/nearest.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr uint64_t kSecondNs = 1000000000;
// What the rate limit lets through at once after a pause: a tenth of a second's worth.
constexpr uint64_t kBurstNs = kSecondNs / 10;

static_assert(kConditionTrue == TR_TERM_ACCEPT && kConditionFalse == TR_TERM_REJECT);

tl::unexpected<Error> fail_term(const ProbeSpec& spec,
                                const ConditionTerm& term,
                                std::string_view message,
                                std::string hint = {}) {
    return fail_at(spec.text, term.text_offset, term.text_length, message, std::move(hint));
}

// What an operand can be, as 64 bits.
struct IntegerRange {
    bool is_signed = false;
    uint64_t highest = 0;  // the lowest is -highest - 1, or 0
    std::string name;
};

IntegerRange range_of(uint8_t bytes, bool is_signed, const std::string& name) {
    const unsigned bits = bytes * 8U;
    const uint64_t all = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    return {is_signed, is_signed ? all >> 1 : all, name};
}

// Where a constant lies: below, among or above what the operand can be.
int side_of(const ConditionTerm& term, const IntegerRange& range) {
    if (term.is_negative) {
        return range.is_signed && term.magnitude - 1 <= range.highest ? 0 : -1;
    }
    return term.magnitude <= range.highest ? 0 : 1;
}

uint64_t constant_of(const ConditionTerm& term) {
    return term.is_negative ? uint64_t{0} - term.magnitude : term.magnitude;
}

enum class Outcome : uint8_t { open, always, never };

Outcome outcome_of(const ConditionTerm& term, const IntegerRange& range) {
    const int side = side_of(term, range);
    const uint64_t value = constant_of(term);
    const bool is_lowest = value == (range.is_signed ? ~range.highest : 0);
    const bool is_highest = value == range.highest && side == 0;
    const auto when = [](bool is_known, bool is_true) {
        if (!is_known) return Outcome::open;
        return is_true ? Outcome::always : Outcome::never;
    };
    switch (term.compare) {
        case ConditionOperator::equal:
            return when(side != 0, false);
        case ConditionOperator::not_equal:
            return when(side != 0, true);
        case ConditionOperator::less:
            return when(side != 0 || is_lowest, side > 0);
        case ConditionOperator::greater_equal:
            return when(side != 0 || is_lowest, side < 0 || (side == 0 && is_lowest));
        case ConditionOperator::greater:
            return when(side != 0 || is_highest, side < 0);
        case ConditionOperator::less_equal:
            return when(side != 0 || is_highest, side > 0 || (side == 0 && is_highest));
        case ConditionOperator::any_bit: {
            const uint64_t bits = range.is_signed ? range.highest * 2 + 1 : range.highest;
            return when((value & bits) == 0, false);
        }
        case ConditionOperator::glob:
            return Outcome::open;
    }
    return Outcome::open;
}

std::string range_text(const IntegerRange& range) {
    if (!range.is_signed) return fmt::format("0 to {}", range.highest);
    return fmt::format("{} to {}", static_cast<int64_t>(~range.highest), range.highest);
}

// Sets what an integer comparison is, for an operand that can be what `range` says.
Status set_comparison(const ProbeSpec& spec,
                      const ConditionTerm& term,
                      const IntegerRange& range,
                      tr_term& out) {
    if (const auto outcome = outcome_of(term, range); outcome != Outcome::open) {
        return fail_term(
            spec, term,
            fmt::format("this is always {}", outcome == Outcome::always ? "true" : "false"),
            fmt::format("{} holds {}", range.name, range_text(range)));
    }
    out.constant = constant_of(term);
    bool is_exchanged = false;
    const auto less = range.is_signed ? TR_COMPARE_LESS : TR_COMPARE_LESS_UNSIGNED;
    const auto greater = range.is_signed ? TR_COMPARE_GREATER : TR_COMPARE_GREATER_UNSIGNED;
    switch (term.compare) {
        case ConditionOperator::equal:
        case ConditionOperator::not_equal:
            out.compare = TR_COMPARE_EQUAL;
            is_exchanged = term.compare == ConditionOperator::not_equal;
            break;
        case ConditionOperator::less:
        case ConditionOperator::greater_equal:
            out.compare = static_cast<uint8_t>(less);
            is_exchanged = term.compare == ConditionOperator::greater_equal;
            break;
        case ConditionOperator::greater:
        case ConditionOperator::less_equal:
            out.compare = static_cast<uint8_t>(greater);
            is_exchanged = term.compare == ConditionOperator::less_equal;
            break;
        case ConditionOperator::any_bit:
            out.compare = TR_COMPARE_ANY_BIT;
            break;
        case ConditionOperator::glob:
            return fail(ErrorCode::internal, "a pattern for an integer");
    }
    if (is_exchanged) std::swap(out.on_true, out.on_false);
    return {};
}

void set_pattern(const ConditionTerm& term, tr_term& out) {
    out.compare = term.compare == ConditionOperator::glob ? TR_COMPARE_GLOB : TR_COMPARE_TEXT;
    TR_CHECK(term.text.size() <= TR_TERM_TEXT_BYTES);
    out.pattern_bytes = static_cast<uint8_t>(term.text.size());
    std::copy(term.text.begin(), term.text.end(), out.pattern);
    if (term.compare == ConditionOperator::not_equal) std::swap(out.on_true, out.on_false);
}

// A value with names (an enumeration's, or /map) compared with one of them.
Status set_named(const ProbeSpec& spec,
                 const ConditionTerm& term,
                 std::span<const model::ValueName> names,
                 tr_term& out) {
    if (term.compare == ConditionOperator::glob) {
        return fail_term(spec, term, "names of values are compared with == and !=");
    }
    const auto found = std::ranges::find(names, term.text, &model::ValueName::name);
    if (found == names.end()) {
        NearestNames nearest(term.text);
        for (const auto& known : names) nearest.offer(known.name);
        return fail_term(spec, term, fmt::format("no value is called '{}'", term.text),
                         nearest.hint());
    }
    out.source = TR_TERM_INTEGER;
    out.compare = TR_COMPARE_EQUAL;
    out.constant = found->bits;
    if (term.compare == ConditionOperator::not_equal) std::swap(out.on_true, out.on_false);
    return {};
}

}  // namespace

Result<ConditionCompiler> ConditionCompiler::make(const ProbeSpec& spec,
                                                  const CompileOptions& options) {
    ConditionCompiler compiler(spec);
    for (const auto& term : spec.clauses.condition) {
        TR_ASSIGN(const auto compiled, compiler.task_term(term, options));
        compiler.terms_.push_back(compiled);
    }
    return compiler;
}

Result<tr_term> ConditionCompiler::task_term(const ConditionTerm& term,
                                             const CompileOptions& options) const {
    tr_term out{};
    out.on_true = term.on_true;
    out.on_false = term.on_false;
    switch (term.source) {
        case ConditionSource::operand:
            return out;
        case ConditionSource::comm:
            out.source = TR_TERM_COMM;
            // A longer name than the kernel keeps can fit a pattern, but never be equal.
            if (term.compare != ConditionOperator::glob && term.text.size() >= TR_COMM_BYTES) {
                return fail_term(
                    *spec_, term,
                    fmt::format("the kernel keeps {} bytes of a thread's name", TR_COMM_BYTES - 1),
                    fmt::format("comm == \"{}\"", term.text.substr(0, TR_COMM_BYTES - 1)));
            }
            set_pattern(term, out);
            return out;
        case ConditionSource::pid:
        case ConditionSource::tid: {
            const bool is_pid = term.source == ConditionSource::pid;
            out.source = is_pid ? TR_TERM_PID : TR_TERM_TID;
            TR_TRY(set_comparison(*spec_, term, range_of(4, false, is_pid ? "pid" : "tid"), out));
            return out;
        }
        case ConditionSource::cgroup:
        case ConditionSource::container: {
            out.source = TR_TERM_CGROUP;
            const auto& find = term.source == ConditionSource::container ? options.find_container
                                                                         : options.find_cgroup;
            if (!find) {
                return fail_term(*spec_, term, "containers cannot be looked up here",
                                 "cgroup == \"PATH\" names its cgroup");
            }
            auto id = find(term.is_text ? term.text : std::to_string(term.magnitude));
            if (!id) {
                return fail_term(*spec_, term, id.error().what, id.error().hint);
            }
            out.constant = *id;
            if (term.compare == ConditionOperator::not_equal) std::swap(out.on_true, out.on_false);
            return out;
        }
    }
    return out;
}

Result<std::vector<tr_term>> ConditionCompiler::at_site(const OperandAtSite& operand) const {
    std::vector<tr_term> terms = terms_;
    for (size_t i = 0; i < terms.size(); ++i) {
        const auto& term = spec_->clauses.condition[i];
        if (term.source != ConditionSource::operand) continue;
        TR_ASSIGN(terms[i], operand_term(term, operand));
    }
    return terms;
}

Result<tr_term> ConditionCompiler::operand_term(const ConditionTerm& term,
                                                const OperandAtSite& operand) const {
    const ProbeSpec& spec = *spec_;
    tr_term out{};
    out.on_true = term.on_true;
    out.on_false = term.on_false;
    ArgSpec wanted = term.operand;
    bool is_named = false;
    if (term.is_text && wanted.type != ArgType::string) {
        TR_ASSIGN(const auto value, operand(wanted));
        is_named = !value.names.empty();
    }
    if (term.is_text && !is_named && wanted.type == ArgType::automatic) {
        wanted.type = ArgType::string;
    }
    TR_ASSIGN(const auto argument, operand(wanted));
    out.arg = argument.arg;
    if (is_named) {
        TR_TRY(set_named(spec, term, argument.names, out));
        return out;
    }
    if (argument.arg.form == TR_ARG_UNREADABLE) {
        return fail_term(spec, term, fmt::format("{} cannot be read at this site", wanted.operand));
    }
    const bool is_string = argument.type == model::ValueType::string;
    if (argument.type == model::ValueType::f64) {
        return fail_term(spec, term, "floating-point values cannot be compared in the kernel");
    }
    if (is_string != term.is_text) {
        return fail_term(spec, term,
                         is_string ? fmt::format("{} is text here", wanted.operand)
                                   : fmt::format("{} is no text here", wanted.operand),
                         is_string ? "texts are compared with == != ~ and a text in double quotes"
                                   : "arg0:str reads the text at its address");
    }
    if (is_string) {
        out.source = TR_TERM_TEXT;
        set_pattern(term, out);
        return out;
    }
    out.source = TR_TERM_INTEGER;
    const bool is_signed = argument.arg.form == TR_ARG_SIGNED;
    const auto name =
        fmt::format("{}:{}{}", wanted.operand, is_signed ? 's' : 'u', argument.arg.bytes * 8);
    TR_TRY(set_comparison(spec, term, range_of(argument.arg.bytes, is_signed, name), out));
    return out;
}

HitLimits limits_of(const ProbeClauses& clauses) {
    HitLimits limits;
    limits.sample_every = clauses.sample_every > 1 ? clauses.sample_every : 0;
    if (clauses.rate_per_second != 0) {
        limits.interval_ns = kSecondNs / clauses.rate_per_second;
        // A hit that is due exactly now passes: of a burst of N the last is N - 1 intervals ahead.
        limits.burst_ns = kBurstNs > limits.interval_ns ? kBurstNs - limits.interval_ns : 0;
    }
    return limits;
}

Result<std::vector<NamePiece>> compile_name(const ProbeSpec& spec,
                                            std::span<const std::string> labels) {
    return compile_template(spec, spec.clauses.name, labels);
}

// A label may be spelled as the argument was: labels have no '.', which readers take for a path.
std::string label_of(std::string_view text) {
    std::string label(text.starts_with("arg:") ? text.substr(4) : text);
    for (auto dot = label.find('.'); dot != std::string::npos; dot = label.find('.', dot)) {
        label.replace(dot, 1, "->");
    }
    return label;
}

Result<std::vector<NamePiece>> compile_template(const ProbeSpec& spec,
                                                std::span<const TemplatePiece> wanted,
                                                std::span<const std::string> labels) {
    std::vector<NamePiece> pieces;
    for (const auto& piece : wanted) {
        if (!piece.is_label) {
            pieces.push_back({piece.text, NamePiece::kText});
            continue;
        }
        const auto found = std::ranges::find(labels, label_of(piece.text));
        if (found != labels.end()) {
            pieces.push_back({{}, static_cast<uint8_t>(found - labels.begin())});
            continue;
        }
        NearestNames nearest(piece.text);
        for (const auto& label : labels) nearest.offer(label);
        auto hint = nearest.hint();
        if (hint.empty() && labels.empty()) hint = "name arguments first: (q=arg0:str)";
        if (hint.empty()) hint = fmt::format("its arguments: {}", fmt::join(labels, " "));
        return fail_at(spec.text, piece.text_offset, piece.text.size(),
                       fmt::format("no argument called '{}'", piece.text), std::move(hint));
    }
    return pieces;
}

std::vector<std::string> labels_of(std::span<const ArgSpec> args) {
    std::vector<std::string> labels;
    for (const auto& arg : args) labels.push_back(arg.label);
    return labels;
}

}  // namespace tracer
