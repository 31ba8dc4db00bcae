// SPDX-License-Identifier: Apache-2.0
//
// The parser of -e texts as a whole: cuts a text at "~~", "until" and "," where these stand outside
// of quotes and parentheses, hands the pieces to the parser of probes, and checks what concerns
// several of them. Called by the command line and by tests; bounded by the text.
#include "probe/event_spec.h"

#include "probe/caret.h"
#include "probe/wildcard.h"

#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kPairForm = "BEGIN ~~ END [until OTHER, ...]";

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
    explicit EventParser(std::string_view text) : text_(text) {}

    Result<EventSpec> run() {
        TR_TRY(cut());
        EventSpec event;
        event.text = std::string(text_);
        if (pieces_.size() == 1) {
            // As it is: a probe's errors point into all of it.
            TR_ASSIGN(event.begin, parse_probe_spec(text_));
            return event;
        }
        std::vector<ProbeSpec> specs;
        for (const Piece& piece : pieces_) {
            TR_ASSIGN(auto spec, parse_piece(piece));
            specs.push_back(std::move(spec));
        }
        event.begin = std::move(specs[0]);
        event.end = std::move(specs[1]);
        for (size_t i = 2; i < specs.size(); ++i) event.until.push_back(std::move(specs[i]));
        TR_TRY(check_keys(event));
        return event;
    }

private:
    Status cut() {
        constexpr std::string_view kPair = "~~";
        constexpr std::string_view kUntil = "until";
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
                if (!pieces_.empty()) {
                    return fail_at(text_, cursor.position(), kPair.size(),
                                   fmt::format("a second ~~; expected {}", kPairForm),
                                   "give each span an -e of its own");
                }
                end_piece(kPair.size());
            } else if (cursor.is_at_word(kUntil)) {
                if (pieces_.empty() || has_until) {
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
        TR_ASSIGN(auto spec, parse_probe_spec(text_.substr(piece.offset, piece.length)));
        if (spec.kind == ProbeKind::span) {
            return fail_at(text_, piece.offset, piece.length, "a span: probe is a span by itself",
                           "use u: for a function's entry, ur: for its return");
        }
        if (has_wildcard(spec.name) || has_wildcard(spec.provider)) {
            return fail_at(text_, piece.offset, piece.length,
                           "a wildcard in a name; a span begins and ends at one probe each",
                           "wildcards may stand in PATH alone");
        }
        return spec;
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
        TR_TRY(check_key(*event.end, 1));
        if (const KeyArgument other = key_argument(*event.end); other.scope != key.scope) {
            const bool is_begin = key.scope == PairKey::none;
            const auto& with = is_begin ? *event.end : event.begin;
            const auto& arg = with.args[key_argument(with).index];
            if (key.scope != PairKey::none && other.scope != PairKey::none) {
                return error_at(1, "key on one side, shared_key on the other",
                                "both match by value; shared_key among all processes");
            }
            return error_at(
                is_begin ? 0 : 1, "a key on the other side only",
                fmt::format("name the argument that holds it here too: {}=argN", arg.label));
        }
        for (size_t i = 0; i < event.until.size(); ++i) {
            TR_TRY(check_until(event.until[i], key, i + 2));
        }
        return {};
    }

    [[nodiscard]] Status check_key(const ProbeSpec& spec, size_t piece) const {
        size_t count = 0;
        for (const auto& arg : spec.args) {
            if (arg.label != "key" && arg.label != "shared_key") continue;
            ++count;
            if (arg.type == ArgType::f32 || arg.type == ArgType::f64) {
                return error_at(piece, "a key is an integer, a pointer or text", {});
            }
        }
        if (count > 1) return error_at(piece, "key and shared_key; a span has one", {});
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
        const size_t count = own.scope == PairKey::none ? 0 : 1;
        if (spec.args.size() == count) return {};
        return error_at(piece, "only the key is read where a span is ended by until",
                        "record it by an -e of its own to see its arguments");
    }

    std::string_view text_;
    std::vector<Piece> pieces_;  // begin, end, until ...
};

}  // namespace

Result<EventSpec> parse_event_spec(std::string_view text) {
    return EventParser(text).run();
}

KeyArgument key_argument(const ProbeSpec& spec) {
    for (size_t i = 0; i < spec.args.size(); ++i) {
        if (spec.args[i].label == "key") return {PairKey::process, i};
        if (spec.args[i].label == "shared_key") return {PairKey::shared, i};
    }
    return {};
}

}  // namespace tracer
