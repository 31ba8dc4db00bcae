// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <string>
#include <string_view>

namespace tracer {

// Versions of a runtime from one to another, both included. Versions are compared as numbers, part
// by part ("3.9" is before "3.11"); what stands behind a bound's last part does not count, so that
// 3.14.2 lies in "3.8-3.14", and a part that the version lacks is 0.
struct VersionRange {
    enum class Place { below, inside, above };

    std::string from;  // empty: open
    std::string to;    // empty: open

    // Of a version that is not known (empty, or no version): inside.
    [[nodiscard]] Place place_of(std::string_view version) const;
    [[nodiscard]] bool contains(std::string_view version) const {
        return place_of(version) == Place::inside;
    }
    // Whether there may be a version that both contain.
    [[nodiscard]] bool overlaps(const VersionRange& other) const;
    [[nodiscard]] bool is_open() const { return from.empty() && to.empty(); }

    // As parse_version_range takes it.
    [[nodiscard]] std::string text() const;

    bool operator==(const VersionRange&) const = default;
};

// Digits, and dots between them: "3.11". Each part fits 32 bits, and there are at most 8.
[[nodiscard]] bool is_version(std::string_view text);

// "3.8-3.14", "13-", "-3.11", or one version alone, which stands for "3.11-3.11". A usage error's
// `what` says what is wrong, without a caret.
[[nodiscard]] Result<VersionRange> parse_version_range(std::string_view text);

}  // namespace tracer
