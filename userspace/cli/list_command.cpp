// SPDX-License-Identifier: Apache-2.0
//
// `tracer list`: every line printed is accepted by -e as it stands. What is listed: the files of
// the processes named, one file, every running program's, or for a pattern that begins with "t:"
// the kernel's tracepoints. Remarks and counts go to standard error.
#include "cli/commands.h"
#include "cli/print.h"
#include "probe/nearest.h"
#include "probe/probe_list.h"
#include "probe/probe_spec.h"
#include "probe/target_files.h"
#include "probe/wildcard.h"
#include "session/human.h"
#include "session/targets.h"
#include "symbol/elf_file.h"
#include "symbol/tracefs.h"
#include "symbol/usdt_notes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

constexpr std::string_view kTracepoints = "t:";

// Who runs a file, by the ids here and, where they differ, in their own pid namespaces. Looked up
// once a file, whose probes come one after the other.
class Runners {
public:
    struct Process {
        pid_t pid = 0;
        uint32_t own_id = 0;  // 0: not known
    };

    const std::vector<Process>& of(const ListedProbe& probe) {
        if (probe.runners.data() == pids_.data() && probe.runners.size() == pids_.size()) {
            return processes_;
        }
        pids_ = probe.runners;
        processes_.clear();
        for (const pid_t pid : pids_) {
            processes_.push_back({pid, id_in_own_namespace(static_cast<uint32_t>(pid))});
        }
        return processes_;
    }

private:
    std::span<const pid_t> pids_;
    std::vector<Process> processes_;
};

// "processes 12, 34 (7 in its pid namespace) and 5 more". Of the one process that was asked for
// only what is not known yet.
std::string runners_text(const std::vector<Runners::Process>& processes, bool is_one_known) {
    constexpr size_t kShownMax = 3;
    const auto is_elsewhere = [](const Runners::Process& process) {
        return process.own_id != 0 && process.own_id != static_cast<uint32_t>(process.pid);
    };
    if (processes.empty() || (is_one_known && !is_elsewhere(processes.front()))) return {};
    std::string text = processes.size() == 1 ? "process " : "processes ";
    for (size_t i = 0; i < std::min(processes.size(), kShownMax); ++i) {
        if (i != 0) text += i + 1 == processes.size() ? " and " : ", ";
        text += std::to_string(processes[i].pid);
        if (is_elsewhere(processes[i])) {
            text += fmt::format(" ({} in its pid namespace)", processes[i].own_id);
        }
    }
    if (processes.size() > kShownMax) {
        text += fmt::format(" and {} more", processes.size() - kShownMax);
    }
    return text;
}

