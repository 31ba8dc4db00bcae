// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"
#include "packs/pack_start.h"
#include "session/selection.h"
#include "session/targets.h"
#include "tracer/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace tracer {

// The packs that there are: ours, those of the user's folder, and the files named.
[[nodiscard]] Result<PackCatalog> load_packs(const PackOptions& options);

// Ready for a recording; nullopt: without packs.
[[nodiscard]] Result<std::optional<PackPlanner>> make_pack_planner(const RecordCommand& command);

// What of the user's own packs is left out or replaces one of ours, a line each.
[[nodiscard]] std::vector<std::string> catalog_lines(const PackCatalog& catalog, bool verbose);

// What runs now of that which is to be recorded.
[[nodiscard]] PackStartRequest pack_start_request(const RecordCommand& command,
                                                  const Targets& targets,
                                                  const Selection& selection,
                                                  uint32_t own_pid);

}  // namespace tracer
