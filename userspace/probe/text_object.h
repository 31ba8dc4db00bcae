// SPDX-License-Identifier: Apache-2.0
//
// Objects that hold a text, as languages' libraries lay them out: std::string and string_view,
// Rust's String and &str. Arguments by name that end at one are read as that text.
#pragma once

#include "probe/probe_spec.h"
#include "symbol/dwarf_function.h"

namespace tracer {

// Where `arg` (arg:NAME.member...) is such an object, a reference to one, or, with the type str, a
// pointer to one: goes on to the members that hold the text's address and its length. What is
// something else, or has a type, a format or a walk of the user's, stays as it is.
void expand_text_object(const FunctionArguments& function, ArgSpec& arg);

// The same for a comparison, which needs a text that a NUL ends: std::string's does. Others stay.
void expand_compared_text(const FunctionArguments& function, ArgSpec& arg);

}  // namespace tracer