void print_probe(const ListedProbe& probe,
                 const std::vector<Runners::Process>& runners,
                 const ListCommand& command) {
    const size_t asked_for = command.ids.size() + command.namespaced_ids.size();
    if (!command.json) {
        const std::string text = runners_text(runners, asked_for == 1);
        put_text(stdout, printable(annotated_line(probe, text)) + "\n");
        return;
    }
    using Json = nlohmann::ordered_json;
    Json processes = Json::array();
    for (const Runners::Process& process : runners) {
        processes.push_back({{"pid", process.pid}, {"own_pid", process.own_id}});
    }
    const Json row = {{"probe", probe.line},
                      {"sites", probe.site_count},
                      {"semaphore", probe.has_semaphore},
                      {"demangled", probe.demangled},
                      {"parameters", probe.parameters},
                      {"remark", probe.remark},
                      {"processes", std::move(processes)}};
    put_text(stdout, row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<TargetFiles> files_to_list(const ListCommand& command) {
    if (!command.ids.empty() || !command.namespaced_ids.empty()) {
        std::vector<pid_t> pids(command.ids.begin(), command.ids.end());
        for (const NamespacedId& id : command.namespaced_ids) {
            TR_ASSIGN(const uint32_t pid, find_in_namespace(id));
            pids.push_back(static_cast<pid_t>(pid));
        }
        auto files = TargetFiles::of_processes(pids);
        if (!files && files.error().code == ErrorCode::permission && files.error().hint.empty()) {
            files.error().hint = "sudo tracer list ... : it belongs to another user";
        }
        return files;
    }
    if (command.file.empty()) return TargetFiles::of_system();
    TargetFiles files;
    if (access(command.file.c_str(), R_OK) == 0) {
        // Absolute, because a line is pasted behind -e, where a bare name means a mapped file.
        const auto path = std::filesystem::absolute(command.file).lexically_normal().string();
        // A file that was named is not passed over like one of many.
        TR_ASSIGN(const auto elf, ElfFile::open(path, ElfScope::any));
        if (elf.is_debug_only()) {
            return fail(ErrorCode::bad_input, fmt::format("{} holds debug information only", path),
                        "name the program or library itself");
        }
        if (!elf.is_native() && !has_usdt_notes(elf)) {
            return fail(ErrorCode::bad_input,
                        fmt::format("{} is made for another machine ({}), of whose files only USDT "
                                    "probes are shown, and it has none",
                                    path, elf.machine_name()));
        }
        files.add_file({.open_path = path, .shown_path = path});
        return files;
    }
    const int sys_errno = errno;
    if (sys_errno == ENOENT && command.file.find('/') == std::string::npos) {
        // As in -e: the base name of a file that some process has mapped ("libc.so.6").
        TR_ASSIGN(const auto running, TargetFiles::of_system());
        for (const TargetFile& file : running.find(command.file)) files.add_file(file);
        if (!files.files().empty()) return files;
    }
    return fail_errno(sys_errno == EACCES ? ErrorCode::permission : ErrorCode::not_found, sys_errno,
                      fmt::format("read {}", command.file),
                      "give the path of a program or library, or the name of one that is mapped");
}

// What the pattern may have meant. Measured only when nothing fits: it costs more than the list.
std::string nearest_hint(const TargetFiles& files, ListOptions options) {
    if (has_wildcard(options.pattern)) return {};
    const bool has_provider = options.pattern.find(':') != std::string::npos;
    NearestNames nearest(std::exchange(options.pattern, {}));
    static_cast<void>(list_probes(files, options, [&](const ListedProbe& probe) {
        const auto spec = parse_probe_spec(probe.line);
        if (!spec) return;
        // A function's is the name of its file.
        const std::string provider(spec->provider.empty() ? base_name(spec->path) : spec->provider);
        nearest.offer(has_provider ? provider + ":" + spec->name : spec->name);
        if (!probe.demangled.empty() && !has_provider) {
            nearest.offer(std::string_view(probe.demangled).substr(0, probe.demangled.find('(')));
        }
    }));
    return nearest.hint();
}

// A pattern may be a whole -e text cut short ("usdt:python:*"): its kind narrows what is listed.
ListOptions list_options(std::string_view pattern, bool use_debuginfod) {
    constexpr std::string_view kUsdt = "usdt:";
    constexpr std::string_view kFunction = "u:";
    ListOptions options;
    options.debug_files.use_debuginfod = use_debuginfod;
    if (pattern.starts_with(kUsdt)) {
        options.functions = false;
        pattern.remove_prefix(kUsdt.size());
    } else if (pattern.starts_with(kFunction)) {
        options.usdt = false;
        pattern.remove_prefix(kFunction.size());
    }
    options.pattern = pattern;
    return options;
}

}  // namespace

Result<int> run_list(const ListCommand& command) {
    size_t printed = 0;
    Runners runners;
    const auto print = [&](const ListedProbe& probe) {
        print_probe(probe, runners.of(probe), command);
        printed += 1;
    };
    std::string searched;
    std::string nearest;
    const std::string_view pattern = command.pattern;
    if (pattern.starts_with(kTracepoints)) {
        TR_ASSIGN(const auto catalog, Tracefs::open());
        TR_TRY(list_tracepoints(catalog, pattern.substr(kTracepoints.size()), print));
        searched = "the kernel's tracepoints";
    } else {
        TR_ASSIGN(const auto files, files_to_list(command));
        const auto options = list_options(pattern, command.debuginfod);
        const ListOutcome outcome = list_probes(files, options, print);
        searched = files.describe();
        if (printed == 0 && !pattern.empty()) nearest = nearest_hint(files, options);
        if (outcome.files_unreadable > 0) {
            searched += fmt::format(", {} of which could not be read as ELF",
                                    human_count(outcome.files_unreadable));
        }
        if (outcome.foreign_probes > 0 && !command.json) {
            put_text(stderr,
                     fmt::format("tracer: {} of these are in files of other machines and cannot be "
                                 "attached here (--json names the machine)\n",
                                 human_count(outcome.foreign_probes)));
        }
    }
    TR_TRY(finish_standard_output());
    if (printed > 0) return 0;
    return fail(ErrorCode::not_found,
                pattern.empty()
                    ? std::string("neither USDT probes nor function symbols (stripped)")
                    : fmt::format("nothing fits the pattern {} (searched {})", pattern, searched),
                pattern.empty() ? "debug symbols are in packages NAME-dbgsym" : std::move(nearest));
}

}  // namespace tracer
