// SPDX-License-Identifier: Apache-2.0
//
// The times of --start-at. A time that the local clock jumps over, and a day that there is not, are
// refused: mktime(3) would take another for it. Called by live_options.cpp.
#include "cli/start_time.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace tracer {
namespace {

struct Shape {
    const char* format;  // of strptime(3)
    bool has_date;
};

// One that another begins with comes behind it.
constexpr std::array<Shape, 6> kShapes{{{"%Y-%m-%dT%H:%M:%S", true},
                                        {"%Y-%m-%dT%H:%M", true},
                                        {"%Y-%m-%d %H:%M:%S", true},
                                        {"%Y-%m-%d %H:%M", true},
                                        {"%H:%M:%S", false},
                                        {"%H:%M", false}}};

tm local(time_t time) {
    tm parts{};
    localtime_r(&time, &parts);
    return parts;
}

std::string text_of(time_t time) {
    const tm parts = local(time);
    std::array<char, 32> text{};
    const size_t bytes = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    return {text.data(), bytes};
}

// nullopt: there is no such time here.
std::optional<time_t> time_of(const tm& wanted) {
    tm parts = wanted;
    parts.tm_isdst = -1;
    const time_t time = std::mktime(&parts);
    const bool is_same = parts.tm_mday == wanted.tm_mday && parts.tm_mon == wanted.tm_mon &&
                         parts.tm_hour == wanted.tm_hour && parts.tm_min == wanted.tm_min &&
                         parts.tm_sec == wanted.tm_sec;
    if (!is_same) return std::nullopt;
    return time;
}

Error past(std::string_view text, time_t now, const std::string& hint) {
    return Error{.code = ErrorCode::usage,
                 .what = fmt::format("{} is past: it is {}", text, text_of(now)),
                 .hint = hint};
}

Result<time_t> in_future(std::string_view text, tm parts, bool has_date, time_t now) {
    const auto time = time_of(parts);
    if (!time) return fail(ErrorCode::usage, fmt::format("{}: there is no such time here", text));
    if (*time > now) return *time;
    if (has_date) return tl::unexpected(past(text, now, "--start-after 5s begins soon"));
    parts.tm_mday += 1;
    parts.tm_isdst = -1;
    const time_t next = std::mktime(&parts);
    return tl::unexpected(past(text, now, fmt::format("the next one: {}", text_of(next))));
}

}  // namespace

Result<time_t> parse_start_time(std::string_view text, time_t now) {
    const std::string whole(text);
    for (const Shape& shape : kShapes) {
        tm parts = local(now);
        parts.tm_sec = 0;
        const char* const end = strptime(whole.c_str(), shape.format, &parts);
        if (end == nullptr || *end != '\0' || std::strlen(whole.c_str()) != whole.size()) continue;
        return in_future(text, parts, shape.has_date, now);
    }
    return fail(ErrorCode::usage, fmt::format("\"{}\" is no time", text),
                "14:30, 14:30:05 or 2026-12-01T14:30, local time");
}

}  // namespace tracer
