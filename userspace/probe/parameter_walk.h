// SPDX-License-Identifier: Apache-2.0
//
// What debug information adds to a function's arguments: where a parameter lies (arg:NAME), how to
// get to its members, and the types of what the user gave none.
#pragma once

#include "probe/probe_spec.h"
#include "symbol/dwarf_function.h"
#include "tracer/abi/probe.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>

namespace tracer {

// Where a parameter's walk begins.
struct ParameterStart {
    tr_arg arg{};  // its operations
    uint8_t bytes = 8;
    bool is_signed = false;
    std::optional<tr_op> bits;  // behind the walk: the value is a bit field
};

// May a member of a value of this type be written so: "->" behind a pointer, "." behind a
// structure; behind a reference both.
[[nodiscard]] bool reaches_members(const DwarfType& type, const ArgMember& member);

// Of an argument arg:NAME->member... of this function: the place, and in `arg` the walk, the type
// and the names of values that come of it. What the user gave stays. Errors point into spec.text.
[[nodiscard]] Result<ParameterStart> walk_parameter(const ProbeSpec& spec,
                                                    const FunctionArguments& function,
                                                    ArgSpec& arg);

// The type of argN or ret, where the user gave none and debug information tells of it; else `arg`
// stays as it is.
void take_known_type(const FunctionArguments& function, ArgSpec& arg);

}  // namespace tracer
