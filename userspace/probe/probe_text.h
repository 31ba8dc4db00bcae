// SPDX-License-Identifier: Apache-2.0
//
// A cursor over a probe's text, for the parsers of its parts.
#pragma once

#include "probe/caret.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tracer {

struct ProbeToken {
    std::string text;
    size_t offset = 0;  // in the probe's text
    size_t length = 0;
    bool is_quoted = false;
    std::string suffix;  // what stands between the closing quote and the part's end
};

// Borrows the text.
class ProbeText {
public:
    explicit ProbeText(std::string_view text) : text_(text) {}

    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] size_t position() const { return position_; }
    [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
    // Whether the next character is this one.
    [[nodiscard]] bool is_at(char c) const { return !at_end() && text_[position_] == c; }

    void skip_spaces();
    // Steps over the next character if it is this one.
    bool accept(char c);
    // The same of all of a sign of several characters.
    bool accept(std::string_view sign);
    // Everything up to one of `ends` or the text's end; may be empty.
    ProbeToken take_until(std::string_view ends);
    // A word of arguments and clauses: up to a space or a character of the grammar; may be empty.
    ProbeToken take_word() { return take_until(" \t=:,()\"<>!&|~"); }
    // From an opening quote to its closing one, in which \" and \\ stand for " and \.
    Result<ProbeToken> take_quoted();

    // Usage errors that point at a token, or at what comes next.
    [[nodiscard]] tl::unexpected<Error> error_at(const ProbeToken& token,
                                                 std::string_view message,
                                                 std::string hint = {}) const {
        return fail_at(text_, token.offset, token.length, message, std::move(hint));
    }
    [[nodiscard]] tl::unexpected<Error> error_here(std::string_view message,
                                                   std::string hint = {}) const {
        return fail_at(text_, position_, 1, message, std::move(hint));
    }

private:
    std::string_view text_;
    size_t position_ = 0;
};

}  // namespace tracer
