// SPDX-License-Identifier: Apache-2.0
//
// The task table. A thread is (tid, start time): a record with another start time, or one that says
// that a task begins, starts a new life. Where no record told of a thread (it was mentioned by a
// hit before the snapshot reached it), the mention makes a life without a name that a later record
// fills.
//
// Called by the decoder for every record that names a task.
#include "decode/task_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kOwnProcessName = "tracer (recording)";

std::string_view comm_of(const tr_task& record) {
    const auto* end = std::find(std::begin(record.comm), std::end(record.comm), '\0');
    return {record.comm, static_cast<size_t>(end - std::begin(record.comm))};
}

}  // namespace

TaskTable::TaskTable(const RecordingDefinitions& definitions,
                     TraceWriter& writer,
                     TaskObserver& observer)
    : definitions_(definitions),
      writer_(writer),
      observer_(observer),
      wanted_tids_(definitions.tids.begin(), definitions.tids.end()),
      wanted_pids_(definitions.pids.begin(), definitions.pids.end()) {
    for (const KnownName& known : definitions.names) {
        if (known.tid != 0) known_threads_[known.tid] = &known;
        if (known.tid == 0) known_processes_[known.pid] = &known;
    }
}

Task* TaskTable::find(uint32_t tid) {
    const auto found = tasks_.find(tid);
    return found == tasks_.end() ? nullptr : found->second.get();
}

Task& TaskTable::find_or_add_slow(uint32_t tgid, uint32_t tid) {
    Task* task = find(tid);
    // Another process under the same tid: the end of the earlier one was not seen.
    if (task == nullptr || task->process->pid != tgid) task = &begin_life(tgid, tid, 0);
    cache_[tid % kCacheLines] = {cache_key(tgid, tid), task};
    return *task;
}

// Replaces whoever had the tid.
Task& TaskTable::begin_life(uint32_t tgid, uint32_t tid, uint64_t start_ns) {
    uint32_t life = 0;
    if (Task* earlier = find(tid)) {
        life = earlier->life + 1;
        forget(*earlier);
    }
    // The leader's life is the process's: a new leader is a new process.
    const auto known = processes_.find(tgid);
    const bool is_new_process = known == processes_.end() || (tid == tgid && life != 0);
    Process& process = is_new_process ? begin_process(tgid) : *known->second;

    auto owned = std::make_unique<Task>();
    Task& task = *owned;
    task.index = model::ThreadIndex{next_index_++};
    task.tid = tid;
    task.process = &process;
    task.start_ns = start_ns;
    task.life = life;
    process.threads.push_back(&task);
    tasks_[tid] = std::move(owned);
    const auto name = known_threads_.find(tid);
    if (life == 0 && name != known_threads_.end() && name->second->pid == tgid) {
        set_name(task, name->second->name, NameSource::start);
    }
    set_wanted(task);
    return task;
}

void TaskTable::forget(Task& task) {
    observer_.on_forget(task);
    CacheLine& line = cache_[task.tid % kCacheLines];
    if (line.task == &task) line = {};
    std::erase(task.process->threads, &task);
    tasks_.erase(task.tid);
}

// What is no thread of the kernel's.
std::unique_ptr<Task> TaskTable::make_track(Process& process) {
    auto task = std::make_unique<Task>();
    task->index = model::ThreadIndex{next_index_++};
    task->tid = ++fiber_count_;
    task->life = model::kTrackLife;
    task->process = &process;
    return task;
}

Task* TaskTable::fiber(Process& process, uint64_t id) {
    const auto found = process.fibers.find(id);
    if (found != process.fibers.end()) return found->second.get();
    if (fiber_count_ == kFibersMax) return nullptr;
    auto task = make_track(process);
    task->is_fiber = true;
    task->may_hold_older = !process.is_born;
    task->name = fmt::format("fiber {:#x}", id);
    return process.fibers.emplace(id, std::move(task)).first->second.get();
}

std::unique_ptr<Task> TaskTable::ring_track(Process& process, std::string_view name) {
    if (fiber_count_ == kFibersMax) return nullptr;
    auto task = make_track(process);
    task->is_ring = true;
    task->name = name;
    return task;
}

Task* TaskTable::line(Task& beside, LineKind kind, std::string_view name) {
    const auto found = std::ranges::find_if(beside.lines, [&](const auto& known) {
        return known->line_kind == kind && known->line_name == name;
    });
    if (found != beside.lines.end()) return found->get();
    if (fiber_count_ == kFibersMax || beside.lines.size() == kLinesOfThreadMax) return nullptr;
    auto task = make_track(*beside.process);
    task->may_hold_older = beside.may_hold_older;
    task->is_line = true;
    task->line_kind = kind;
    task->line_name = name;
    beside.lines.push_back(std::move(task));
    name_lines(beside);
    return beside.lines.back().get();
}

