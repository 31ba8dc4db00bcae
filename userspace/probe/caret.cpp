// SPDX-License-Identifier: Apache-2.0
//
// Usage errors that point into a probe's text. Called by the parser and the compiler.
#include "probe/caret.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

// Columns a terminal will use: one for each UTF-8 sequence.
size_t columns(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

}  // namespace

tl::unexpected<Error> fail_at(std::string_view text,
                              size_t offset,
                              size_t length,
                              std::string_view message,
                              std::string hint) {
    std::string shown(text);
    // Tabs and control characters would move the carets away from their token.
    std::replace_if(
        shown.begin(), shown.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    offset = std::min(offset, text.size());
    length = std::min(length, text.size() - offset);
    const size_t indent = columns(text.substr(0, offset));
    const size_t width = std::max<size_t>(1, columns(text.substr(offset, length)));
    return fail(ErrorCode::usage,
                fmt::format("{}\n  {}\n  {:{}}{:^>{}}", message, shown, "", indent, "", width),
                std::move(hint));
}

}  // namespace tracer
