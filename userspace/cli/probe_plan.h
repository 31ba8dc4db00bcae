// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"
#include "probe/attach_plan.h"
#include "probe/probe_spec.h"
#include "session/targets.h"
#include "tracer/base/result.h"

#include <string>
#include <vector>

namespace tracer {

// The -e texts, read; the first malformed one is the error.
[[nodiscard]] Result<std::vector<ProbeSpec>> parse_probes(const std::vector<std::string>& texts);

// Looks the probes up in what is to be recorded: the targets' files, those of the program to be
// started, or (-a) those of every process.
[[nodiscard]] Result<AttachPlan> plan_probes(const std::vector<ProbeSpec>& specs,
                                             const RecordCommand& command,
                                             const Targets& targets);

}  // namespace tracer
