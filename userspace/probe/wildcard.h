// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tracer {

// '*' stands for any run of characters, '?' for exactly one; everything else for itself. Takes at
// most pattern times text steps.
[[nodiscard]] bool wildcard_matches(std::string_view pattern, std::string_view text);

[[nodiscard]] bool has_wildcard(std::string_view pattern);

}  // namespace tracer
