// SPDX-License-Identifier: Apache-2.0
//
// The parser of -e texts as a whole: cuts a text at "~~", "until" and "," where these stand outside
// of quotes and parentheses, hands the pieces to the parser of probes, and checks what concerns
// several of them. Called by the command line and by tests; bounded by the text.
#include "probe/event_spec.h"

#include "probe/caret.h"
#include "probe/probe_clauses.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kPairForm = "BEGIN [or BEGIN ...] ~~ END [until OTHER, ...]";

struct Piece {
    size_t offset = 0;
    size_t length = 0;
};

bool is_space(char c) {
    return c == ' ' || c == '\t';
}

Piece trimmed(std::string_view text, size_t from, size_t to) {
    while (from < to && is_space(text[from])) ++from;
    while (from < to && is_space(text[to - 1])) --to;
    return {from, to - from};
}

PairKey scope_of_label(std::string_view label) {
    if (label == "key") return PairKey::process;
    if (label == "shared_key") return PairKey::shared;
    return label == "frame_key" ? PairKey::frame : PairKey::none;
}

// Of the argument beside a key.
PairKey scope_of_second(std::string_view label) {
    if (label == "key2") return PairKey::process;
    return label == "shared_key2" ? PairKey::shared : PairKey::none;
}

// A cursor that steps over quotes and parentheses whole.
class TopLevel {
public:
    explicit TopLevel(std::string_view text) : text_(text) {}

    // Steps to the next character outside of both; false at the end.
    bool next() {
        while (++position_ < text_.size()) {
            const char c = text_[position_];
            if (in_quotes_) {
                if (c == '\\') ++position_;
                in_quotes_ = c != '"';
            } else if (c == '"') {
                in_quotes_ = true;
            } else if (c == '(') {
                ++depth_;
            } else if (c == ')') {
                if (depth_ != 0) --depth_;
            } else if (depth_ == 0) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] size_t position() const { return position_; }
    [[nodiscard]] bool is_at(std::string_view token) const {
        return text_.substr(position_).starts_with(token);
    }
    [[nodiscard]] bool is_at_word(std::string_view word) const {
        const size_t end = position_ + word.size();
        return is_at(word) && (position_ == 0 || is_space(text_[position_ - 1])) &&
               (end == text_.size() || is_space(text_[end]));
    }
    void skip(size_t bytes) { position_ += bytes - 1; }

private:
    std::string_view text_;
    size_t position_ = SIZE_MAX;  // before the first
    size_t depth_ = 0;
    bool in_quotes_ = false;
};

class EventParser {
public:
    EventParser(std::string_view text, ProbeTextOrigin origin) : text_(text), origin_(origin) {}

