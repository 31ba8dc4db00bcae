// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_spec.h"
#include "probe/probe_text.h"
#include "tracer/base/result.h"

#include <vector>

namespace tracer {

// Reads a template in double quotes: \" and \\ as everywhere, {label} for an argument's value, {{
// and }} for braces. Of "" there are no pieces.
[[nodiscard]] Result<std::vector<TemplatePiece>> parse_template(ProbeText& text);

}  // namespace tracer
