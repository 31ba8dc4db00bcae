// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// A request is one line; with its end no longer than this.
inline constexpr size_t kRequestBytesMax = 4096;

// The words of a line without its end: separated by spaces, or "in quotes" with \" \\ \n \t and
// \xHH. Anything else (control bytes, a quote without an end) is a usage error.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view line);

// A line that split_words() makes these words of; a word must not hold a zero byte.
[[nodiscard]] std::string join_words(std::span<const std::string> words);

}  // namespace tracer
