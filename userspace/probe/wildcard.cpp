// SPDX-License-Identifier: Apache-2.0
//
// Matching of names against patterns of '*' and '?', and from one name to another of the same kind
// ("a__entry" to "a__return"). Called by the probe compiler and `list`.
#include "probe/wildcard.h"

#include "tracer/base/result.h"

#include <algorithm>

namespace tracer {
namespace {

bool is_wildcard(char c) {
    return c == '*' || c == '?';
}

}  // namespace

bool wildcard_matches(std::string_view pattern, std::string_view text) {
    size_t p = 0;
    size_t t = 0;
    // Where to go back to: the last '*' seen, and the text it has taken so far. Only the last one
    // needs to grow: whatever an earlier one could take, the later one can as well.
    size_t star = std::string_view::npos;
    size_t taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool has_wildcard(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

size_t count_wildcards(std::string_view pattern) {
    return static_cast<size_t>(std::ranges::count_if(pattern, is_wildcard));
}

std::optional<std::vector<std::string>> wildcard_captures(std::string_view pattern,
                                                          std::string_view text) {
    if (!wildcard_matches(pattern, text)) return std::nullopt;
    std::vector<std::string> captures;
    // What is left of the pattern matches what is left of the text.
    for (; !pattern.empty(); pattern.remove_prefix(1)) {
        size_t taken = 1;
        if (pattern.front() == '*') {
            taken = 0;
            while (!wildcard_matches(pattern.substr(1), text.substr(taken))) ++taken;
        }
        if (is_wildcard(pattern.front())) captures.emplace_back(text.substr(0, taken));
        text.remove_prefix(taken);
    }
    return captures;
}

std::string fill_wildcards(std::string_view pattern, const std::vector<std::string>& captures) {
    TR_CHECK(count_wildcards(pattern) == captures.size());
    std::string text;
    size_t used = 0;
    for (const char c : pattern) {
        if (is_wildcard(c)) {
            text += captures[used++];
        } else {
            text += c;
        }
    }
    return text;
}

}  // namespace tracer
