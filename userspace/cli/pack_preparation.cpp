// SPDX-License-Identifier: Apache-2.0
//
// From options to packs, and from what is to be recorded to the files that they are looked for in.
// Called by record_command.cpp and packs_command.cpp.
#include "cli/pack_preparation.h"

#include "cli/probe_plan.h"
#include "symbol/library_search.h"

#include <set>

#include <fmt/format.h>

namespace tracer {

Result<PackCatalog> load_packs(const PackOptions& options) {
    return PackCatalog::load({.files = options.files, .folder = find_pack_folder()});
}

Result<std::optional<PackPlanner>> make_pack_planner(const RecordCommand& command) {
    if (command.packs.request.off) return std::nullopt;
    TR_ASSIGN(auto catalog, load_packs(command.packs));
    PackPlannerOptions options;
    options.request = command.packs.request;
    options.allow_nop5 = command.fast_sites;
    options.debug_files.use_debuginfod = command.debuginfod;
    auto planner = PackPlanner::make(std::move(catalog), std::move(options));
    if (!planner) return tl::unexpected(std::move(planner).error().within("--packs"));
    return std::move(*planner);
}

std::vector<std::string> catalog_lines(const PackCatalog& catalog, bool verbose) {
    std::vector<std::string> lines;
    for (const Error& warning : catalog.warnings()) {
        lines.push_back(fmt::format("warning: {}", warning.what));
        if (!warning.hint.empty()) lines.push_back(fmt::format("hint: {}", warning.hint));
    }
    if (verbose) lines.insert(lines.end(), catalog.remarks().begin(), catalog.remarks().end());
    return lines;
}

PackStartRequest pack_start_request(const RecordCommand& command,
                                    const Targets& targets,
                                    const Selection& selection,
                                    uint32_t own_pid) {
    PackStartRequest request;
    if (command.all) {
        request.pids = all_processes(own_pid);
    } else {
        std::set<uint32_t> pids;
        for (const uint32_t pid : targets.processes()) pids.insert(pid);
        for (const uint32_t pid : selection.find_processes()) pids.insert(pid);
        pids.erase(own_pid);
        request.pids.assign(pids.begin(), pids.end());
    }
    request.are_all = !only_processes(command, targets, selection).empty();
    // Of threads alone no rings are looked for.
    request.are_rings_read = command.rings && targets.threads.empty();
    if (command.command.empty()) return request;
    const auto environment = SearchEnvironment::of_this_process();
    // One that does not exist is refused when it is started.
    if (const auto program = find_program(command.command.front(), environment)) {
        if (auto files = files_of_program(*program, environment)) {
            request.program_files = std::move(*files);
        }
    }
    request.program_start = process_start_of_command(command.command);
    return request;
}

}  // namespace tracer
