// SPDX-License-Identifier: Apache-2.0
//
// What each CPU runs: switches and wakeups as the model wants them. Threads outside what is
// recorded count as idle. The trace's own view of each CPU (which thread was switched in last) is
// kept, and where a record contradicts it (records were lost, the recording began) the chain is
// mended before the record is written, because formats pair a switch-in with the next switch-out.
#pragma once

#include "decode/decoder.h"
#include "decode/event_output.h"
#include "decode/task_table.h"

#include <cstdint>
#include <vector>

namespace tracer {

class Schedule {
public:
    // Borrows all three. Wakeups of own_pid's threads are left out (they are the recording's own
    // doing); their switches stay, since a CPU's lane must not lie.
    Schedule(TaskTable& tasks, EventOutput& output, DecoderCounters& counters, uint32_t own_pid)
        : tasks_(tasks), output_(output), counters_(counters), own_pid_(own_pid) {}

    void on_switch(const tr_sched_switch& record);
    void on_wakeup(const tr_sched_wakeup& record);

    // Records of the CPU are missing from here on: what it runs is unknown.
    void break_cpu(uint16_t cpu, uint64_t time_ns);
    void break_all(uint64_t time_ns);

    // Nothing is recorded from here on: what any thread does is unknown until it is told anew.
    void pause(uint64_t time_ns);

    // The thread ended or gave its number to another: a wakeup still waiting for its switch is
    // dropped.
    void forget(Task& task);

    // The thread is recorded no more: a CPU that runs it runs nothing that is.
    void leave(Task& task, uint64_t time_ns);

    // Hands the open running states to the output as debts of a hole.
    void owe_all();

private:
    // tid 0 is no thread: the CPU runs nothing that is recorded.
    struct Cpu {
        model::ThreadIndex running = model::kIdleThread;
        uint32_t tid = 0;
        int16_t priority = 0;
    };

    [[nodiscard]] Cpu& cpu_of(uint16_t cpu) {
        if (cpu >= cpus_.size()) [[unlikely]]
            cpus_.resize(size_t{cpu} + 1);
        return cpus_[cpu];
    }
    [[nodiscard]] Task* wanted(uint32_t tgid, uint32_t tid) {
        if (tid == 0) return nullptr;
        Task& task = tasks_.find_or_add(tgid, tid);
        return task.is_wanted ? &task : nullptr;
    }
    void leave_running(uint16_t cpu, uint64_t time_ns);
    void leave_other_cpu(const Task& task, uint16_t cpu, uint64_t time_ns);
    void mark_unknown(const Cpu& cpu);
    void settle_wakeup(Task& task, bool sleeps, uint64_t time_ns);
    void write_wakeup(Task& task, const PendingWakeup& wakeup, uint64_t time_ns);

    TaskTable& tasks_;
    EventOutput& output_;
    DecoderCounters& counters_;
    uint32_t own_pid_;
    std::vector<Cpu> cpus_;
};

}  // namespace tracer