Task* TaskTable::process_line(Process& process, std::string_view name) {
    if (Task* const known = find_process_line(process, name); known != nullptr) return known;
    if (fiber_count_ == kFibersMax || process.lines.size() == kLinesOfProcessMax) return nullptr;
    auto task = make_track(process);
    task->may_hold_older = !process.is_born;
    task->is_line = true;
    task->name = name;
    return process.lines.emplace(name, std::move(task)).first->second.get();
}

// A process's first thread is what the process is called: its lines need not say it.
void TaskTable::name_lines(Task& task) {
    for (const auto& line : task.lines) {
        const bool is_first = !task.is_fiber && task.tid == task.process->pid;
        std::string name = line->line_name;
        if (task.is_fiber) {
            name += fmt::format(" ({})", task.name);
        } else if (!is_first) {
            name += fmt::format(" ({}{}{})", task.name, task.name.empty() ? "" : " ", task.tid);
        }
        set_name(*line, name);
    }
}

// Threads of an earlier process with this pid, if any are still known, go with it.
Process& TaskTable::begin_process(uint32_t pid) {
    uint32_t life = 0;
    const auto known = processes_.find(pid);
    if (known != processes_.end()) {
        life = known->second->life + 1;
        while (!known->second->threads.empty()) forget(*known->second->threads.back());
    }
    auto process = std::make_unique<Process>();
    process->pid = pid;
    process->life = life;
    // The user named the process alive at the start, not a later one with its number.
    process->is_wanted = definitions_.record_all || (life == 0 && wanted_pids_.contains(pid));
    const auto known_name = known_processes_.find(pid);
    if (life == 0 && known_name != known_processes_.end()) {
        set_process_name(*process, known_name->second->name, NameSource::start);
    }
    if (pid == definitions_.own_pid && pid != 0) process->name = kOwnProcessName;
    auto& slot = processes_[pid];
    slot = std::move(process);
    return *slot;
}

void TaskTable::set_wanted(Task& task) const {
    task.is_wanted = task.process->is_wanted || (task.life == 0 && wanted_tids_.contains(task.tid));
}

void TaskTable::define(Task& task) {
    task.is_defined = true;
    writer_.define(model::Thread{.index = task.index,
                                 .pid = task.process->pid,
                                 .tid = task.tid,
                                 .ns_pid = task.process->ns_pid,
                                 .ns_tid = task.ns_tid,
                                 .thread_life = task.life,
                                 .process_life = task.process->life,
                                 .start_ns = task.start_ns,
                                 .parent_pid = task.process->parent_pid,
                                 .is_kernel_thread = task.is_kernel_thread,
                                 .is_track = task.is_fiber || task.is_line || task.is_ring,
                                 .thread_name = task.name,
                                 .process_name = task.process->name});
}

void TaskTable::set_name(Task& task, std::string_view name, NameSource source) {
    if (source < task.name_source) return;
    task.name_source = source;
    if (task.name == name) return;
    task.name = name;
    if (task.is_defined) define(task);
    name_lines(task);
}

void TaskTable::set_process_name(Process& process, std::string_view name, NameSource source) {
    if (source < process.name_source) return;
    process.name_source = source;
    if (process.name == name) return;
    if (process.pid == definitions_.own_pid && process.pid != 0) return;
    process.name = name;
    for (Task* task : process.threads) {
        if (task->is_defined) define(*task);
    }
}

void TaskTable::give_thread_name(Task& task, std::string_view name) {
    if (!name.empty()) set_name(task, name, NameSource::probe);
}

void TaskTable::give_process_name(Process& process, std::string_view name) {
    if (!name.empty()) set_process_name(process, name, NameSource::probe);
}

void TaskTable::forget_begins() {
    for (auto& [tid, task] : tasks_) forget_begins(*task);
    for (auto& [pid, process] : processes_) {
        for (auto& [id, fiber] : process->fibers) forget_begins(*fiber);
        for (auto& [name, line] : process->lines) forget_begins(*line);
    }
}

void TaskTable::forget_begins(Task& task) {
    task.may_hold_older = true;
    task.outermost_entry = 0;
    task.pairs_begun.clear();
    for (const auto& line : task.lines) forget_begins(*line);
}

