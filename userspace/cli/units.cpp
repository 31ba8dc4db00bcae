// SPDX-License-Identifier: Apache-2.0
//
// Values of options beside those of session/quantity.h: ids, two in one. Each error repeats the
// text and shows what would do. Used by command_line.cpp.
#include "cli/units.h"

#include <charconv>

#include <fmt/format.h>

namespace tracer {
Result<SizeAndTime> parse_size_and_time(std::string_view text) {
    SizeAndTime result;
    for (std::string_view rest = text;;) {
        const size_t comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma);
        // Of the units that both have, "m" is minutes; without one it could be either.
        const bool has_unit = !part.empty() && (part.back() < '0' || part.back() > '9');
        const auto time = has_unit ? parse_duration(part) : parse_duration("");
        const auto size = has_unit ? parse_size(part) : parse_size("");
        const bool is_again = time ? result.time.count() != 0 : result.bytes != 0;
        if ((!time && !size) || is_again) {
            return fail(ErrorCode::usage,
                        fmt::format("\"{}\" is not a size, a time, or one of each", text),
                        "write 512M, 30s (m is minutes, M is megabytes), or 512M,30s");
        }
        if (time) {
            result.time = *time;
        } else {
            result.bytes = *size;
        }
        if (comma == std::string_view::npos) return result;
        rest.remove_prefix(comma + 1);
    }
}

Result<std::vector<uint32_t>> parse_ids(std::string_view text) {
    constexpr uint32_t kIdMax = 4'194'304;
    std::vector<uint32_t> ids;
    for (std::string_view rest = text;;) {
        const size_t comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma);
        uint32_t id = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), id);
        if (error != std::errc() || end != part.data() + part.size() || id == 0 || id > kIdMax) {
            return fail(ErrorCode::usage,
                        fmt::format("\"{}\" is not the id of a process or thread", part),
                        "write --pid 1234, or --pid 1234,1240; `pgrep -f NAME` finds ids");
        }
        ids.push_back(id);
        if (comma == std::string_view::npos) return ids;
        rest.remove_prefix(comma + 1);
    }
}

Result<NamespacedId> parse_namespaced_id(std::string_view text) {
    const size_t at = text.find('@');
    if (at != std::string_view::npos) {
        const auto ids = parse_ids(text.substr(0, at));
        const auto members = parse_ids(text.substr(at + 1));
        if (ids && members && ids->size() == 1 && members->size() == 1) {
            return NamespacedId{ids->front(), members->front()};
        }
    }
    return fail(ErrorCode::usage,
                fmt::format("\"{}\" is no id in another process's namespace", text),
                "write --pid 7@1234: the process that calls itself 7 where process 1234 lives");
}

}  // namespace tracer
