// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_argument.h"

namespace tracer {

// Turns an argument of a function, as the System V ABI places it, into one of Go's register ABI
// (Go 1.17 and later, cmd/compile/abi-internal.md): rax, rbx, rcx, rdi, rsi, r8, r9, r10, r11 for
// the first nine words, but for an argument of several words that would go beyond, which is on the
// stack. False, and the argument is missing: a further one, whose place depends on the types of
// those before it.
bool place_as_go_does(ProbeArgument& argument);

}  // namespace tracer
