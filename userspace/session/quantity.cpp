// SPDX-License-Identifier: Apache-2.0
//
// Times and sizes as people write them. Each error repeats the text and shows what would do. Used
// by the command line and by what is asked of a recording.
#include "session/quantity.h"

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

Result<BufferRequest> parse_buffer(std::string_view text) {
    constexpr std::string_view kPerCpu = "/cpu";
    BufferRequest request;
    request.per_cpu = text.ends_with(kPerCpu);
    if (request.per_cpu) text.remove_suffix(kPerCpu.size());
    TR_ASSIGN(request.bytes, parse_size(text));
    return request;
}

}  // namespace tracer
