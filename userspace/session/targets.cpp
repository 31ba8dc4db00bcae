// SPDX-License-Identifier: Apache-2.0
//
// From the numbers of --pid to processes and threads. Relies on /proc alone, which shows a task by
// any of its ids: /proc/N exists for a thread id too (it is only not listed), and its Tgid tells
// the two apart. Called by the CLI before anything is opened, so that a wrong number costs nothing.
#include "session/targets.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace tracer {
namespace {

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

bool parse_number(std::string_view text, uint32_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

// PF_KTHREAD among the flags, the seventh word of /proc/ID/stat after the name in parentheses
// (which may hold spaces and parentheses itself). An empty command line would not do: zombies and
// programs that wipe theirs have none.
bool has_kernel_thread_flag(uint32_t id, const std::string& proc_root) {
    constexpr uint32_t kKernelThreadFlag = 0x00200000;
    std::ifstream file(fmt::format("{}/{}/stat", proc_root, id));
    std::string line;
    std::getline(file, line);
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return false;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    for (int i = 0; i < 6; ++i) fields >> skipped;
    uint32_t flags = 0;
    return (fields >> flags) && (flags & kKernelThreadFlag) != 0;
}

void add_process(Targets& targets, uint32_t pid) {
    if (std::ranges::find(targets.pids, pid) == targets.pids.end()) targets.pids.push_back(pid);
}

// The last number of NSpid: what a task calls itself; 0: not to be read.
uint32_t innermost_id(const std::string& task_folder) {
    std::ifstream file(task_folder + "/status");
    std::string line;
    while (std::getline(file, line)) {
        if (!line.starts_with("NSpid:")) continue;
        std::istringstream ids(line.substr(sizeof("NSpid:") - 1));
        uint32_t id = 0;
        uint32_t last = 0;
        while (ids >> id) last = id;
        return last;
    }
    return 0;
}

std::string pid_namespace_of(const std::string& process_folder) {
    std::error_code error;
    return std::filesystem::read_symlink(process_folder + "/ns/pid", error).string();
}

// Numbers among the entries of a folder; what cannot be read is empty.
std::vector<uint32_t> numbers_in(const std::string& folder) {
    std::vector<uint32_t> numbers;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        uint32_t number = 0;
        if (parse_number(entry->path().filename().string(), number)) numbers.push_back(number);
    }
    return numbers;
}

Status check_task(uint32_t id, const TaskStatus& task, uint32_t own_pid) {
    if (task.tgid == own_pid) {
        return fail(ErrorCode::usage, fmt::format("--pid {}: that is this tracer itself", id),
                    "name the process to record; `-a` records all but the tracer");
    }
    if (task.is_kernel_thread) {
        return fail(ErrorCode::usage,
                    fmt::format("--pid {}: {} is a kernel thread: it has no program of its own", id,
                                task.name),
                    "`tracer -a` records kernel threads with everything else");
    }
    return {};
}

}  // namespace

std::vector<uint32_t> Targets::processes() const {
    std::vector<uint32_t> all = pids;
    for (const Thread& thread : threads) {
        if (std::ranges::find(all, thread.pid) == all.end()) all.push_back(thread.pid);
    }
    return all;
}

Result<Targets> resolve_targets(const TargetRequest& request, const std::string& proc_root) {
    Targets targets;
    std::vector<uint32_t> ids = request.ids;
    for (const NamespacedId& wanted : request.namespaced_ids) {
        TR_ASSIGN(const uint32_t id, find_in_namespace(wanted, proc_root));
        ids.push_back(id);
    }
    for (const uint32_t id : ids) {
        TR_ASSIGN(const TaskStatus task, read_task_status(id, proc_root));
        TR_TRY(check_task(id, task, request.own_pid));
        if (targets.name.empty()) targets.name = task.name;
        if (task.tgid == id) {
            add_process(targets, id);
        } else {
            targets.threads.push_back({id, task.tgid});
        }
    }
    if (request.with_children) {
        for (const uint32_t pid : find_descendants(targets.processes(), proc_root)) {
            // The tracer is a child of the shell it was started from.
            if (pid != request.own_pid) add_process(targets, pid);
        }
    }
    return targets;
}

