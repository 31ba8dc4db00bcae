// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/attach_plan.h"
#include "probe/event_spec.h"
#include "probe/probe_spec.h"
#include "probe/target_files.h"
#include "symbol/debug_file.h"
#include "symbol/tracefs.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace tracer {

class ProbeFiles;

// A cgroup (v2) by its path, below the mount or absolute, or by its id in digits.
[[nodiscard]] Result<uint64_t> find_cgroup(std::string_view path_or_id);

// What becomes of a spec that no file has.
enum class MissingSpec : uint8_t {
    refuse,  // an error
    wait,    // put among the plan's waiting ones if a file may yet bring it; else an error
    // Put among the waiting ones, without names like it; other faults become warnings. For files
    // that nobody named: those that came late, and those of packs.
    ignore,
};

struct CompileOptions {
    // Where tracepoints are looked up; null: none can be named. Borrowed for the call.
    const TracepointCatalog* tracepoints = nullptr;
    // A probe on a lone 5-byte nop is turned by Linux 6.18 into a call that kills children forked
    // after the first hit and overwrites the red zone: refused unless the kernel was found sound.
    bool allow_nop5 = false;
    DebugFileSearch debug_files;
    size_t programs_max = 65536;  // the room of the kernel side's table
    MissingSpec missing = MissingSpec::refuse;
    // calls: of a function that may be called through its address too is refused, not warned of.
    bool are_calls_whole = false;
    // Files that were opened before, which this goes on with; null: none. Borrowed for the call.
    ProbeFiles* opened = nullptr;
    // Probes in libraries are met by other processes than those whose files are searched: with
    // more than one recorded, or any that may come, the kernel puts them into all that map it.
    bool are_libraries_shared = false;
    // All files of the processes that probes are put into, where they are put into no other one:
    // then it is known whose exceptions pass. Null: those searched, and what the line above says.
    const TargetFiles* process_files = nullptr;
    // cgroup == "..." and container == "..." to the id of a cgroup (v2). The second is the caller's
    // to give: which containers there are is not known here.
    std::function<Result<uint64_t>(std::string_view)> find_cgroup = tracer::find_cgroup;
    std::function<Result<uint64_t>(std::string_view)> find_container;
};

// Resolves events to places and programs. Every probe must resolve to at least one, unless
// `missing` says otherwise.
[[nodiscard]] Result<AttachPlan> compile_events(std::span<const EventSpec> events,
                                                const TargetFiles& files,
                                                const CompileOptions& options);
// The same of probes alone.
[[nodiscard]] Result<AttachPlan> compile_probes(std::span<const ProbeSpec> specs,
                                                const TargetFiles& files,
                                                const CompileOptions& options);

}  // namespace tracer
