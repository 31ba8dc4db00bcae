// SPDX-License-Identifier: Apache-2.0
//
// Names of OCaml's native compiler: "caml", the unit, "__" (4.x, and inside units of both) or "."
// (5.1 and later), the function's name and a number that is unique in its unit; characters that
// assemblers refuse are "$" and two hexadecimal digits. Called by demangle().
#include "symbol/demangle.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tracer {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_large_letter(char c) {
    return c >= 'A' && c <= 'Z';
}

// "$5e" is '^'. nullopt: a '$' without two digits, or a character that is none.
std::optional<std::string> unescape(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            out += text[i];
            continue;
        }
        uint8_t code = 0;
        if (text.size() - i < 3) return std::nullopt;
        const auto* end = text.data() + i + 3;
        const auto result = std::from_chars(text.data() + i + 1, end, code, 16);
        if (result.ec != std::errc{} || result.ptr != end || code < 0x20 || code >= 0x7f) {
            return std::nullopt;
        }
        out += static_cast<char>(code);
        i += 2;
    }
    return out;
}

// Where the number at the end begins, with its '_'; npos: there is none.
size_t find_stamp(std::string_view name) {
    const auto bar = name.rfind('_');
    if (bar == std::string_view::npos || bar == 0 || bar + 1 == name.size()) {
        return std::string_view::npos;
    }
    for (char c : name.substr(bar + 1)) {
        if (!is_digit(c)) return std::string_view::npos;
    }
    return bar;
}

}  // namespace

std::optional<DemangledName> demangle_ocaml(std::string_view symbol) {
    constexpr std::string_view kPrefix = "caml";
    if (!symbol.starts_with(kPrefix)) return std::nullopt;
    auto rest = symbol.substr(kPrefix.size());
    // C functions of the runtime go on with '_'.
    if (rest.empty() || !is_large_letter(rest[0])) return std::nullopt;
    std::string path;
    // Units and modules begin with a large letter, or (dune's "exe") stand before one that does;
    // the first part that is neither is the name, in which further bars are its own. Each turn
    // takes a part.
    while (!rest.empty()) {
        const auto bars = rest.find("__");
        const auto end = std::min(bars, rest.find('.'));
        const bool is_large = is_large_letter(rest[0]);
        if (end == std::string_view::npos && is_large) return std::nullopt;
        if (end == std::string_view::npos) break;
        const auto next = rest.substr(end + (end == bars ? 2 : 1));
        if (!is_large && (next.empty() || !is_large_letter(next[0]))) break;
        path.append(rest.substr(0, end)).append(".");
        rest = next;
    }
    const auto stamp = find_stamp(rest);
    auto name = unescape(rest.substr(0, stamp));
    if (!name || name->empty()) return std::nullopt;
    DemangledName result;
    result.bare = path + *name;
    result.full = result.bare;
    if (stamp != std::string_view::npos) result.full += rest.substr(stamp);
    // Functions without a name are told apart by their number alone.
    if (*name == "fun") result.bare = result.full;
    return result;
}

}  // namespace tracer
