// SPDX-License-Identifier: Apache-2.0
//
// Functions that a return probe breaks. It replaces the return address on the stack at the
// function's first instruction.
#pragma once

#include <string_view>

namespace tracer {

// Why, as what follows "at" for a place; empty: by its name, the function bears a return probe.
[[nodiscard]] std::string_view harm_of_return_probe(std::string_view symbol);

}  // namespace tracer
