// SPDX-License-Identifier: Apache-2.0
//
// Values as JSON (RFC 8259). Integers beyond 2^53 stay numbers: readers that take all numbers for
// doubles round them, those with integers do not. Used by json_writer.cpp.
#include "write/json/json_text.h"

#include "write/text.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace tracer::json {

void append_quoted(std::string& out, std::string_view text) {
    std::string clean;
    append_as_utf8(clean, text);
    out += '"';
    for (size_t i = 0; i < clean.size(); ++i) {
        const char c = clean[i];
        const auto byte = static_cast<unsigned char>(c);
        const auto next = static_cast<unsigned char>(i + 1 < clean.size() ? clean[i + 1] : 0);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
        } else if (byte == 0xc2 && next < 0xa0) {
            // Its second half, which a terminal takes for a command (human_text.h: printable).
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", next);
            ++i;
        } else {
            out += c;
        }
    }
    out += '"';
}

void ObjectText::key(std::string_view name) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    append_quoted(out_, name);
    out_ += ':';
}

void ObjectText::text(std::string_view name, std::string_view value) {
    key(name);
    append_quoted(out_, value);
}

void ObjectText::number(std::string_view name, int64_t value) {
    key(name);
    out_ += std::to_string(value);
}

void ObjectText::unsigned_number(std::string_view name, uint64_t value) {
    key(name);
    out_ += std::to_string(value);
}

void ObjectText::time(std::string_view name, uint64_t time_ns) {
    key(name);
    fmt::format_to(std::back_inserter(out_), "{}.{:03}", time_ns / 1000, time_ns % 1000);
}

void ObjectText::json(std::string_view name, std::string_view value) {
    key(name);
    out_ += value;
}

void ObjectText::members(std::string_view text) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    out_ += text;
}

void ObjectText::begin(std::string_view name) {
    key(name);
    out_ += '{';
    is_first_ = true;
}

void ObjectText::end() {
    out_ += '}';
    is_first_ = false;
}

void ObjectText::value(const model::Argument& argument, const model::Value& value) {
    using model::ValueType;
    const std::string* const name =
        model::has_names(value.type) ? argument.name_of(value.bits) : nullptr;
    if (name != nullptr) return text(argument.name, *name);
    switch (value.type) {
        case ValueType::none:
            key(argument.name);
            out_ += "null";
            return;
        case ValueType::s32:
        case ValueType::s64:
            return number(argument.name, static_cast<int64_t>(value.bits));
        case ValueType::u32:
        case ValueType::u64:
            return unsigned_number(argument.name, value.bits);
        case ValueType::f64:
            if (!std::isfinite(value.real)) {
                return text(argument.name, fmt::format("{}", value.real));
            }
            key(argument.name);
            fmt::format_to(std::back_inserter(out_), "{}", value.real);
            return;
        case ValueType::boolean:
            key(argument.name);
            out_ += value.bits != 0 ? "true" : "false";
            return;
        case ValueType::pointer:
            return text(argument.name, fmt::format("{:#x}", value.bits));
        case ValueType::string:
            return value.is_cut ? cut_text(argument.name, value) : text(argument.name, value.text);
    }
}

void ObjectText::cut_text(const std::string& name, const model::Value& value) {
    text(name, std::string(without_partial_tail(value.text)) + "\u2026");
    const bool is_known = value.bits != 0;
    unsigned_number(name + (is_known && !value.is_longer ? "_bytes" : "_bytes_min"),
                    is_known ? value.bits : value.text.size());
}

}  // namespace tracer::json