Task& TaskTable::on_new(const tr_task& record) {
    const uint32_t tid = record.header.tid;
    const uint32_t tgid = record.header.tgid;
    // The parent may not have been mentioned yet; it is known before the child, so that the child
    // can follow it.
    if (record.parent_tid != 0 && record.parent_tid != tid) {
        static_cast<void>(find_or_add(record.parent_tgid, record.parent_tid));
    }
    Task* known = find(tid);
    // A mention that overtook this record made a life without a start time: it is this one.
    const bool is_this = known != nullptr && !known->has_exited && known->process->pid == tgid &&
                         (known->start_ns == 0 || known->start_ns == record.start_ns);
    Task& task = is_this ? *known : begin_life(tgid, tid, record.start_ns);
    task.start_ns = record.start_ns;
    task.is_kernel_thread = (record.task_flags & TR_TASK_KTHREAD) != 0;
    // It was not alive at the start: what the list says is another's name.
    if (task.name_source == NameSource::start) task.name_source = NameSource::kernel;
    if (task.run_state == RunState::unknown) task.run_state = RunState::sleeping;
    // A forked process goes on in its parent's frames, a thread begins with none.
    if (tid == tgid) task.process->is_born = true;
    if (tid != tgid) task.may_hold_older = false;

    const Task* parent = find(record.parent_tid);
    std::string_view name = comm_of(record);
    if (name.empty() && parent != nullptr) name = parent->name;
    if (tid == tgid) {
        Process& process = *task.process;
        process.parent_pid = record.parent_tgid;
        if (process.name_source == NameSource::start) process.name_source = NameSource::kernel;
        const auto forker = processes_.find(record.parent_tgid);
        const bool parent_is_wanted = (forker != processes_.end() && forker->second->is_wanted) ||
                                      (parent != nullptr && parent->is_wanted);
        if (definitions_.follow_children && parent_is_wanted) process.is_wanted = true;
        set_wanted(task);
        set_process_name(process, name);
    }
    set_name(task, name);
    return task;
}

Task& TaskTable::on_info(const tr_task& record) {
    const uint32_t tid = record.header.tid;
    const uint32_t tgid = record.header.tgid;
    Task* known = find(tid);
    // The snapshot may have been taken before records that overtook it: it cannot bring back an
    // earlier life.
    if (known != nullptr && known->start_ns > record.start_ns) return *known;
    const bool is_this = known != nullptr && known->process->pid == tgid &&
                         (known->start_ns == 0 || known->start_ns == record.start_ns);
    Task& task = is_this ? *known : begin_life(tgid, tid, record.start_ns);
    task.start_ns = record.start_ns;
    task.is_kernel_thread = (record.task_flags & TR_TASK_KTHREAD) != 0;
    task.process->parent_pid = record.parent_tgid;
    if (task.run_state == RunState::unknown) {
        const bool is_running = (record.task_flags & TR_TASK_RUNNING) != 0;
        task.run_state = is_running ? RunState::runnable : RunState::sleeping;
    }
    if (tid == tgid) set_process_name(*task.process, comm_of(record));
    set_name(task, comm_of(record));
    return task;
}

// The exec'ing thread takes the leader's tid and every other thread of the process is gone
// (de_thread() in the kernel's fs/exec.c). The leader's Task goes on as the thread that remains.
Task& TaskTable::on_exec(const tr_task_exec& record) {
    Task& task = find_or_add(record.task.header.tgid, record.task.header.tid);
    Process& process = *task.process;
    const std::vector<Task*> threads = process.threads;
    for (Task* other : threads) {
        if (other != &task) other->has_exited = true;
    }
    if (record.task.start_ns != 0) task.start_ns = record.task.start_ns;
    process.is_born = true;
    task.may_hold_older = false;
    process.name_source = NameSource::kernel;
    task.name_source = NameSource::kernel;
    set_process_name(process, comm_of(record.task));
    set_name(task, comm_of(record.task));
    return task;
}

Task& TaskTable::on_rename(const tr_task& record) {
    Task& task = find_or_add(record.header.tgid, record.header.tid);
    set_name(task, comm_of(record));
    return task;
}

// The task stays known: its last switch, into death, comes after its exit.
Task& TaskTable::on_exit(const tr_task& record) {
    Task& task = find_or_add(record.header.tgid, record.header.tid);
    if (task.start_ns == 0) task.start_ns = record.start_ns;
    if (task.name.empty()) set_name(task, comm_of(record));
    task.has_exited = true;
    return task;
}

Task& TaskTable::on_select(const tr_task& record) {
    Task& leader = find_or_add(record.header.tgid, record.header.tid);
    Process& process = *leader.process;
    process.is_wanted = (record.task_flags & TR_TASK_SELECTED) != 0;
    for (Task* task : process.threads) set_wanted(*task);
    return leader;
}

void TaskTable::set_ns_ids(Task& task, uint32_t ns_pid, uint32_t ns_tid) {
    if (task.ns_tid == ns_tid && task.process->ns_pid == ns_pid) return;
    task.ns_tid = ns_tid;
    task.process->ns_pid = ns_pid;
    if (task.is_defined) define(task);
}

}  // namespace tracer
