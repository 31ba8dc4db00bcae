// SPDX-License-Identifier: Apache-2.0
//
// The steps that the parsers of a probe's text have in common. Called by probe_spec.cpp and
// probe_arguments.cpp; bounded by the text.
#include "probe/probe_text.h"

#include <algorithm>

namespace tracer {

void ProbeText::skip_spaces() {
    while (is_at(' ') || is_at('\t')) ++position_;
}

bool ProbeText::accept(char c) {
    if (!is_at(c)) return false;
    ++position_;
    return true;
}

bool ProbeText::accept(std::string_view sign) {
    if (!text_.substr(std::min(position_, text_.size())).starts_with(sign)) return false;
    position_ += sign.size();
    return true;
}

ProbeToken ProbeText::take_until(std::string_view ends) {
    ProbeToken token;
    token.offset = position_;
    position_ = std::min(text_.find_first_of(ends, position_), text_.size());
    token.length = position_ - token.offset;
    token.text = std::string(text_.substr(token.offset, token.length));
    return token;
}

Result<ProbeToken> ProbeText::take_quoted() {
    ProbeToken token;
    token.offset = position_;
    token.is_quoted = true;
    if (!accept('"')) return error_here("expected a double quote");
    while (!at_end() && !is_at('"')) {
        if (is_at('\\') && position_ + 1 < text_.size()) ++position_;
        token.text += text_[position_++];
    }
    if (!accept('"')) return fail_at(text_, token.offset, 1, "a quote without an end");
    token.length = position_ - token.offset;
    return token;
}

}  // namespace tracer