    Result<EventSpec> run() {
        TR_TRY(cut());
        EventSpec event;
        event.text = std::string(text_);
        if (begin_count_ == 0) {
            if (pieces_.size() > 1)
                return error_at(1, "several begins, and no end", "BEGIN or BEGIN ~~ END");
            // As it is: a probe's errors point into all of it.
            TR_ASSIGN(event.begin, parse_probe_spec(text_, origin_));
            return event;
        }
        std::vector<ProbeSpec> specs;
        for (const Piece& piece : pieces_) {
            TR_ASSIGN(auto spec, parse_piece(piece));
            specs.push_back(std::move(spec));
        }
        event.begin = std::move(specs[0]);
        event.end = std::move(specs[begin_count_]);
        for (size_t i = 1; i < begin_count_; ++i) {
            event.other_begins.push_back(std::move(specs[i]));
        }
        for (size_t i = begin_count_ + 1; i < specs.size(); ++i) {
            event.until.push_back(std::move(specs[i]));
        }
        TR_TRY(check_wildcards(event));
        TR_TRY(check_keys(event));
        TR_TRY(check_clauses(event));
        TR_TRY(share_line(event));
        const bool yields_to_ring = event.begin.clauses.yields_to_ring;
        for (auto& begin : event.other_begins) begin.clauses.yields_to_ring = yields_to_ring;
        for (auto& until : event.until) until.clauses.yields_to_ring = yields_to_ring;
        event.end->clauses.yields_to_ring = yields_to_ring;
        return event;
    }

private:
    Status cut() {
        constexpr std::string_view kPair = "~~";
        constexpr std::string_view kUntil = "until";
        constexpr std::string_view kOr = "or";
        size_t begin = 0;
        bool has_until = false;
        TopLevel cursor(text_);
        const auto end_piece = [&](size_t token_bytes) {
            pieces_.push_back(trimmed(text_, begin, cursor.position()));
            begin = cursor.position() + token_bytes;
            cursor.skip(token_bytes);
        };
        while (cursor.next()) {
            if (cursor.is_at(kPair)) {
                if (begin_count_ != 0) {
                    return fail_at(text_, cursor.position(), kPair.size(),
                                   fmt::format("a second ~~; expected {}", kPairForm),
                                   "give each span an -e of its own");
                }
                end_piece(kPair.size());
                begin_count_ = pieces_.size();
            } else if (begin_count_ == 0 && cursor.is_at_word(kOr)) {
                end_piece(kOr.size());
            } else if (cursor.is_at_word(kUntil)) {
                if (begin_count_ == 0 || has_until) {
                    return fail_at(text_, cursor.position(), kUntil.size(),
                                   fmt::format("until ends a span; expected {}", kPairForm),
                                   "several that end it are parted by commas");
                }
                has_until = true;
                end_piece(kUntil.size());
            } else if (has_until && cursor.is_at(",")) {
                end_piece(1);
            }
        }
        pieces_.push_back(trimmed(text_, begin, text_.size()));
        return {};
    }

    [[nodiscard]] Result<ProbeSpec> parse_piece(const Piece& piece) const {
        if (piece.length == 0) {
            return fail_at(text_, piece.offset, 1,
                           fmt::format("expected a probe; the form is {}", kPairForm));
        }
        TR_ASSIGN(auto spec, parse_probe_spec(text_.substr(piece.offset, piece.length), origin_));
        if (spec.kind == ProbeKind::span) {
            return fail_at(text_, piece.offset, piece.length, "a span: probe is a span by itself",
                           "use u: for a function's entry, ur: for its return");
        }
        if (has_wildcard(spec.provider)) {
            return fail_at(text_, piece.offset, piece.length,
                           "a wildcard in the provider, where a span needs one",
                           "wildcards may stand in PATH and NAME");
        }
        // A wildcard here would be the star of a pointer or an operator as well.
        if (has_wildcard(spec.name) && spec.name.find('(') != std::string::npos) {
            return fail_at(text_, piece.offset, piece.length,
                           "a wildcard in a name with parameters; a span needs one function",
                           "name the function without its parameters");
        }
        return spec;
    }

