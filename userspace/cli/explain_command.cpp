// SPDX-License-Identifier: Apache-2.0
//
// `tracer explain`: compiles the probes as a recording would and prints the plan instead of
// attaching it. Needs no root for files that the user may read.
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/probe_plan.h"
#include "probe/explain.h"
#include "probe/target_files.h"
#include "session/human.h"
#include "session/targets.h"
#include "symbol/library_search.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Json = nlohmann::ordered_json;

Result<TargetFiles> files_to_explain(const ExplainCommand& command,
                                     const std::vector<EventSpec>& events) {
    if (!command.command.empty()) {
        return TargetFiles::of_program(command.command.front(),
                                       SearchEnvironment::of_this_process());
    }
    if (!command.ids.empty() || !command.namespaced_ids.empty()) {
        TR_ASSIGN(const auto targets,
                  resolve_targets({.ids = command.ids, .namespaced_ids = command.namespaced_ids}));
        std::vector<pid_t> pids;
        for (const uint32_t pid : targets.processes()) pids.push_back(static_cast<pid_t>(pid));
        return TargetFiles::of_processes(pids);
    }
    const auto names_a_file = [](const ProbeSpec& spec) {
        return spec.kind == ProbeKind::tracepoint || spec.path.find('/') != std::string::npos;
    };
    const auto has_files = [&](const EventSpec& event) { return event.all(names_a_file); };
    if (std::ranges::all_of(events, has_files)) return TargetFiles();
    return TargetFiles::of_system();
}

std::string handler_name(const ExplainedSite& site) {
    if (site.file.empty()) return "tracepoint";
    return fmt::format("{}{}{}, {}", site.part, site.part.empty() ? "" : ": ",
                       site.is_return ? "at return" : "at entry",
                       site.is_sleepable ? "sleepable" : "not sleepable");
}

void print_site(const ExplainedSite& site) {
    if (!site.file.empty()) {
        put_text(stdout, fmt::format("  {}+{:#x}  address {:#x}  {}\n", site.file, site.file_offset,
                                     site.vaddr, site.symbol.empty() ? "no symbol" : site.symbol));
        put_text(stdout,
                 fmt::format("    {}  ({})\n", site.instruction.empty() ? "?" : site.instruction,
                             instruction_class_name(site.kind)));
        if (!site.cheaper.empty()) {
            put_text(stdout,
                     fmt::format("    cheaper, 1.2 times a nop: {} (passed once by every call)\n",
                                 site.cheaper));
        }
        if (site.semaphore_offset != 0) {
            put_text(stdout, fmt::format("    semaphore at {:#x}\n", site.semaphore_offset));
        }
    }
    put_text(stdout, fmt::format("    {}; a hit costs {}\n", handler_name(site),
                                 site.cost == 0 ? "an unknown time"
                                                : fmt::format("{:.1f} times a nop", site.cost)));
    for (const auto& argument : site.arguments) {
        put_text(stdout,
                 fmt::format("      {}: {} = {}\n", argument.name, argument.type, argument.read));
    }
}

void print_text(const Explanation& explanation) {
    size_t sites = 0;
    for (const auto& probe : explanation.probes) {
        put_text(stdout, fmt::format("{}\n  {} {}:{}, {} site{}\n", probe.spec, probe.meaning,
                                     probe.category, probe.name, probe.sites.size(),
                                     probe.sites.size() == 1 ? "" : "s"));
        if (!probe.line.empty()) put_text(stdout, fmt::format("  on the line {}\n", probe.line));
        for (const auto& raise : probe.raises) {
            put_text(stdout, fmt::format("  raises the semaphore in {}\n", raise));
        }
        for (const auto& site : probe.sites) print_site(site);
        sites += probe.sites.size();
    }
    put_text(stdout,
             fmt::format("{} probe{}, {} site{}; nothing was attached\n", explanation.probes.size(),
                         explanation.probes.size() == 1 ? "" : "s", sites, sites == 1 ? "" : "s"));
    for (const auto& warning : explanation.warnings) {
        put_text(stderr, fmt::format("tracer: warning: {}\n", warning));
    }
}

Json json_of(const ExplainedSite& site) {
    Json arguments = Json::array();
    for (const auto& argument : site.arguments) {
        arguments.push_back(
            {{"name", argument.name}, {"type", argument.type}, {"read", argument.read}});
    }
    return {{"file", site.file},
            {"file_offset", site.file_offset},
            {"address", site.vaddr},
            {"symbol", site.symbol},
            {"instruction", site.instruction},
            {"class", instruction_class_name(site.kind)},
            {"part", site.part},
            {"return", site.is_return},
            {"sleepable", site.is_sleepable},
            {"semaphore_offset", site.semaphore_offset},
            {"cost", site.cost},
            {"cheaper", site.cheaper},
            {"arguments", std::move(arguments)}};
}

void print_json(const Explanation& explanation) {
    Json probes = Json::array();
    for (const auto& probe : explanation.probes) {
        Json sites = Json::array();
        for (const auto& site : probe.sites) sites.push_back(json_of(site));
        probes.push_back({{"probe", probe.spec},
                          {"category", probe.category},
                          {"name", probe.name},
                          {"span", probe.is_span},
                          {"meaning", probe.meaning},
                          {"line", probe.line},
                          {"raises", probe.raises},
                          {"sites", std::move(sites)}});
    }
    const Json all = {{"probes", std::move(probes)}, {"warnings", explanation.warnings}};
    put_text(stdout, all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

Result<int> run_explain(const ExplainCommand& command) {
    TR_ASSIGN(const auto events, parse_probes(command.probes));
    TR_ASSIGN(const auto files, files_to_explain(command, events));
    const DebugFileSearch debug_files{.use_debuginfod = command.debuginfod};
    const bool has_no_ids = command.ids.empty() && command.namespaced_ids.empty();
    TR_ASSIGN(const auto plan,
              plan_probes_in(events, files,
                             {.debug_files = debug_files, .are_libraries_shared = has_no_ids}));
    TR_ASSIGN(const auto explanation, explain_plan(plan, debug_files));
    if (command.json) {
        print_json(explanation);
    } else {
        print_text(explanation);
    }
    TR_TRY(finish_standard_output());
    return 0;
}

}  // namespace tracer
