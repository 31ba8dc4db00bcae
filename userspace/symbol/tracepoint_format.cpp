// SPDX-License-Identifier: Apache-2.0
//
// The kernel's description of a tracepoint's record, as f_show() of kernel/trace/trace_events.c
// writes it:
//
//   name: sched_switch
//   ID: 314
//   format:
//           field:char prev_comm[16];  offset:8;  size:16;  signed:0;
//
// Called by the probe compiler and by `tracer list`.
#include "symbol/tracepoint_format.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

// The perf buffer allows records of 8 KiB; an offset beyond is not a record's.
constexpr uint32_t kRecordBytesMax = 65536;

std::string_view trim(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<uint32_t> parse_u32(std::string_view text) {
    text = trim(text);
    uint32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The value of "key:value" in one of the ';'-separated parts.
std::optional<std::string_view> part_of(std::string_view line, std::string_view key) {
    while (!line.empty()) {
        const auto part = trim(line.substr(0, line.find(';')));
        if (part.starts_with(key)) return trim(part.substr(key.size()));
        const auto end = line.find(';');
        if (end == std::string_view::npos) break;
        line.remove_prefix(end + 1);
    }
    return std::nullopt;
}

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "char prev_comm[16]" -> type "char [16]", name "prev_comm".
bool split_declaration(std::string_view declaration, TracepointField& field) {
    std::string_view array;
    auto head = declaration;
    // "__data_loc char[] name" carries its brackets on the type, arrays on the name.
    if (head.ends_with(']')) {
        const auto open = head.rfind('[');
        if (open == std::string_view::npos) return false;
        array = head.substr(open);
        head = head.substr(0, open);
    }
    size_t begin = head.size();
    while (begin > 0 && is_name_char(head[begin - 1])) --begin;
    if (begin == head.size() || begin == 0) return false;
    field.name = std::string(head.substr(begin));
    field.type = std::string(trim(head.substr(0, begin)));
    if (!array.empty()) field.type += fmt::format(" {}", array);
    return !field.type.empty();
}

bool is_char_type(std::string_view type) {
    return type == "char" || type == "const char" || type == "unsigned char";
}

FieldForm form_of(const TracepointField& field) {
    std::string_view type = field.type;
    if (type.starts_with("__rel_loc")) return FieldForm::other;
    if (type.starts_with("__data_loc")) {
        const auto element = trim(type.substr(sizeof("__data_loc") - 1));
        const bool is_text = element == "char[]" || element == "const char[]";
        return is_text && field.bytes == 4 ? FieldForm::data_location : FieldForm::other;
    }
    if (type.ends_with(']')) {
        const auto element = trim(type.substr(0, type.rfind('[')));
        return is_char_type(element) && element != "unsigned char" && field.bytes > 0
                   ? FieldForm::char_array
                   : FieldForm::other;
    }
    const bool is_word =
        field.bytes == 1 || field.bytes == 2 || field.bytes == 4 || field.bytes == 8;
    if (!is_word || type.starts_with("struct ") || type.starts_with("union ")) {
        // "struct page *" is a pointer.
        return is_word && type.ends_with('*') && field.bytes == 8 ? FieldForm::pointer
                                                                  : FieldForm::other;
    }
    if (type.ends_with('*')) return field.bytes == 8 ? FieldForm::pointer : FieldForm::other;
    if (type == "bool" && field.bytes == 1) return FieldForm::boolean;
    return FieldForm::integer;
}

std::optional<TracepointField> parse_field(std::string_view line) {
    TracepointField field;
    auto declaration = part_of(line, "field:");
    // Older kernels wrote "field special:" for records of ftrace's own.
    if (!declaration) declaration = part_of(line, "field special:");
    auto offset = part_of(line, "offset:");
    auto size = part_of(line, "size:");
    if (!declaration || !offset || !size) return std::nullopt;
    auto offset_value = parse_u32(*offset);
    auto size_value = parse_u32(*size);
    if (!offset_value || !size_value) return std::nullopt;
    if (*offset_value > kRecordBytesMax || *size_value > kRecordBytesMax) return std::nullopt;
    if (!split_declaration(*declaration, field)) return std::nullopt;
    field.offset = *offset_value;
    field.bytes = *size_value;
    field.is_signed = part_of(line, "signed:").value_or("0") == "1";
    field.is_common = field.name.starts_with("common_");
    field.form = form_of(field);
    return field;
}

}  // namespace

Result<TracepointFormat> parse_tracepoint_format(std::string_view text) {
    TracepointFormat format;
    bool has_id = false;
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        line = trim(line);
        if (line.starts_with("print fmt:")) break;
        if (line.starts_with("name:")) format.name = std::string(trim(line.substr(5)));
        if (line.starts_with("ID:")) {
            auto id = parse_u32(line.substr(3));
            if (!id) return fail(ErrorCode::bad_input, "a tracepoint's format has no valid ID");
            format.id = *id;
            has_id = true;
        }
        if (!line.starts_with("field")) continue;
        auto field = parse_field(line);
        if (!field) {
            return fail(ErrorCode::bad_input,
                        fmt::format("a tracepoint's format has an unreadable field: {}", line));
        }
        format.fields.push_back(std::move(*field));
    }
    if (!has_id || format.name.empty()) {
        return fail(ErrorCode::bad_input, "a tracepoint's format has no name or no ID");
    }
    return format;
}

}  // namespace tracer
