// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/explain.h"

#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// As the grammar and the summary spell it.
[[nodiscard]] std::string_view value_type_name(model::ValueType type);

// How the kernel's read operations come to an argument's value: "rdi", "4 bytes at rip + 0x2e18",
// "text at rsi".
[[nodiscard]] std::string read_text(const tr_arg& arg);

// The arguments of one site, in the order they are shown.
[[nodiscard]] std::vector<ExplainedArgument> explain_arguments(const ProbeDefinition& definition,
                                                               const model::Point& point,
                                                               const tr_probe& program);

}  // namespace tracer
