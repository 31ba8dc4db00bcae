// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/summary.h"

#include <string>

namespace tracer {

struct SummaryTextOptions {
    bool verbose = false;    // all rows, rings, span repairs of 0, filtered runs
    bool is_written = true;  // false: nothing to open is promised
};

// Several lines for a person, each ended by a newline. What was lost comes first.
[[nodiscard]] std::string summary_text(const Summary& summary, const SummaryTextOptions& options);

// One line of JSON (README.md has its schema), ended by a newline.
[[nodiscard]] std::string summary_json(const Summary& summary);

}  // namespace tracer
