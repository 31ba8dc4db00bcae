// SPDX-License-Identifier: Apache-2.0
//
// The parser of names that are made of an event's values, and of lines of such names. Called by
// probe_clauses.cpp; bounded by the text.
#include "probe/probe_template.h"

#include <string>
#include <utility>

namespace tracer {

namespace {

// A name is shown in one line; longer templates are a slip.
constexpr size_t kTemplatePiecesMax = 32;

class TemplateParser {
public:
    explicit TemplateParser(ProbeText& text) : text_(text) {}

    Result<std::vector<TemplatePiece>> run() {
        const size_t begin = text_.position();
        TR_ASSIGN(const auto whole, text_.take_quoted());
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
        if (pieces_.size() > kTemplatePiecesMax) {
            return text_.error_at(whole, "a name of too many parts");
        }
        return std::move(pieces_);
    }

private:
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
        pieces_.push_back(std::move(label));
        at = close;
        return {};
    }

    void add_piece(TemplatePiece& literal) {
        if (!literal.text.empty()) pieces_.push_back(std::move(literal));
        literal = {};
    }

    ProbeText& text_;
    std::vector<TemplatePiece> pieces_;
};

}  // namespace

Result<std::vector<TemplatePiece>> parse_template(ProbeText& text) {
    return TemplateParser(text).run();
}

}  // namespace tracer
