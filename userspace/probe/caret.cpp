// SPDX-License-Identifier: Apache-2.0
//
// Usage errors that point into a probe's text. Called by the parser and the compiler; and back to
// places, by the reader of packs, where that text is a part of a file.
#include "probe/caret.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kIndent = "  ";

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Columns a terminal will use: one for each UTF-8 sequence.
size_t columns(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

// Tabs and control characters would move the carets away from their token.
std::string without_controls(std::string_view text) {
    std::string shown(text);
    std::replace_if(
        shown.begin(), shown.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return shown;
}

// Bytes of the first `count` columns.
size_t bytes_of_columns(std::string_view text, size_t count) {
    size_t at = 0;
    for (; at < text.size(); ++at) {
        if (!begins_character(text[at])) continue;
        if (count == 0) break;
        --count;
    }
    return at;
}

}  // namespace

tl::unexpected<Error> fail_at(std::string_view text,
                              size_t offset,
                              size_t length,
                              std::string_view message,
                              std::string hint) {
    offset = std::min(offset, text.size());
    length = std::min(length, text.size() - offset);
    const size_t indent = columns(text.substr(0, offset));
    const size_t width = std::max<size_t>(1, columns(text.substr(offset, length)));
    return fail(ErrorCode::usage,
                fmt::format("{}\n{}{}\n{}{:{}}{:^>{}}", message, kIndent, without_controls(text),
                            kIndent, "", indent, "", width),
                std::move(hint));
}

std::optional<CaretPlace> find_caret(const Error& error, std::string_view text) {
    std::string_view rest = error.what;
    const size_t carets_at = rest.rfind('\n');
    if (carets_at == rest.npos) return std::nullopt;
    std::string_view carets = rest.substr(carets_at + 1);
    rest = rest.substr(0, carets_at);
    const size_t shown_at = rest.rfind('\n');
    if (shown_at == rest.npos) return std::nullopt;
    std::string_view shown = rest.substr(shown_at + 1);
    if (!shown.starts_with(kIndent) || !carets.starts_with(kIndent)) return std::nullopt;
    shown.remove_prefix(kIndent.size());
    carets.remove_prefix(kIndent.size());
    const size_t indent = carets.find('^');
    // Of equal parts the first is meant: parsers stop at the first fault.
    const size_t part = without_controls(text).find(shown);
    if (indent == carets.npos || part == text.npos) return std::nullopt;
    const size_t offset = bytes_of_columns(shown, indent);
    const size_t length = bytes_of_columns(shown.substr(offset), carets.size() - indent);
    return CaretPlace{std::string(rest.substr(0, shown_at)), part + offset, length};
}

}  // namespace tracer
