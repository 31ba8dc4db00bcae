// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"
#include "probe/attach_plan.h"
#include "probe/event_spec.h"
#include "probe/probe_compiler.h"
#include "probe/target_files.h"
#include "session/selection.h"
#include "session/targets.h"
#include "tracer/base/result.h"

#include <string>
#include <vector>

namespace tracer {

// The -e texts, read; the first malformed one is the error.
[[nodiscard]] Result<std::vector<EventSpec>> parse_probes(const std::vector<std::string>& texts);

struct PlannedProbes {
    AttachPlan plan;
    TargetFiles files;  // that were looked at
};

// The processes that are recorded, where these are all that there will be, and few: probes are put
// into them alone. Else empty.
[[nodiscard]] std::vector<uint32_t> only_processes(const RecordCommand& command,
                                                   const Targets& targets,
                                                   const Selection& selection);

// What the command says about compiling, for the start and for files that are run later alike. The
// containers that conditions name are looked up once.
[[nodiscard]] CompileOptions compile_options(const RecordCommand& command);

// Looks the probes up in `files`, and for tracepoints in tracefs, whatever `options` say of it.
[[nodiscard]] Result<AttachPlan> plan_probes_in(const std::vector<EventSpec>& events,
                                                const TargetFiles& files,
                                                CompileOptions options);

// Looks the probes up in what is to be recorded: the targets' files, those of the program to be
// started, or (-a) those of every process. `can_wait`: files that are run later will be looked at.
[[nodiscard]] Result<PlannedProbes> plan_probes(const std::vector<EventSpec>& events,
                                                const RecordCommand& command,
                                                const Targets& targets,
                                                const Selection& selection,
                                                bool can_wait);

// Whether files that are run later can have one of them.
[[nodiscard]] bool are_of_files(const std::vector<EventSpec>& events);

}  // namespace tracer
