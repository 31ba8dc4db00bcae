// SPDX-License-Identifier: Apache-2.0
//
// Values of options: times, sizes, ids. Each error repeats the text and shows what would do. Used
// by command_line.cpp.
#include "cli/units.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace tracer {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

// The number and the unit behind it; false: not a number, or a unit that is not in the table.
template <size_t N>
bool parse_with_unit(std::string_view text, const std::array<Unit, N>& units, double& out) {
    double number = 0;
    const auto [rest, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number) || number < 0) return false;
    const std::string_view name(rest, static_cast<size_t>(text.data() + text.size() - rest));
    for (const Unit& unit : units) {
        if (unit.name != name) continue;
        out = number * unit.factor;
        return true;
    }
    return false;
}

constexpr double kSecond = 1e9;
constexpr double kYear = 366 * 24 * 3600 * kSecond;
constexpr std::array<Unit, 6> kTimes{{{"", kSecond},
                                      {"us", 1e3},
                                      {"ms", 1e6},
                                      {"s", kSecond},
                                      {"m", 60 * kSecond},
                                      {"h", 3600 * kSecond}}};

constexpr double kKibi = 1024;
constexpr std::array<Unit, 14> kSizes{{{"", 1},
                                       {"B", 1},
                                       {"K", kKibi},
                                       {"k", kKibi},
                                       {"KiB", kKibi},
                                       {"M", kKibi* kKibi},
                                       {"m", kKibi* kKibi},
                                       {"MiB", kKibi* kKibi},
                                       {"G", kKibi* kKibi* kKibi},
                                       {"g", kKibi* kKibi* kKibi},
                                       {"GiB", kKibi* kKibi* kKibi},
                                       {"T", kKibi* kKibi* kKibi* kKibi},
                                       {"t", kKibi* kKibi* kKibi* kKibi},
                                       {"TiB", kKibi* kKibi* kKibi* kKibi}}};

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    double ns = 0;
    if (!parse_with_unit(text, kTimes, ns) || ns < 1 || ns > kYear) {
        return fail(ErrorCode::usage, fmt::format("\"{}\" is not a time", text),
                    "write 5s, 500ms, 2m or 1h");
    }
    return std::chrono::nanoseconds(static_cast<int64_t>(ns));
}

Result<uint64_t> parse_size(std::string_view text) {
    constexpr double kLimit = 1152921504606846976.0;  // 2^60
    double bytes = 0;
    if (!parse_with_unit(text, kSizes, bytes) || bytes < 1 || bytes >= kLimit) {
        return fail(ErrorCode::usage, fmt::format("\"{}\" is not a size", text),
                    "write bytes, or 64K, 16M, 1G (powers of 1024)");
    }
    return static_cast<uint64_t>(bytes);
}

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

Result<BufferRequest> parse_buffer(std::string_view text) {
    constexpr std::string_view kPerCpu = "/cpu";
    BufferRequest request;
    request.per_cpu = text.ends_with(kPerCpu);
    if (request.per_cpu) text.remove_suffix(kPerCpu.size());
    TR_ASSIGN(request.bytes, parse_size(text));
    return request;
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
