// SPDX-License-Identifier: Apache-2.0
//
// Process and thread objects (document section "Kernel object record"). Readers learn names, and
// which process a scheduled thread belongs to, from these records alone, so every thread gets one
// before the first event that names it. Names stand in the record itself: they are said once and
// would waste the string table. Used by the writer.
#include "write/fxt/fxt_tasks.h"

#include "write/fxt/fxt_arguments.h"

#include <fmt/format.h>

namespace tracer::fxt {
namespace {

// Of the few processes in a pid namespace of their own: spelled out, not in the string table.
constexpr std::string_view kNsPid = "ns_pid";
constexpr std::string_view kNsTid = "ns_tid";

constexpr uint32_t kIndexMax = 1U << 24;  // lives in one recording; beyond is a bug, not a machine

uint64_t file_id(uint32_t id, uint32_t life) {
    return uint64_t{id} | uint64_t{life} << kIdBits;
}

bool can_be_said(uint32_t id, uint32_t life) {
    return id < (1U << kIdBits) && life <= kLifeMax;
}

std::string clean_name(std::string_view name, uint64_t& strings_cut) {
    std::string repaired;
    return std::string(clean_text(name, repaired, strings_cut));
}

// Readers show the id in the file; a later life says the kernel's own.
std::string with_life(std::string name, std::string_view kind, uint32_t id, uint32_t life) {
    if (life == 0) return name;
    return fmt::format("{} ({} {} again)", name, kind, id);
}

}  // namespace

bool TaskBook::define(const model::Thread& thread, uint64_t& strings_cut) {
    const auto index = static_cast<uint32_t>(thread.index);
    if (index >= kIndexMax || !can_be_said(thread.pid, thread.process_life) ||
        !can_be_said(thread.tid, thread.thread_life)) {
        return false;
    }
    if (index >= by_index_.size()) by_index_.resize(index + 1, nullptr);
    Task*& task = by_index_[index];
    if (task == nullptr) task = &tasks_.emplace_back();
    task->pid = thread.pid;
    task->tid = thread.tid;
    task->is_idle = thread.pid == 0;
    if (task->is_idle) return true;

    const ThreadIds ids{
        thread.is_kernel_thread ? kKernelProcess : file_id(thread.pid, thread.process_life),
        file_id(thread.tid, thread.thread_life)};
    if (task->ids != ids) {
        task->is_written = false;
        task->ids = ids;
        task->ref = ids;
    }
    Process& process = processes_[ids.process];
    if (process.ns_pid != thread.ns_pid) process.is_written = false;
    process.ns_pid = thread.ns_pid;
    if (task->ns_tid != thread.ns_tid) task->is_written = false;
    task->ns_tid = thread.ns_tid;
    auto process_name = thread.is_kernel_thread
                            ? std::string("kthreadd")
                            : with_life(clean_name(thread.process_name, strings_cut), "pid",
                                        thread.pid, thread.process_life);
    auto thread_name = clean_name(thread.thread_name, strings_cut);
    if (!thread.is_track) {
        thread_name = with_life(std::move(thread_name), "tid", thread.tid, thread.thread_life);
    }
    describe(*task, std::move(process_name), std::move(thread_name));
    return true;
}

Task& TaskBook::own(ThreadIds ids, std::string_view process, std::string_view name) {
    Task*& task = own_[ids.thread];
    if (task == nullptr) {
        task = &tasks_.emplace_back();
        task->ids = ids;
        task->ref = ids;
        describe(*task, std::string(process), std::string(name));
    }
    return *task;
}

void TaskBook::describe(Task& task, std::string process_name, std::string thread_name) {
    Process& process = processes_[task.ids.process];
    if (process.name != process_name) process.is_written = false;
    process.name = std::move(process_name);
    if (task.name != thread_name || !process.is_written) task.is_written = false;
    task.name = std::move(thread_name);
    require(task);
}

void TaskBook::require(Task& task) {
    if (task.is_written || task.is_queued || task.is_idle) return;
    task.is_queued = true;
    pending_.push_back(&task);
}

bool TaskBook::write_pending(Stream& stream) {
    while (!pending_.empty()) {
        Task& task = *pending_.front();
        if (!write_objects(stream, task)) return false;
        task.is_written = true;
        task.is_queued = false;
        pending_.pop_front();
    }
    return true;
}

bool TaskBook::write_objects(Stream& stream, Task& task) {
    Process& process = processes_[task.ids.process];
    // Without an object readers show "Process 12", which is better than an empty name.
    const Argument process_arguments[] = {arg(StringRef(kNsPid), process.ns_pid)};
    if (!process.is_written && !process.name.empty() &&
        !stream.kernel_object(ObjectType::process, task.ids.process, process.name,
                              std::span(process_arguments).first(process.ns_pid != 0 ? 1 : 0))) {
        return false;
    }
    process.is_written = true;
    const Argument arguments[] = {arg(process_argument_, Koid{task.ids.process}),
                                  arg(StringRef(kNsTid), task.ns_tid)};
    return bool{stream.kernel_object(ObjectType::thread, task.ids.thread, task.name,
                                     std::span(arguments).first(task.ns_tid != 0 ? 2 : 1))};
}

void TaskBook::restart() {
    for (auto& [id, process] : processes_) process.is_written = false;
    pending_.clear();
    for (Task& task : tasks_) {
        task.is_written = false;
        task.is_queued = false;
        task.owed_ends.clear();  // of spans that the file before has
        if (!task.has_exited) require(task);
    }
}

}  // namespace tracer::fxt
