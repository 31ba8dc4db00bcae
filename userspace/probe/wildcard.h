// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// '*' stands for any run of characters, '?' for exactly one; everything else for itself. Takes at
// most pattern times text steps.
[[nodiscard]] bool wildcard_matches(std::string_view pattern, std::string_view text);

[[nodiscard]] bool has_wildcard(std::string_view pattern);
[[nodiscard]] size_t count_wildcards(std::string_view pattern);

// What each wildcard stands for in `text`, in order, where several ways would do each '*' for as
// little as it can; nullopt: the text does not match.
[[nodiscard]] std::optional<std::vector<std::string>> wildcard_captures(std::string_view pattern,
                                                                        std::string_view text);

// The pattern with these instead of its wildcards, of which there are as many.
[[nodiscard]] std::string fill_wildcards(std::string_view pattern,
                                         const std::vector<std::string>& captures);

}  // namespace tracer
