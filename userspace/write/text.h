// SPDX-License-Identifier: Apache-2.0
//
// Making bytes that came from a traced program into text that every reader takes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tracer {

// Whole, shortest-form UTF-8 without surrogates (RFC 3629).
[[nodiscard]] bool is_utf8(std::string_view bytes);

// Appends `bytes` with U+FFFD in the place of each part that is not UTF-8.
void append_as_utf8(std::string& out, std::string_view bytes);

// What copy_as_utf8 made of a text.
struct Utf8Copy {
    size_t written = 0;        // bytes of `room`
    bool is_whole = true;      // nothing was left out at the end
    bool is_repaired = false;  // U+FFFD stands for something
};
// As append_as_utf8, into memory that is there: as many whole characters as `room` holds.
[[nodiscard]] Utf8Copy copy_as_utf8(std::span<std::byte> room, std::string_view bytes);

// The longest prefix of `text` of at most `bytes_max` bytes that does not end inside a character.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, size_t bytes_max);

// `text` without the beginning of a character at its end, as a cut at a fixed length leaves it.
[[nodiscard]] std::string_view without_partial_tail(std::string_view text);

}  // namespace tracer
