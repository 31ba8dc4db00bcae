// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fxt_reader.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tracer::test {

// Holds the events of one provider against what the program logged of itself (hit_log.h): as many
// of each probe, with the same arguments in the same order, and no others.
void expect_hits(const FxtFile& file,
                 const std::string& provider,
                 const std::vector<nlohmann::json>& passed);

}  // namespace tracer::test
