// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 checking and repair for strings read from traced programs, which may hold any bytes.
// Relies on nothing but the bytes; used by every writer. The byte ranges are those of RFC 3629,
// section 4.
#include "write/text.h"

#include <cstdint>
#include <cstring>

namespace tracer {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr uint64_t kHighBits = 0x8080808080808080;

// Bytes that a character with this first byte has; 0: cannot be a first byte.
size_t length_by_lead(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    if (lead >= 0xF0 && lead <= 0xF4) return 4;
    return 0;
}

// The second byte's range depends on the first: no long forms, no surrogates, nothing past
// U+10FFFF.
bool second_fits(unsigned char lead, unsigned char second) {
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    return second >= low && second <= high;
}

// A character, or the longest beginning of one, at the front of `bytes` (not empty).
struct Piece {
    size_t bytes;
    bool is_whole;
};

Piece first_piece(std::string_view bytes) {
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const size_t length = length_by_lead(lead);
    if (length == 0) return {1, false};
    size_t good = 1;
    while (good < length && good < bytes.size()) {
        const auto next = static_cast<unsigned char>(bytes[good]);
        const bool fits = good == 1 ? second_fits(lead, next) : (next & 0xC0) == 0x80;
        if (!fits) break;
        good += 1;
    }
    return {good, good == length};
}

size_t leading_ascii(std::string_view bytes) {
    size_t position = 0;
    while (position + sizeof(uint64_t) <= bytes.size()) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + position, sizeof(word));
        if ((word & kHighBits) != 0) break;
        position += sizeof(word);
    }
    while (position < bytes.size() && static_cast<unsigned char>(bytes[position]) < 0x80) {
        position += 1;
    }
    return position;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
    bytes.remove_prefix(leading_ascii(bytes));
    while (!bytes.empty()) {
        const Piece piece = first_piece(bytes);
        if (!piece.is_whole) return false;
        bytes.remove_prefix(piece.bytes);
    }
    return true;
}

void append_as_utf8(std::string& out, std::string_view bytes) {
    while (!bytes.empty()) {
        const Piece piece = first_piece(bytes);
        out.append(piece.is_whole ? bytes.substr(0, piece.bytes) : kReplacement);
        bytes.remove_prefix(piece.bytes);
    }
}

Utf8Copy copy_as_utf8(std::span<std::byte> room, std::string_view bytes) {
    Utf8Copy copy;
    while (!bytes.empty()) {
        const Piece piece = first_piece(bytes);
        const std::string_view say = piece.is_whole ? bytes.substr(0, piece.bytes) : kReplacement;
        if (say.size() > room.size() - copy.written) {
            copy.is_whole = false;
            break;
        }
        std::memcpy(room.data() + copy.written, say.data(), say.size());
        copy.written += say.size();
        copy.is_repaired = copy.is_repaired || !piece.is_whole;
        bytes.remove_prefix(piece.bytes);
    }
    return copy;
}

std::string_view utf8_prefix(std::string_view text, size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    return without_partial_tail(text.substr(0, bytes_max));
}

std::string_view without_partial_tail(std::string_view text) {
    // A character has at most four bytes, so its first is among the last three if it is not whole.
    for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xC0) == 0x80) continue;
        return length_by_lead(byte) > back ? text.substr(0, text.size() - back) : text;
    }
    return text;
}

}  // namespace tracer
