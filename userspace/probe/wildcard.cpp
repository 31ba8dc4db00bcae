// SPDX-License-Identifier: Apache-2.0
//
// Matching of names against patterns of '*' and '?'. Called by the probe compiler and `list`.
#include "probe/wildcard.h"

namespace tracer {

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

}  // namespace tracer