Result<TaskStatus> read_task_status(uint32_t id, const std::string& proc_root) {
    std::ifstream file(fmt::format("{}/{}/status", proc_root, id));
    if (!file) {
        return fail(ErrorCode::not_found, fmt::format("no process or thread has the id {}", id),
                    "`ps -eLo pid,tid,args` lists them; ids are those of this pid namespace");
    }
    TaskStatus status;
    std::string line;
    while (std::getline(file, line)) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string_view key = std::string_view(line).substr(0, colon);
        const std::string_view value = trimmed(std::string_view(line).substr(colon + 1));
        if (key == "Name") status.name = value;
        if (key == "Tgid" && !parse_number(value, status.tgid)) break;
        if (key == "PPid" && !parse_number(value, status.parent_pid)) break;
    }
    if (status.tgid == 0) {
        return fail(ErrorCode::not_found,
                    fmt::format("process {} ended while it was looked at", id));
    }
    status.is_kernel_thread = has_kernel_thread_flag(id, proc_root);
    return status;
}

uint32_t id_in_own_namespace(uint32_t pid, const std::string& proc_root) {
    return innermost_id(fmt::format("{}/{}", proc_root, pid));
}

Result<uint32_t> find_in_namespace(const NamespacedId& wanted, const std::string& proc_root) {
    const std::string home = pid_namespace_of(fmt::format("{}/{}", proc_root, wanted.member));
    if (home.empty()) {
        return fail(ErrorCode::not_found,
                    fmt::format("--pid {}@{}: no process {} here whose pid namespace could be read",
                                wanted.id, wanted.member, wanted.member),
                    "behind the @ stands a process of the container, by its id outside");
    }
    for (const uint32_t pid : numbers_in(proc_root)) {
        const std::string process = fmt::format("{}/{}", proc_root, pid);
        if (pid_namespace_of(process) != home) continue;
        for (const uint32_t tid : numbers_in(process + "/task")) {
            if (innermost_id(fmt::format("{}/task/{}", process, tid)) == wanted.id) return tid;
        }
    }
    return fail(
        ErrorCode::not_found,
        fmt::format("--pid {}@{}: the pid namespace of process {} has no process or thread {}",
                    wanted.id, wanted.member, wanted.member, wanted.id),
        fmt::format("`nsenter -t {} -p -m ps -eLo pid,tid,args` lists them", wanted.member));
}

uint32_t find_thread_of(uint32_t pid, uint32_t id, const std::string& proc_root) {
    const std::string threads = fmt::format("{}/{}/task", proc_root, pid);
    for (const uint32_t tid : numbers_in(threads)) {
        if (innermost_id(fmt::format("{}/{}", threads, tid)) == id) return tid;
    }
    return 0;
}

std::vector<std::string> read_arguments(uint32_t pid, const std::string& proc_root) {
    constexpr size_t kBytesMax = 4096;
    std::ifstream file(fmt::format("{}/{}/cmdline", proc_root, pid), std::ios::binary);
    std::string text(kBytesMax, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    std::vector<std::string> arguments;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\0', begin), text.size());
        arguments.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return arguments;
}

std::vector<uint32_t> list_processes(const std::string& proc_root) {
    std::vector<uint32_t> pids;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator(proc_root, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        uint32_t pid = 0;
        if (parse_number(entry->path().filename().string(), pid)) pids.push_back(pid);
    }
    return pids;
}

std::vector<uint32_t> find_descendants(const std::vector<uint32_t>& pids,
                                       const std::string& proc_root) {
    std::multimap<uint32_t, uint32_t> children;
    for (const uint32_t pid : list_processes(proc_root)) {
        const auto task = read_task_status(pid, proc_root);
        if (task) children.emplace(task->parent_pid, pid);
    }
    std::vector<uint32_t> found;
    std::vector<uint32_t> open = pids;
    // Ends: each pid has one parent, and enters `open` only when it is new.
    while (!open.empty()) {
        const uint32_t parent = open.back();
        open.pop_back();
        const auto [begin, end] = children.equal_range(parent);
        for (auto child = begin; child != end; ++child) {
            const uint32_t pid = child->second;
            if (std::ranges::find(pids, pid) != pids.end()) continue;
            if (std::ranges::find(found, pid) != found.end()) continue;
            found.push_back(pid);
            open.push_back(pid);
        }
    }
    return found;
}

}  // namespace tracer
