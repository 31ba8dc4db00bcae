// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracer {

// Columns that a terminal takes for a text, which is UTF-8 without control characters
// (human_text.h: printable): two for a wide character, none for one that is put over another.
[[nodiscard]] size_t display_width(std::string_view text);

// As much of it as fits into so many columns; an ellipsis says that there was more.
[[nodiscard]] std::string cut_to_width(std::string_view text, size_t columns);

}  // namespace tracer
