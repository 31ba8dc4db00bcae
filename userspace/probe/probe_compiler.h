// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/attach_plan.h"
#include "probe/probe_spec.h"
#include "probe/target_files.h"
#include "symbol/debug_file.h"
#include "symbol/tracefs.h"
#include "tracer/base/result.h"

#include <span>

namespace tracer {

struct CompileOptions {
    // Where tracepoints are looked up; null: none can be named. Borrowed for the call.
    const TracepointCatalog* tracepoints = nullptr;
    // A probe on a lone 5-byte nop is turned by Linux 6.18 into a call that kills children forked
    // after the first hit and overwrites the red zone: refused unless the kernel was found sound.
    bool allow_nop5 = false;
    DebugFileSearch debug_files;
    size_t programs_max = 65536;  // the room of the kernel side's table
};

// Resolves probes to places and programs. Every spec must resolve to at least one.
[[nodiscard]] Result<AttachPlan> compile_probes(std::span<const ProbeSpec> specs,
                                                const TargetFiles& files,
                                                const CompileOptions& options);

}  // namespace tracer
