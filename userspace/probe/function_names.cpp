// SPDX-License-Identifier: Apache-2.0
//
// Names of functions against what users write. Demangles anew for each search (some 3 us a name)
// and keeps only what fits: the names of a large program are hundreds of MiB. What cannot fit by
// its words is not demangled. Called by the compiler of function probes and by `tracer list`.
#include "probe/function_names.h"

#include "probe/target_files.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <array>

namespace tracer {

namespace {

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Without the spaces that could be left out: "pair<int, vector<int> >" and
// "pair<int,vector<int>>" are the same.
std::string without_needless_spaces(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool separates =
            i > 0 && i + 1 < text.size() && is_word_char(text[i - 1]) && is_word_char(text[i + 1]);
        if (text[i] != ' ' || separates) out += text[i];
    }
    return out;
}

// What a mangled name must hold, each of it, if the pattern is to fit what it stands for: of
// "ns::Class::f" these are "2ns", "5Class" and "1f". Where a word of a name comes first it is
// spelled out, with its length before it, in C++ and in both schemes of Rust: substitutions and
// back references only lead to what came before. Ends before what is no plain word (a wildcard,
// "(anonymous namespace)", an operator); empty for "std", whose names have abbreviations.
std::vector<std::string> spelled_words_of(std::string_view pattern) {
    std::vector<std::string> words;
    while (true) {
        const auto end = std::find_if_not(pattern.begin(), pattern.end(), is_word_char);
        const auto word = pattern.substr(0, static_cast<size_t>(end - pattern.begin()));
        pattern.remove_prefix(word.size());
        const bool goes_on = pattern.starts_with("::");
        const bool is_whole = pattern.empty() || goes_on || pattern[0] == '(' || pattern[0] == '<';
        if (!is_whole || word.empty() || word.starts_with("operator")) return words;
        if (word == "std") return {};
        // Rust puts one more '_' between the length and such a word. A whole symbol is no name of
        // these.
        const bool is_symbol = word.starts_with("_Z") || word.starts_with("_R");
        if (word[0] != '_' || is_symbol) words.push_back(std::to_string(word.size()).append(word));
        if (!goes_on) return words;
        pattern.remove_prefix(2);
    }
}

bool holds_all(std::string_view symbol, const std::vector<std::string>& words) {
    return symbol.starts_with('_') && std::ranges::all_of(words, [&](const std::string& word) {
               return symbol.find(word) != std::string_view::npos;
           });
}

bool has_name(const NamedFunction& function, std::string_view name, std::string_view tight_name) {
    if (function.symbol->name == name) return true;
    if (!function.is_mangled()) return false;
    if (function.name.bare == name || function.name.full == name) return true;
    const bool has_spaces = function.name.full.find(' ') != std::string::npos;
    return (has_spaces || tight_name.size() != name.size()) &&
           (without_needless_spaces(function.name.full) == tight_name ||
            without_needless_spaces(function.name.bare) == tight_name);
}

}  // namespace

DemangleContext demangle_context(const ElfFile& file) {
    // Only programs have GHC's section; its libraries have a name of their own.
    return {.is_haskell = file.is_ghc() || base_name(file.name()).starts_with("libHS")};
}

NamedFunction name_function(const FunctionSymbol& symbol, const DemangleContext& context) {
    auto name = demangle(symbol.name, context);
    if (!name) return {&symbol, {symbol.name, symbol.name}};
    return {&symbol, std::move(*name)};
}

bool name_matches(std::string_view pattern, const NamedFunction& function) {
    if (wildcard_matches(pattern, function.symbol->name)) return true;
    return function.is_mangled() && (wildcard_matches(pattern, function.name.bare) ||
                                     wildcard_matches(pattern, function.name.full));
}

std::vector<NamedFunction> find_functions(const SymbolTable& symbols,
                                          const DemangleContext& context,
                                          std::string_view pattern) {
    const bool is_pattern = has_wildcard(pattern);
    const auto tight_pattern = without_needless_spaces(pattern);
    const auto words = spelled_words_of(pattern);
    std::vector<NamedFunction> exact;
    std::vector<NamedFunction> alike;
    for (const auto& symbol : symbols.functions()) {
        const bool may_fit =
            words.empty() || symbol.name == pattern || holds_all(symbol.name, words);
        if (!may_fit) continue;
        auto function = name_function(symbol, context);
        if (has_name(function, pattern, tight_pattern)) {
            exact.push_back(std::move(function));
        } else if (is_pattern && exact.empty() && name_matches(pattern, function)) {
            alike.push_back(std::move(function));
        }
    }
    return exact.empty() ? std::move(alike) : std::move(exact);
}

bool is_clone_of(std::string_view symbol, std::string_view name) {
    if (name.empty() || !symbol.starts_with(name)) return false;
    constexpr std::array<std::string_view, 6> kMarks = {".isra.", ".constprop.", ".part.",
                                                        ".cold",  ".lto_priv.",  ".llvm."};
    const auto rest = symbol.substr(name.size());
    return std::ranges::any_of(kMarks,
                               [&](std::string_view mark) { return rest.starts_with(mark); });
}

}  // namespace tracer
