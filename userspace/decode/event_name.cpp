// SPDX-License-Identifier: Apache-2.0
//
// Rendering of names. Relies on write/text.h for UTF-8 and on write/value_text.h for numbers.
// Called by the decoder for hits of probes with a name of their own only; allocates until `out` has
// grown.
#include "decode/event_name.h"

#include "write/text.h"
#include "write/value_text.h"

#include <algorithm>

namespace tracer {

namespace {

constexpr std::string_view kEllipsis = "\u2026";

void append_value(std::string& out, const model::Value& value, const model::Argument& argument) {
    if (value.type == model::ValueType::string) {
        append_as_utf8(out, value.is_cut ? without_partial_tail(value.text) : value.text);
        if (value.is_cut) out += kEllipsis;
        return;
    }
    const std::string* name = nullptr;
    if (model::has_names(value.type)) name = argument.name_of(value.bits);
    if (name != nullptr) {
        append_as_utf8(out, *name);
    } else {
        append_number(out, value);
    }
}

}  // namespace

void render_name(const std::vector<NamePiece>& pieces,
                 std::span<const model::Argument> arguments,
                 std::span<const model::Value> values,
                 std::string& out) {
    out.clear();
    for (const NamePiece& piece : pieces) {
        // Each piece is bounded by its record, so that this bounds the whole.
        if (out.size() > model::kEventNameBytesMax) break;
        if (piece.slot == NamePiece::kText) {
            append_as_utf8(out, piece.text);
        } else if (piece.slot < values.size() && piece.slot < arguments.size()) {
            append_value(out, values[piece.slot], arguments[piece.slot]);
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
