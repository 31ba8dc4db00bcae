// SPDX-License-Identifier: Apache-2.0
//
// Numbers, times and names as people read them. Used by the writer of lines, and by what the
// session and the command line print.
#include "write/human_text.h"

#include <array>
#include <ctime>

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

std::string human_duration(uint64_t ns) {
    struct Unit {
        double ns;
        const char* name;
    };
    constexpr std::array<Unit, 3> kUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
    for (const Unit& unit : kUnits) {
        const double value = static_cast<double>(ns) / unit.ns;
        if (value < 1) continue;
        if (value >= 100) return fmt::format("{:.0f} {}", value, unit.name);
        return fmt::format("{:.3g} {}", value, unit.name);
    }
    return fmt::format("{} ns", ns);
}

std::string utc_text(uint64_t realtime_ns) {
    constexpr uint64_t kSecondNs = 1'000'000'000;
    const auto seconds = static_cast<time_t>(realtime_ns / kSecondNs);
    tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", utc.tm_year + 1900,
                       utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                       realtime_ns % kSecondNs);
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

}  // namespace tracer
