// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_spec.h"
#include "probe/probe_text.h"
#include "tracer/base/result.h"

#include <string_view>
#include <vector>

namespace tracer {

// Reads a condition, grammar in probe_spec.h, up to whatever does not belong to it. The spec's kind
// and arguments are set.
[[nodiscard]] Result<std::vector<ConditionTerm>> parse_condition(ProbeText& text, ProbeSpec& spec);

// As the grammar spells it.
[[nodiscard]] std::string_view operator_name(ConditionOperator compare);

}  // namespace tracer
