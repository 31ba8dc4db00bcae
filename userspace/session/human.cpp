// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them, for the status line and the summary.
#include "session/human.h"

#include <array>

#include <fmt/format.h>

namespace tracer {

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

void put_text(FILE* stream, std::string_view text) {
    const std::string shown = printable(text, false);
    static_cast<void>(std::fwrite(shown.data(), 1, shown.size(), stream));
}

}  // namespace tracer
