// SPDX-License-Identifier: Apache-2.0
//
// Widths of characters, as the C library knows them: in a locale of its own, since what the user
// has set may be no UTF-8. Used where columns are drawn.
#include "write/text_width.h"

#include <clocale>
#include <cwchar>
#include <locale.h>

namespace tracer {
namespace {

// Of the calling thread, until it is left.
class Utf8Locale {
public:
    // Null where the system has no such locale: then characters are bytes.
    Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
        if (locale_ != nullptr) before_ = uselocale(locale_);
    }
    ~Utf8Locale() {
        if (locale_ == nullptr) return;
        uselocale(before_);
        freelocale(locale_);
    }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;

private:
    locale_t locale_;
    locale_t before_ = nullptr;
};

struct Character {
    size_t bytes = 1;
    size_t columns = 1;
};

// At the front of a text that is not empty.
Character first_character(std::string_view text) {
    wchar_t wide = 0;
    std::mbstate_t state{};
    const size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
    if (bytes == 0 || bytes > text.size()) return {};
    const int columns = wcwidth(wide);
    // Not known to the library: most are one wide.
    return {bytes, columns < 0 ? 1 : static_cast<size_t>(columns)};
}

bool is_ascii(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    }
    return true;
}

}  // namespace

size_t display_width(std::string_view text) {
    if (is_ascii(text)) return text.size();
    const Utf8Locale locale;
    size_t columns = 0;
    while (!text.empty()) {
        const Character character = first_character(text);
        columns += character.columns;
        text.remove_prefix(character.bytes);
    }
    return columns;
}

std::string cut_to_width(std::string_view text, size_t columns) {
    if (display_width(text) <= columns) return std::string(text);
    if (columns == 0) return {};
    const Utf8Locale locale;
    size_t bytes = 0;
    size_t used = 0;
    while (bytes < text.size()) {
        const Character character = first_character(text.substr(bytes));
        if (used + character.columns > columns - 1) break;
        used += character.columns;
        bytes += character.bytes;
    }
    return std::string(text.substr(0, bytes)) + "\u2026";
}

}  // namespace tracer
