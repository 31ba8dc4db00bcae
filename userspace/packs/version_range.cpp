// SPDX-License-Identifier: Apache-2.0
//
// Versions of runtimes: numbers between dots. Called by the reader of packs, and where a matched
// file's version is compared with what a pack was made for.
#include "packs/version_range.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kPartsMax = 8;

struct Version {
    std::array<uint32_t, kPartsMax> parts{};  // those that the text lacks are 0
    size_t count = 0;
};

std::optional<Version> parse_version(std::string_view text) {
    Version version;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (version.count < kPartsMax) {
        const auto [rest, error] = std::from_chars(at, end, version.parts[version.count]);
        if (error != std::errc{}) return std::nullopt;
        ++version.count;
        if (rest == end) return version;
        if (*rest != '.') return std::nullopt;
        at = rest + 1;
    }
    return std::nullopt;
}

// Less than, equal to or greater than 0, of the bound's own parts alone.
int compare_with(const Version& bound, const Version& version) {
    for (size_t i = 0; i < bound.count; ++i) {
        if (version.parts[i] != bound.parts[i]) return version.parts[i] < bound.parts[i] ? -1 : 1;
    }
    return 0;
}

bool ends_before(const VersionRange& range, const VersionRange& later) {
    const auto end = parse_version(range.to);
    const auto begin = parse_version(later.from);
    return end && begin && compare_with(*end, *begin) > 0;
}

}  // namespace

bool is_version(std::string_view text) {
    return parse_version(text).has_value();
}

VersionRange::Place VersionRange::place_of(std::string_view version) const {
    const auto asked = parse_version(version);
    if (!asked) return Place::inside;
    const auto low = parse_version(from);
    if (low && compare_with(*low, *asked) < 0) return Place::below;
    const auto high = parse_version(to);
    if (high && compare_with(*high, *asked) > 0) return Place::above;
    return Place::inside;
}

bool VersionRange::overlaps(const VersionRange& other) const {
    return !ends_before(*this, other) && !ends_before(other, *this);
}

std::string VersionRange::text() const {
    if (is_open()) return {};
    return from == to ? from : fmt::format("{}-{}", from, to);
}

Result<VersionRange> parse_version_range(std::string_view text) {
    VersionRange range;
    const size_t dash = text.find('-');
    range.from = std::string(text.substr(0, dash));
    range.to = dash == text.npos ? range.from : std::string(text.substr(dash + 1));
    const auto is_bound = [](const std::string& bound) {
        return bound.empty() || is_version(bound);
    };
    if (range.is_open() || !is_bound(range.from) || !is_bound(range.to)) {
        return fail(ErrorCode::usage, "expected versions, as in \"3.8-3.14\", \"13-\" or \"3.11\"");
    }
    const auto low = parse_version(range.from);
    const auto high = parse_version(range.to);
    // "3.8.2-3.8" is right: all of 3.8 from 3.8.2 on.
    if (low && high && compare_with(*high, *low) > 0) {
        return fail(ErrorCode::usage, "a range of versions that ends before it begins");
    }
    return range;
}

}  // namespace tracer
