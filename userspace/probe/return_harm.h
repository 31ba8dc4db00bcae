// SPDX-License-Identifier: Apache-2.0
//
// Functions that a return probe breaks. It replaces the return address on the stack at the
// function's first instruction.
#pragma once

#include <string_view>

namespace tracer {

// Why, as what follows "at" for a place; empty: by its name, the function bears a return probe.
[[nodiscard]] std::string_view harm_of_return_probe(std::string_view symbol);

// Whether nothing may leave this function of the C library but by its return: who calls it relies
// on that, because its header says so (__THROW and __THROWNL in glibc).
[[nodiscard]] bool is_never_unwound(std::string_view symbol);

}  // namespace tracer
