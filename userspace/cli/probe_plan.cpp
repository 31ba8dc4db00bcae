// SPDX-License-Identifier: Apache-2.0
//
// From -e texts to an attach plan. The files to look in follow from what is recorded; tracepoints
// come from tracefs, which is opened only when a probe names one, so that recording works without
// it. Called by record_command.cpp and explain_command.cpp.
#include "cli/probe_plan.h"

#include "probe/kernel_recorder.h"
#include "probe/probe_compiler.h"
#include "probe/target_files.h"
#include "symbol/library_search.h"
#include "symbol/tracefs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace tracer {
namespace {

// `may_be_gone`: whoever fits a selection may have ended by now, and others come later.
Result<TargetFiles> of_pids(const std::vector<uint32_t>& ids, bool may_be_gone) {
    const std::vector<pid_t> pids(ids.begin(), ids.end());
    auto files = TargetFiles::of_processes(pids);
    if (!files && may_be_gone) return TargetFiles();
    return files;
}

Result<TargetFiles> files_of(const RecordCommand& command,
                             const Targets& targets,
                             const Selection& selection) {
    if (!command.command.empty()) {
        TR_ASSIGN(auto files, TargetFiles::of_program(command.command.front(),
                                                      SearchEnvironment::of_this_process()));
        if (command.all) {
            TR_ASSIGN(const auto others, TargetFiles::of_system());
            files.merge(others);
        } else if (!selection.is_empty()) {
            TR_ASSIGN(const auto others, of_pids(selection.find_processes(), true));
            files.merge(others);
        }
        return files;
    }
    if (command.all) return TargetFiles::of_system();
    std::vector<uint32_t> pids = targets.processes();
    const std::vector<uint32_t> selected = selection.find_processes();
    pids.insert(pids.end(), selected.begin(), selected.end());
    return of_pids(pids, !selection.is_empty());
}

// Of all probes of all events.
std::vector<ProbeKind> kinds_of(const std::vector<EventSpec>& events) {
    std::vector<ProbeKind> kinds;
    for (const EventSpec& event : events) {
        kinds.push_back(event.begin.kind);
        for (const ProbeSpec& other : event.other_begins) kinds.push_back(other.kind);
        if (event.end) kinds.push_back(event.end->kind);
        for (const ProbeSpec& until : event.until) kinds.push_back(until.kind);
    }
    return kinds;
}

bool is_tracepoint(ProbeKind kind) {
    return kind == ProbeKind::tracepoint;
}

// For container == "NAME" in a condition: the cgroup of the one that runs now.
Result<uint64_t> find_container(std::string_view name) {
    SelectionRequest request;
    request.containers = {std::string(name)};
    TR_ASSIGN(const auto selection, Selection::make(request, SelectionSystem::of_this_machine()));
    const auto cgroups = selection.find_cgroups();
    if (cgroups.size() == 1) return cgroups.front();
    if (cgroups.empty()) {
        return fail(ErrorCode::not_found, fmt::format("no container called {} is running", name),
                    "--container NAME records one that is started later");
    }
    return fail(ErrorCode::usage, fmt::format("{} containers fit {}", cgroups.size(), name),
                "name one with more of its id");
}

}  // namespace

Result<std::vector<EventSpec>> parse_probes(const std::vector<std::string>& texts) {
    std::vector<EventSpec> events;
    for (const std::string& text : texts) {
        TR_ASSIGN(EventSpec event, parse_event_spec(text));
        // Named twice it is still recorded once.
        if (std::ranges::find(events, event.text, &EventSpec::text) != events.end()) continue;
        events.push_back(std::move(event));
    }
    return events;
}

bool are_of_files(const std::vector<EventSpec>& events) {
    return !std::ranges::all_of(kinds_of(events), is_tracepoint);
}

std::vector<uint32_t> only_processes(const RecordCommand& command,
                                     const Targets& targets,
                                     const Selection& selection) {
    const bool may_grow =
        command.all || command.tree || !command.command.empty() || !selection.is_empty();
    std::vector<uint32_t> pids = may_grow ? std::vector<uint32_t>{} : targets.processes();
    return pids.size() <= kOwnLinksMax ? pids : std::vector<uint32_t>{};
}

CompileOptions compile_options(const RecordCommand& command) {
    CompileOptions options;
    options.debug_files.use_debuginfod = command.debuginfod;
    options.allow_nop5 = command.fast_sites;
    // A container that is gone keeps its number: nothing fits it any more.
    options.find_container = [known = std::map<std::string, uint64_t, std::less<>>()](
                                 std::string_view name) mutable -> Result<uint64_t> {
        if (const auto found = known.find(name); found != known.end()) return found->second;
        TR_ASSIGN(const uint64_t id, find_container(name));
        known.emplace(name, id);
        return id;
    };
    return options;
}

Result<AttachPlan> plan_probes_in(const std::vector<EventSpec>& events,
                                  const TargetFiles& files,
                                  CompileOptions options) {
    std::optional<Tracefs> tracepoints;
    if (std::ranges::any_of(kinds_of(events), is_tracepoint)) {
        TR_ASSIGN(tracepoints, Tracefs::open());
        options.tracepoints = &*tracepoints;
    }
    if (!options.find_container) options.find_container = find_container;
    return compile_events(events, files, options);
}

Result<PlannedProbes> plan_probes(const std::vector<EventSpec>& events,
                                  const RecordCommand& command,
                                  const Targets& targets,
                                  const Selection& selection,
                                  bool can_wait) {
    PlannedProbes planned;
    if (events.empty()) return planned;
    if (are_of_files(events)) {
        TR_ASSIGN(planned.files, files_of(command, targets, selection));
    }
    CompileOptions options = compile_options(command);
    options.are_libraries_shared = true;
    if (!only_processes(command, targets, selection).empty()) {
        options.process_files = &planned.files;
    }
    if (can_wait && command.waits_for_probes()) options.missing = MissingSpec::wait;
    TR_ASSIGN(planned.plan, plan_probes_in(events, planned.files, options));
    return planned;
}

}  // namespace tracer
