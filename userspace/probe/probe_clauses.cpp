// SPDX-License-Identifier: Apache-2.0
//
// The parser of what follows a probe's place and arguments, grammar in probe_spec.h: which hits are
// recorded, what they are called, and what they mean. Called by probe_spec.cpp; bounded by the
// text.
#include "probe/probe_clauses.h"

#include "probe/condition_spec.h"
#include "probe/probe_template.h"
#include "probe/wildcard.h"
#include "tracer/abi/gate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr uint32_t kSampleMax = 1000000000;

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
            clause_offset_ = word.offset;
            text_.skip_spaces();
            TR_TRY((this->*clause->parse)());
        }
        const auto whole = text_.text().substr(spec_.clauses.text_offset,
                                               text_.position() - spec_.clauses.text_offset);
        spec_.clauses.text = whole.substr(0, whole.find_last_not_of(" \t") + 1);
        return check();
    }

private:
    struct Clause {
        std::string_view word;
        Status (ClausesParser::*parse)();
    };
    static constexpr size_t kClauseCount = 11;
    static const std::array<Clause, kClauseCount> kClauses;

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

    Status parse_as() {
        const size_t offset = text_.position();
        TR_ASSIGN(spec_.clauses.name, parse_template(text_));
        spec_.clauses.name_place = place_to_here();
        if (!spec_.clauses.name.empty()) return {};
        // Of a state it says that there is none.
        empty_name_ = {offset, text_.position() - offset};
        spec_.clauses.name.push_back({false, {}, offset});
        return {};
    }

    Status parse_counter() { return set_meaning(HitMeaning::counter); }

    Status parse_state() {
        TR_TRY(parse_line());
        return set_meaning(HitMeaning::state);
    }

    Status parse_track() {
        TR_TRY(parse_line());
        const ProbeText before = text_;
        text_.skip_spaces();
        if (text_.take_word().text == "of") {
            text_.skip_spaces();
            const auto whose = text_.take_word();
            if (whose.text != "process") {
                return text_.error_at(whose, "expected of process",
                                      "without it the line is one of the thread");
            }
            spec_.clauses.is_line_of_process = true;
        } else {
            text_ = before;
        }
        spec_.clauses.track_place = place_to_here();
        return {};
    }

    Status parse_unless() {
        const auto word = text_.take_word();
        if (word.text != "ring") {
            return text_.error_at(word, "expected unless ring", "for conditions: if !(CONDITION)");
        }
        spec_.clauses.yields_to_ring = true;
        spec_.clauses.ring_place = place_to_here();
        return {};
    }

    Status parse_line() {
        const size_t offset = text_.position();
        TR_ASSIGN(auto line, parse_template(text_));
        if (line.empty()) {
            return fail_at(text_.text(), offset, text_.position() - offset, "a line without a name",
                           "for example track \"garbage collection\"");
        }
        // A second one is refused by the checks that follow.
        spec_.clauses.line = std::move(line);
        return {};
    }

    Status parse_names() {
        const auto word = text_.take_word();
        if (word.text == "thread") return set_meaning(HitMeaning::thread_name);
        if (word.text == "process") return set_meaning(HitMeaning::process_name);
        return text_.error_at(word, "expected names thread or names process",
                              "the running thread, or its process, gets the name that `as` or the "
                              "first text argument says");
    }

    // PROVIDER:NAME
    Status parse_raise() {
        const auto word = text_.take_until(" \t");
        const size_t colon = word.text.find(':');
        const bool is_pair = colon != std::string::npos && colon != 0 &&
                             colon + 1 != word.text.size() &&
                             word.text.find(':', colon + 1) == std::string::npos;
        if (!is_pair || has_wildcard(word.text)) {
            return text_.error_at(word, "expected PROVIDER:NAME of one USDT probe",
                                  "for example raise python:line");
        }
        spec_.clauses.raise_provider = word.text.substr(0, colon);
        spec_.clauses.raise_name = word.text.substr(colon + 1);
        spec_.clauses.raise_place = place_to_here();
        return {};
    }

    Status parse_runtime() {
        struct Role {
            std::string_view word;
            model::PointRole role;
        };
        using enum model::PointRole;
        constexpr std::array<Role, 7> kRoles{{{"run", run},
                                              {"gc", gc},
                                              {"create", create},
                                              {"wakeup", wakeup},
                                              {"label", label},
                                              {"message", message},
                                              {"marker", marker}}};
        const auto word = text_.take_word();
        const auto known = std::ranges::find(kRoles, word.text, &Role::word);
        if (known == kRoles.end()) {
            return text_.error_at(word, "expected what a runtime's event is",
                                  "run, gc, create, wakeup, label, message or marker");
        }
        spec_.clauses.role = known->role;
        spec_.clauses.role_place = place_to_here();
        return {};
    }

    [[nodiscard]] ClausePlace place_to_here() const {
        return {clause_offset_, text_.position() - clause_offset_};
    }

    Status set_meaning(HitMeaning meaning) {
        const ClausePlace place = place_to_here();
        if (spec_.clauses.meaning != HitMeaning::event) {
            return fail_clause(spec_, place, "a hit is one of counter, state and names",
                               "give each an -e of its own");
        }
        spec_.clauses.meaning = meaning;
        spec_.clauses.meaning_place = place;
        return {};
    }

    // What concerns several clauses, or the probe as well.
    [[nodiscard]] Status check() const {
        const auto& clauses = spec_.clauses;
        const bool is_event = clauses.meaning == HitMeaning::event;
        if (empty_name_.length != 0 && clauses.meaning != HitMeaning::state) {
            return fail_clause(spec_, empty_name_, "an empty name");
        }
        if (spec_.kind == ProbeKind::span && !is_event) {
            return fail_clause(spec_, clauses.meaning_place, "a span: probe is a span",
                               "take u: for what happens at the function's entry, ur: for its "
                               "return");
        }
        if (clauses.track_place.length != 0 && !is_event) {
            return fail_clause(spec_, clauses.track_place, "track is for events and spans",
                               clauses.meaning == HitMeaning::state
                                   ? "state has named the line"
                                   : "counters and names have no line");
        }
        if (clauses.is_line_of_process && spec_.kind == ProbeKind::span) {
            return fail_clause(spec_, clauses.track_place,
                               "a function's span is on its thread or on a line beside it",
                               "a pair of probes can be on a line of the process");
        }
        const bool may_yield = is_event || clauses.meaning == HitMeaning::counter;
        if (clauses.yields_to_ring && (spec_.kind == ProbeKind::span || !may_yield)) {
            return fail_clause(spec_, clauses.ring_place,
                               "unless ring is for events, counters, and pairs by thread");
        }
        if (clauses.raise_place.length != 0 && spec_.kind == ProbeKind::tracepoint) {
            return fail_clause(spec_, clauses.raise_place, "a tracepoint lies in no file",
                               "raise is for probes of the file that has the semaphore");
        }
        if (clauses.role != model::PointRole::none && !is_event) {
            return fail_clause(spec_, clauses.role_place, "only an event is one of a runtime's");
        }
        if (clauses.meaning == HitMeaning::counter) return check_counter();
        return {};
    }

    [[nodiscard]] Status check_counter() const {
        if (spec_.has_args && spec_.args.empty()) {
            return fail_clause(spec_, spec_.clauses.meaning_place, "a counter without a number",
                               "name its series: (free=arg0, used=arg1)");
        }
        for (const auto& arg : spec_.args) {
            if (arg.type != ArgType::string) continue;
            const bool is_named =
                std::ranges::any_of(spec_.clauses.name, [&](const TemplatePiece& piece) {
                    return piece.is_label && piece.text == arg.label;
                });
            if (is_named) continue;
            return fail_at(spec_.text, arg.text_offset, arg.operand.size(),
                           "a counter's series are numbers; this is text",
                           fmt::format("it may be part of the name: as \"... {{{}}}\"", arg.label));
        }
        return {};
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
    std::array<bool, kClauseCount> seen_{};
    size_t clause_offset_ = 0;  // of the clause that is being read
    ClausePlace empty_name_;
};

const std::array<ClausesParser::Clause, ClausesParser::kClauseCount> ClausesParser::kClauses{{
    {"if", &ClausesParser::parse_if},
    {"sample", &ClausesParser::parse_sample},
    {"rate", &ClausesParser::parse_rate},
    {"as", &ClausesParser::parse_as},
    {"counter", &ClausesParser::parse_counter},
    {"state", &ClausesParser::parse_state},
    {"track", &ClausesParser::parse_track},
    {"names", &ClausesParser::parse_names},
    {"raise", &ClausesParser::parse_raise},
    {"runtime", &ClausesParser::parse_runtime},
    {"unless", &ClausesParser::parse_unless},
}};

}  // namespace

tl::unexpected<Error> fail_clause(const ProbeSpec& spec,
                                  const ClausePlace& place,
                                  std::string_view message,
                                  std::string hint) {
    return fail_at(spec.text, place.offset, place.length, message, std::move(hint));
}

Status parse_clauses(ProbeText& text, ProbeSpec& spec) {
    return ClausesParser(text, spec).run();
}

}  // namespace tracer
