// SPDX-License-Identifier: Apache-2.0
//
// What packs have for that which runs when a recording begins.
#pragma once

#include "packs/pack_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

struct PackStartRequest {
    std::vector<uint32_t> pids;
    bool are_all = false;         // probes are put into these processes alone
    bool are_rings_read = false;  // which they share
    // Of a program that is yet to be started: its own file first, then its libraries.
    std::vector<std::string> program_files;
    ProcessStart program_start;
};

struct PackStart {
    PackAddition found;
    SeenFiles seen;                // every file that was looked at
    size_t files_looked_at = 0;    // of them, how many
    std::vector<LateFile> opened;  // of those with probes: the plan's paths lead through them
};

// Looks into every file once and puts what its packs have for it behind `plan`.
[[nodiscard]] PackStart plan_packs(const PackPlanner& planner,
                                   const PackStartRequest& request,
                                   AttachPlan& plan);

}  // namespace tracer
