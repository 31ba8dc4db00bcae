// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// The tasks that a recording is about.
struct Targets {
    std::vector<uint32_t> pids;  // whole processes
    // Single threads, and the process of each.
    struct Thread {
        uint32_t tid = 0;
        uint32_t pid = 0;
    };
    std::vector<Thread> threads;
    std::string name;  // of the first, for the file's name; what it calls itself

    // pids, then the processes of `threads`: where probes are looked for.
    [[nodiscard]] std::vector<uint32_t> processes() const;
};

// A process or thread by the id it has in the pid namespace that another process is in.
struct NamespacedId {
    uint32_t id = 0;
    uint32_t member = 0;  // any process of that namespace, by its id here
};

struct TargetRequest {
    std::vector<uint32_t> ids;  // of processes or threads
    std::vector<NamespacedId> namespaced_ids;
    bool with_children = false;
    uint32_t own_pid = 0;
};

// Looks each id up in /proc (`proc_root`, another folder in tests). Refuses ids that do not exist,
// kernel threads and the tracer itself.
[[nodiscard]] Result<Targets> resolve_targets(const TargetRequest& request,
                                              const std::string& proc_root = "/proc");

// What /proc/ID/status says of one task.
struct TaskStatus {
    std::string name;
    uint32_t tgid = 0;
    uint32_t parent_pid = 0;
    bool is_kernel_thread = false;
};

[[nodiscard]] Result<TaskStatus> read_task_status(uint32_t id,
                                                  const std::string& proc_root = "/proc");

// What a process calls itself in its own pid namespace; 0: it has ended, or cannot be looked at.
[[nodiscard]] uint32_t id_in_own_namespace(uint32_t pid, const std::string& proc_root = "/proc");

// Its id here. not_found when the namespace has no such process or thread.
[[nodiscard]] Result<uint32_t> find_in_namespace(const NamespacedId& wanted,
                                                 const std::string& proc_root = "/proc");

// The thread of the process that calls itself `id` in its own pid namespace, by its id here; 0: it
// has none, or has ended.
[[nodiscard]] uint32_t find_thread_of(uint32_t pid,
                                      uint32_t id,
                                      const std::string& proc_root = "/proc");

// The words a process was started with, in all at most 4 KiB; none if it has ended or has wiped
// them.
[[nodiscard]] std::vector<std::string> read_arguments(uint32_t pid,
                                                      const std::string& proc_root = "/proc");

// All processes, in no order.
[[nodiscard]] std::vector<uint32_t> list_processes(const std::string& proc_root = "/proc");

// Processes below `pids` in the tree of parents, without `pids`, in no order.
[[nodiscard]] std::vector<uint32_t> find_descendants(const std::vector<uint32_t>& pids,
                                                     const std::string& proc_root = "/proc");

}  // namespace tracer
