// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer::test {

struct Utf8Character {
    uint32_t code_point = 0;
    size_t bytes = 0;
};

// The character that `text` begins with; nothing: it is empty or does not begin with valid UTF-8
// (no overlong forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] std::optional<Utf8Character> first_utf8_character(std::string_view text);

[[nodiscard]] bool is_valid_utf8(std::string_view text);

void append_utf8(std::string& out, uint32_t code_point);

}  // namespace tracer::test
