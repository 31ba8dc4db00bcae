// SPDX-License-Identifier: Apache-2.0
//
// The model as text, for messages. Appends to strings that their owner keeps, so that a writer
// allocates only until they have grown.
#pragma once

#include "tracer/model/definition.h"
#include "tracer/model/event.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::eventlog {

// A number, true or false, 0x of a pointer, a quoted string (after it "..." if it is cut, with its
// true length where that is known), or ? for what could not be read. In strings, quotes,
// backslashes and control characters have a backslash, and what is not UTF-8 is U+FFFD.
void append_value(std::string& out, const model::Value& value);
void append_quoted(std::string& out, std::string_view text);

// " name=value" for each, or what the value is called; as many values as arguments.
void append_arguments(std::string& out,
                      const std::vector<model::Argument>& arguments,
                      std::span<const model::Value> values);

}  // namespace tracer::eventlog
