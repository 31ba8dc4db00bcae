// SPDX-License-Identifier: Apache-2.0
//
// Values in messages. Relies on write/value_text.h for numbers and on write/text.h for UTF-8.
// Called by the eventlog writer.
#include "write/eventlog/writer_text.h"

#include "write/text.h"
#include "write/value_text.h"

#include <iterator>

#include <fmt/format.h>

namespace tracer::eventlog {

namespace {

void append_cut_mark(std::string& out, const model::Value& value) {
    out += "...";
    if (value.bits == 0) return;
    fmt::format_to(std::back_inserter(out), "({}{} bytes)", value.is_longer ? "at least " : "",
                   value.bits);
}

}  // namespace

void append_value(std::string& out, const model::Value& value) {
    if (value.type != model::ValueType::string) {
        append_number(out, value);
        return;
    }
    append_quoted(out, value.is_cut ? without_partial_tail(value.text) : value.text);
    if (value.is_cut) append_cut_mark(out, value);
}

void append_quoted(std::string& out, std::string_view text) {
    const auto is_plain = [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '"' && c != '\\';
    };
    out += '"';
    while (!text.empty()) {
        size_t plain = 0;
        while (plain < text.size() && is_plain(text[plain])) ++plain;
        append_as_utf8(out, text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        const char special = text.front();
        text.remove_prefix(1);
        if (special == '"' || special == '\\') {
            out += '\\';
            out += special;
        } else if (special == '\n') {
            out += "\\n";
        } else if (special == '\t') {
            out += "\\t";
        } else {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                           static_cast<unsigned>(static_cast<unsigned char>(special)));
        }
    }
    out += '"';
}

void append_arguments(std::string& out,
                      const std::vector<model::Argument>& arguments,
                      std::span<const model::Value> values) {
    for (size_t i = 0; i < arguments.size() && i < values.size(); ++i) {
        out += ' ';
        out += arguments[i].name;
        out += '=';
        const std::string* name = nullptr;
        if (model::has_names(values[i].type)) name = arguments[i].name_of(values[i].bits);
        if (name != nullptr) {
            append_as_utf8(out, *name);
        } else {
            append_value(out, values[i]);
        }
    }
}

}  // namespace tracer::eventlog
