// SPDX-License-Identifier: Apache-2.0
//
// Names of GHC: [package_]Module_name_kind, each part z-encoded (GHC's compiler notes, "Symbol
// names"; GHC.Utils.Encoding). No letter of the encoding is left out here that its tables have.
// Called by demangle().
#include "symbol/demangle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

namespace tracer {

namespace {

struct Escape {
    char letter;
    char meaning;
};

constexpr std::array<Escape, 20> kSmall{{
    {'a', '&'}, {'b', '|'}, {'c', '^'}, {'d', '$'}, {'e', '='}, {'g', '>'},  {'h', '#'},
    {'i', '.'}, {'l', '<'}, {'m', '-'}, {'n', '!'}, {'p', '+'}, {'q', '\''}, {'r', '\\'},
    {'s', '/'}, {'t', '*'}, {'u', '_'}, {'v', '%'}, {'z', 'z'}, {'0', '\0'},
}};
constexpr std::array<Escape, 6> kLarge{{
    {'C', ':'},
    {'L', '('},
    {'M', '['},
    {'N', ']'},
    {'R', ')'},
    {'Z', 'Z'},
}};

template <size_t N>
std::optional<char> meaning_of(const std::array<Escape, N>& table, char letter) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const Escape& row) { return row.letter == letter; });
    if (found == table.end() || found->meaning == '\0') return std::nullopt;
    return found->meaning;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Lower-case only: GHC writes no other.
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

// nullopt: no character of Unicode.
std::optional<std::string> utf8_of(uint32_t code) {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code == 0) return std::nullopt;
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    if (code < 0x800) return std::string{static_cast<char>(0xc0 | (code >> 6)), tail(0)};
    if (code < 0x10000) {
        return std::string{static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
    }
    return std::string{static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

class ZDecoder {
public:
    explicit ZDecoder(std::string_view text) : text_(text) {}

    std::optional<std::string> run() {
        // Each turn takes at least a character.
        while (position_ < text_.size()) {
            const char c = text_[position_++];
            if (c != 'z' && c != 'Z') {
                out_ += c;
            } else if (position_ == text_.size() || !(c == 'z' ? take_small() : take_large())) {
                return std::nullopt;
            }
        }
        return std::move(out_);
    }

private:
    bool take_small() {
        if (is_digit(text_[position_])) return take_code();
        const auto meaning = meaning_of(kSmall, text_[position_++]);
        if (meaning) out_ += *meaning;
        return meaning.has_value();
    }

    bool take_large() {
        if (is_digit(text_[position_])) return take_tuple();
        const auto meaning = meaning_of(kLarge, text_[position_++]);
        if (meaning) out_ += *meaning;
        return meaning.has_value();
    }

    // "z221eU": a character by its hexadecimal code, which begins with a digit.
    bool take_code() {
        const auto begin = position_;
        while (position_ < text_.size() && is_hex_digit(text_[position_])) ++position_;
        uint32_t code = 0;
        const auto* end = text_.data() + position_;
        const auto result = std::from_chars(text_.data() + begin, end, code, 16);
        if (result.ec != std::errc{} || result.ptr != end) return false;
        if (position_ == text_.size() || text_[position_++] != 'U') return false;
        const auto character = utf8_of(code);
        if (character) out_ += *character;
        return character.has_value();
    }

    // "Z3T": (,,); "Z3H": (#,,#); with 0: () and with 1: (# #).
    bool take_tuple() {
        constexpr uint32_t kSizeMax = 64;  // GHC's limit of tuples
        uint32_t size = 0;
        const auto* end = text_.data() + text_.size();
        const auto result = std::from_chars(text_.data() + position_, end, size);
        if (result.ec != std::errc{} || result.ptr == end || size > kSizeMax) return false;
        position_ = static_cast<size_t>(result.ptr - text_.data());
        const char kind = text_[position_++];
        if (kind != 'T' && kind != 'H') return false;
        const bool is_boxed = kind == 'T';
        out_ += is_boxed ? "(" : "(#";
        if (size > 1) out_.append(size - 1, ',');
        if (size == 1 && !is_boxed) out_ += ' ';
        out_ += is_boxed ? ")" : "#)";
        return true;
    }

    std::string_view text_;
    size_t position_ = 0;
    std::string out_;
};

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find('_');
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool is_large_letter(char c) {
    return c >= 'A' && c <= 'Z';
}

// Takes the kind off the end: empty for a function's own code, which needs no mark.
std::optional<std::string> take_kind(std::vector<std::string_view>& parts) {
    const auto last = parts.back();
    parts.pop_back();
    if (last == "entry" || last == "slow" || last == "fast") {
        return last == "entry" ? std::string() : std::string(last);
    }
    if (last != "info") return std::nullopt;
    if (parts.empty()) return std::nullopt;
    const auto before = parts.back();
    if (before != "con" && before != "static" && before != "ret" && before != "sat") {
        return std::string();
    }
    parts.pop_back();
    return std::string(before);
}

}  // namespace

std::optional<DemangledName> demangle_haskell(std::string_view symbol,
                                              const DemangleContext& context) {
    auto parts = split(symbol);
    if (parts.size() < 3 || parts.size() > 6) return std::nullopt;
    const auto kind = take_kind(parts);
    if (!kind) return std::nullopt;
    // Behind the package, if there is one, the module: the first part with a large letter (that
    // of "ZCMain" is its ':').
    const bool has_package = !parts.empty() && !parts[0].empty() && !is_large_letter(parts[0][0]);
    if (has_package) parts.erase(parts.begin());
    if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
    const auto module = parts[0];
    if (module.empty() || !is_large_letter(module[0]) || parts[1].empty()) return std::nullopt;
    if (!context.is_haskell && module.find("zi") == std::string_view::npos) return std::nullopt;
    std::string name;
    for (const auto& part : parts) {
        auto text = ZDecoder(part).run();
        if (!text) return std::nullopt;
        // A third part is a local function's unique: it belongs to its name.
        if (!name.empty()) name += &part == &parts[1] ? '.' : '_';
        name += *text;
    }
    if (!kind->empty()) name += "{" + *kind + "}";
    return DemangledName{name, name};
}

}  // namespace tracer