    // Each of the begin's stands for something that the others take over.
    [[nodiscard]] Status check_wildcards(const EventSpec& event) const {
        const size_t count = count_wildcards(event.begin.name);
        const auto check = [&](const ProbeSpec& spec, size_t piece, bool may_have_none) -> Status {
            const size_t own = count_wildcards(spec.name);
            if (own == count || (own == 0 && may_have_none)) return {};
            return error_at(piece,
                            fmt::format("{} wildcard{} in its name, and {} in that of the begin",
                                        own, own == 1 ? "" : "s", count),
                            "each stands for what the begin's stood for: usdt:app:*__entry ~~ "
                            "usdt:app:*__return");
        };
        if (count != 0 && !event.other_begins.empty()) {
            return error_at(0, "a wildcard in one of several begins", "name each probe");
        }
        for (size_t i = 0; i < event.other_begins.size(); ++i) {
            TR_TRY(check(event.other_begins[i], i + 1, false));
        }
        TR_TRY(check(*event.end, begin_count_, false));
        for (size_t i = 0; i < event.until.size(); ++i) {
            TR_TRY(check(event.until[i], i + begin_count_ + 1, true));
        }
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> error_at(size_t piece,
                                                 std::string_view message,
                                                 std::string hint) const {
        return fail_at(text_, pieces_[piece].offset, pieces_[piece].length, message,
                       std::move(hint));
    }

    [[nodiscard]] Status check_keys(const EventSpec& event) const {
        const KeyArgument key = key_argument(event.begin);
        TR_TRY(check_key(event.begin, 0));
        for (size_t i = 0; i < event.other_begins.size(); ++i) {
            TR_TRY(check_other_begin(event.begin, event.other_begins[i], i + 1));
        }
        TR_TRY(check_key(*event.end, begin_count_));
        const KeyArgument other = key_argument(*event.end);
        if (other.scope == key.scope && other.second.has_value() != key.second.has_value()) {
            return error_at(key.second ? begin_count_ : 0, "a second key on the other side only",
                            "name the argument that holds it here too: key2=argN");
        }
        if (other.scope != key.scope) {
            const bool is_begin = key.scope == PairKey::none;
            const auto& with = is_begin ? *event.end : event.begin;
            const auto& arg = with.args[key_argument(with).index];
            if (key.scope != PairKey::none && other.scope != PairKey::none) {
                return error_at(begin_count_, "keys of two kinds",
                                "key matches within a process, shared_key among all, frame_key "
                                "within a thread");
            }
            return error_at(
                is_begin ? 0 : begin_count_, "a key on the other side only",
                fmt::format("name the argument that holds it here too: {}=argN", arg.label));
        }
        for (size_t i = 0; i < event.until.size(); ++i) {
            TR_TRY(check_until(event.until[i], key, i + begin_count_ + 1));
        }
        return {};
    }

    [[nodiscard]] Status check_other_begin(const ProbeSpec& begin,
                                           const ProbeSpec& other,
                                           size_t piece) const {
        const bool has_same_names =
            std::ranges::equal(begin.args, other.args, {}, &ArgSpec::label, &ArgSpec::label);
        if (has_same_names) return check_key(other, piece);
        return error_at(piece, "arguments of other names than the first begin's",
                        "the same names in the same order: u:app:f(n=arg0) or u:app:g(n=arg3)");
    }

    [[nodiscard]] Status check_key(const ProbeSpec& spec, size_t piece) const {
        size_t count = 0;
        for (const auto& arg : spec.args) {
            const PairKey scope = scope_of_label(arg.label);
            if (scope == PairKey::none) continue;
            ++count;
            if (arg.type == ArgType::f32 || arg.type == ArgType::f64) {
                return error_at(piece, "a key is an integer, a pointer or text", {});
            }
            if (arg.is_cxx_type) {
                return error_at(piece, "a key is matched as it is in memory, without /type", {});
            }
            if (scope == PairKey::frame && arg.type == ArgType::string) {
                return error_at(piece, "a frame_key is an integer or a pointer", {});
            }
        }
        if (count > 1) {
            return error_at(piece, "two of key, shared_key and frame_key; a span has one",
                            "a key of two values is key and key2");
        }
        return check_second_key(spec, piece);
    }

    [[nodiscard]] Status check_second_key(const ProbeSpec& spec, size_t piece) const {
        const PairKey scope = key_argument(spec).scope;
        for (const auto& arg : spec.args) {
            const PairKey own = scope_of_second(arg.label);
            if (own == PairKey::none) continue;
            if (own != scope) {
                return error_at(piece,
                                fmt::format("{} without the key that it belongs to", arg.label),
                                "key and key2, or shared_key and shared_key2");
            }
            const bool is_integer = arg.type != ArgType::f32 && arg.type != ArgType::f64 &&
                                    arg.type != ArgType::string && !arg.is_cxx_type;
            if (!is_integer) {
                return error_at(piece, fmt::format("{} is an integer or a pointer", arg.label), {});
            }
        }
        return {};
    }

    // A span is told by its begin.
    [[nodiscard]] Status check_clauses(const EventSpec& event) const {
        const auto& clauses = event.begin.clauses;
        if (clauses.meaning != HitMeaning::event) {
            return fail_clause(event.begin, clauses.meaning_place, "a span begins and ends here",
                               "give what else the hit is an -e of its own");
        }
        const PairKey scope = key_argument(event.begin).scope;
        if (!clauses.line.empty() && (scope == PairKey::process || scope == PairKey::shared)) {
            return fail_clause(event.begin, clauses.track_place,
                               "a span with a key has a track of its own",
                               "without a key it is matched by thread and can be on a line");
        }
        if (clauses.yields_to_ring && (scope == PairKey::process || scope == PairKey::shared)) {
            return fail_clause(event.begin, clauses.ring_place,
                               "unless ring is for events, counters, and pairs by thread");
        }
        for (const auto& begin : event.other_begins) TR_TRY(check_end_clauses(begin));
        TR_TRY(check_end_clauses(*event.end));
        for (const auto& until : event.until) TR_TRY(check_end_clauses(until));
        return {};
    }

    // On a line of the process an end is looked for on the line of that name.
    [[nodiscard]] Status share_line(EventSpec& event) const {
        const auto& clauses = event.begin.clauses;
        if (!clauses.is_line_of_process) return {};
        if (!event.until.empty()) {
            return error_at(begin_count_ + 1, "until ends spans of a thread, not of its process",
                            {});
        }
        for (const TemplatePiece& piece : clauses.line) {
            if (!piece.is_label) continue;
            const bool is_key = scope_of_label(piece.text) != PairKey::none;
            const bool is_there = std::ranges::find(event.end->args, piece.text, &ArgSpec::label) !=
                                  event.end->args.end();
            if (is_there && !is_key) continue;
            if (is_key) {
                return fail_clause(event.begin, clauses.track_place,
                                   "a key tells spans apart, and names no line of the process",
                                   "the argument may be named twice: frame_key=arg0, n=arg0");
            }
            return error_at(begin_count_,
                            fmt::format("the line's {{{}}} is no argument of the end", piece.text),
                            fmt::format("name it here as behind the begin: {}=...", piece.text));
        }
        event.end->clauses.line = clauses.line;
        event.end->clauses.is_line_of_process = true;
        return {};
    }

    [[nodiscard]] static Status check_end_clauses(const ProbeSpec& spec) {
        const auto& clauses = spec.clauses;
        const std::array places{clauses.name_place,  clauses.meaning_place, clauses.track_place,
                                clauses.raise_place, clauses.role_place,    clauses.ring_place};
        for (const ClausePlace& place : places) {
            if (place.length == 0) continue;
            return fail_clause(
                spec, place, "this belongs behind the span's begin",
                fmt::format("BEGIN {} ~~ END", spec.text.substr(place.offset, place.length)));
        }
        return {};
    }

    [[nodiscard]] Status check_until(const ProbeSpec& spec,
                                     const KeyArgument& key,
                                     size_t piece) const {
        TR_TRY(check_key(spec, piece));
        const KeyArgument own = key_argument(spec);
        if (own.scope != PairKey::none && own.scope != key.scope) {
            return error_at(piece, "a key that the begin does not have", {});
        }
        if (own.scope != PairKey::none && own.second.has_value() != key.second.has_value()) {
            return error_at(piece, "a key of as many values as the begin's", {});
        }
        const size_t count = own.scope == PairKey::none ? 0 : own.second ? 2 : 1;
        if (spec.args.size() == count) return {};
        return error_at(piece, "only the key is read where a span is ended by until",
                        "record it by an -e of its own to see its arguments");
    }

    std::string_view text_;
    ProbeTextOrigin origin_;
    std::vector<Piece> pieces_;  // begin ..., end, until ...
    size_t begin_count_ = 0;     // 0: no pair
};

}  // namespace

Result<EventSpec> parse_event_spec(std::string_view text, ProbeTextOrigin origin) {
    return EventParser(text, origin).run();
}

KeyArgument key_argument(const ProbeSpec& spec) {
    for (size_t i = 0; i < spec.args.size(); ++i) {
        const PairKey scope = scope_of_label(spec.args[i].label);
        if (scope == PairKey::none) continue;
        KeyArgument key{scope, i, std::nullopt};
        for (size_t other = 0; other < spec.args.size(); ++other) {
            if (scope_of_second(spec.args[other].label) == scope) key.second = other;
        }
        return key;
    }
    return {};
}

}  // namespace tracer
