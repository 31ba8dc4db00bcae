// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <string>
#include <string_view>

namespace tracer {

// The path of the debug file of a build-id in debuginfod's cache, fetched from the servers of
// DEBUGINFOD_URLS if it is not there. By the program debuginfod-find, which is given at most a
// minute a file. missing_feature when it is not installed, not_found when no server has the file.
[[nodiscard]] Result<std::string> fetch_from_debuginfod(std::string_view build_id);

}  // namespace tracer
