// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_spec.h"
#include "probe/probe_text.h"
#include "tracer/base/result.h"

namespace tracer {

// Reads from the '(' to the ')' of a probe's text into spec.args. The spec's kind is set.
[[nodiscard]] Status parse_arguments(ProbeText& text, ProbeSpec& spec);

// Reads one operand with its type, as a condition has it. Its label is its own text.
[[nodiscard]] Result<ArgSpec> parse_typed_operand(ProbeText& text, ProbeSpec& spec);

}  // namespace tracer
