// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 as RFC 3629 has it, for the reader of eventlogs and its texts: whether a text is valid
// decides whether ghc-events reads the event. The writers check what they write with code of their
// own.
#include "support/eventlog_utf8.h"

namespace tracer::test {
namespace {

// How a first byte says how many follow, and the smallest code point that needs that many.
struct Utf8Form {
    size_t bytes;
    uint32_t code_point_min;
    uint8_t mask;
    uint8_t pattern;
};

constexpr Utf8Form kForms[] = {
    {1, 0, 0x80, 0x00}, {2, 0x80, 0xE0, 0xC0}, {3, 0x800, 0xF0, 0xE0}, {4, 0x10000, 0xF8, 0xF0}};

bool is_scalar(uint32_t code_point) {
    return code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
}

}  // namespace

std::optional<Utf8Character> first_utf8_character(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto first = static_cast<uint8_t>(text[0]);
    for (const auto& form : kForms) {
        if ((first & form.mask) != form.pattern) continue;
        if (text.size() < form.bytes) return std::nullopt;
        uint32_t code_point = first & static_cast<uint8_t>(~form.mask);
        for (size_t i = 1; i < form.bytes; ++i) {
            const auto next = static_cast<uint8_t>(text[i]);
            if ((next & 0xC0) != 0x80) return std::nullopt;
            code_point = code_point << 6 | (next & 0x3F);
        }
        if (code_point < form.code_point_min || !is_scalar(code_point)) return std::nullopt;
        return Utf8Character{code_point, form.bytes};
    }
    return std::nullopt;
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto character = first_utf8_character(text);
        if (!character) return false;
        text.remove_prefix(character->bytes);
    }
    return true;
}

void append_utf8(std::string& out, uint32_t code_point) {
    const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code_point < 0x80) {
        put(code_point);
        return;
    }
    if (code_point < 0x800) {
        put(0xC0 | code_point >> 6);
    } else if (code_point < 0x10000) {
        put(0xE0 | code_point >> 12);
        put(0x80 | (code_point >> 6 & 0x3F));
    } else {
        put(0xF0 | code_point >> 18);
        put(0x80 | (code_point >> 12 & 0x3F));
        put(0x80 | (code_point >> 6 & 0x3F));
    }
    put(0x80 | (code_point & 0x3F));
}

}  // namespace tracer::test
