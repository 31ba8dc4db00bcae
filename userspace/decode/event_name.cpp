// SPDX-License-Identifier: Apache-2.0
//
// Rendering of names. Relies on write/text.h for UTF-8 and on fmt for numbers. Called by the
// decoder for hits of probes with a name of their own only; allocates until `out` has grown.
#include "decode/event_name.h"

#include "write/text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kEllipsis = "\u2026";

void append_value(std::string& out, const model::Value& value) {
    const auto end = std::back_inserter(out);
    switch (value.type) {
        case model::ValueType::none:
            out += '?';
            return;
        case model::ValueType::s32:
        case model::ValueType::s64:
            fmt::format_to(end, "{}", static_cast<int64_t>(value.bits));
            return;
        case model::ValueType::u32:
        case model::ValueType::u64:
            fmt::format_to(end, "{}", value.bits);
            return;
        case model::ValueType::f64:
            fmt::format_to(end, "{}", value.real);
            return;
        case model::ValueType::boolean:
            out += value.bits != 0 ? "true" : "false";
            return;
        case model::ValueType::pointer:
            fmt::format_to(end, "{:#x}", value.bits);
            return;
        case model::ValueType::string:
            append_as_utf8(out, value.is_cut ? without_partial_tail(value.text) : value.text);
            if (value.is_cut) out += kEllipsis;
            return;
    }
}

}  // namespace

void render_name(const std::vector<NamePiece>& pieces,
                 std::span<const model::Value> values,
                 std::string& out) {
    out.clear();
    for (const NamePiece& piece : pieces) {
        // Each piece is bounded by its record, so that this bounds the whole.
        if (out.size() > model::kEventNameBytesMax) break;
        if (piece.slot == NamePiece::kText) {
            append_as_utf8(out, piece.text);
        } else if (piece.slot < values.size()) {
            append_value(out, values[piece.slot]);
        } else {
            out += '?';
        }
    }
    if (out.size() > model::kEventNameBytesMax) {
        out.resize(utf8_prefix(out, model::kEventNameBytesMax - kEllipsis.size()).size());
        out += kEllipsis;
    }
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
}

}  // namespace tracer
