// SPDX-License-Identifier: Apache-2.0
//
// The words of a request, and back. The line comes from another process: every byte of it is
// looked at, and what has no meaning is refused rather than guessed. Used by both ends.
#include "control/words.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace tracer {
namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::optional<unsigned> digit_of(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    return std::nullopt;
}

tl::unexpected<Error> refuse(const char* what) {
    return fail(ErrorCode::usage, what,
                R"(words are separated by spaces; one with others in it stands in "quotes")");
}

// The byte that the escape at the front of `rest`, behind its backslash, stands for; takes it.
std::optional<char> take_escape(std::string_view& rest) {
    if (rest.empty()) return std::nullopt;
    const char kind = rest.front();
    rest.remove_prefix(1);
    if (kind == '"' || kind == '\\') return kind;
    if (kind == 'n') return '\n';
    if (kind == 't') return '\t';
    if (kind != 'x' || rest.size() < 2) return std::nullopt;
    const auto high = digit_of(rest[0]);
    const auto low = digit_of(rest[1]);
    rest.remove_prefix(2);
    if (!high || !low || *high + *low == 0) return std::nullopt;
    return static_cast<char>(*high * 16 + *low);
}

// Behind the opening quote.
Result<std::string> take_quoted(std::string_view& rest) {
    std::string word;
    while (!rest.empty()) {
        const char c = rest.front();
        rest.remove_prefix(1);
        if (c == '"') {
            if (!rest.empty() && rest.front() != ' ') return refuse("something behind a quote");
            return word;
        }
        if (c != '\\') {
            word += c;
            continue;
        }
        const auto escaped = take_escape(rest);
        if (!escaped) return refuse("an unknown escape");
        word += *escaped;
    }
    return refuse("a quote without an end");
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
    if (line.size() >= kRequestBytesMax) return refuse("the line is too long");
    if (std::ranges::any_of(line, is_control)) return refuse("a control byte in the line");
    std::vector<std::string> words;
    while (true) {
        while (line.starts_with(' ')) line.remove_prefix(1);
        if (line.empty()) return words;
        if (line.front() == '"') {
            line.remove_prefix(1);
            TR_ASSIGN(std::string word, take_quoted(line));
            words.push_back(std::move(word));
            continue;
        }
        const std::string_view word = line.substr(0, line.find(' '));
        if (word.find_first_of("\"\\") != std::string_view::npos) {
            return refuse("a quote or a backslash within a word");
        }
        words.emplace_back(word);
        line.remove_prefix(word.size());
    }
}

std::string join_words(std::span<const std::string> words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        const bool is_plain = !word.empty() && std::ranges::none_of(word, [](char c) {
            return is_control(c) || c == ' ' || c == '"' || c == '\\';
        });
        if (is_plain) {
            line += word;
            continue;
        }
        line += '"';
        for (const char c : word) {
            if (c == '"' || c == '\\') line += '\\';
            if (is_control(c)) {
                fmt::format_to(std::back_inserter(line), "\\x{:02x}",
                               static_cast<unsigned char>(c));
            } else {
                line += c;
            }
        }
        line += '"';
    }
    return line;
}

}  // namespace tracer
