// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them, for the status line and the summary.
#include "session/human.h"

#include <array>

#include <fmt/format.h>

namespace tracer {

std::string human_count(uint64_t count) {
    const std::string digits = std::to_string(count);
    std::string grouped;
    for (size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) grouped.push_back(',');
        grouped.push_back(digits[i]);
    }
    return grouped;
}

std::string human_bytes(uint64_t bytes) {
    constexpr std::array<const char*, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < kUnits.size()) {
        value /= 1024;
        unit += 1;
    }
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string size_option(uint64_t bytes) {
    constexpr std::array<char, 3> kUnits{'G', 'M', 'K'};
    for (size_t i = 0; i < kUnits.size(); ++i) {
        const uint64_t unit = 1ull << (10 * (kUnits.size() - i));
        if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, kUnits[i]);
    }
    return std::to_string(bytes);
}

std::string printable(std::string_view text, bool is_one_line) {
    std::string shown;
    shown.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool is_kept = byte == '\n' || byte == '\t';
        // Those that terminals take for commands: C0, and C1 as UTF-8 writes it (ECMA-48, 5).
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (byte < 0x20 && (is_one_line || !is_kept)) {
            shown += fmt::format("\\x{:02x}", byte);
        } else if (byte == 0x7f) {
            shown += "\\u007f";
        } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            shown += fmt::format("\\u00{:02x}", next);
            ++i;
        } else {
            shown.push_back(text[i]);
        }
    }
    return shown;
}

void put_text(FILE* stream, std::string_view text) {
    const std::string shown = printable(text, false);
    static_cast<void>(std::fwrite(shown.data(), 1, shown.size(), stream));
}

}  // namespace tracer
