// SPDX-License-Identifier: Apache-2.0
//
// One line of a Chrome trace: an object whose members are appended in turn.
#pragma once

#include "tracer/model/event.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tracer::json {

class ObjectText {
public:
    explicit ObjectText(std::string& out) : out_(out) { out_ += '{'; }
    void text(std::string_view key, std::string_view value);
    void number(std::string_view key, int64_t value);
    void unsigned_number(std::string_view key, uint64_t value);
    // Of the trace event format: microseconds, here with all their digits.
    void time(std::string_view key, uint64_t time_ns);
    // Null where it could not be read; numbers that JSON has not (NaN) as texts; behind a text that
    // was cut the bytes that it had, or has at least (NAME_bytes, NAME_bytes_min).
    void value(const model::Argument& argument, const model::Value& value);
    // A value that is JSON already.
    void json(std::string_view key, std::string_view value);
    // Of another object, keys and all, at least one.
    void members(std::string_view text);
    // Members of an object within, until end().
    void begin(std::string_view key);
    void end();

private:
    void key(std::string_view name);
    void cut_text(const std::string& name, const model::Value& value);

    std::string& out_;
    bool is_first_ = true;
};

// With quotes; what is no UTF-8 becomes U+FFFD, and no control character stays one.
void append_quoted(std::string& out, std::string_view text);

}  // namespace tracer::json
