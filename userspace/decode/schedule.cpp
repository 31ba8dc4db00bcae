// SPDX-License-Identifier: Apache-2.0
//
// Switches and wakeups. The rules on what may be written come from the readers of sched events:
// Perfetto takes a wakeup of a running or runnable thread for the end of its state, and leaves a
// slice whose switch-out is missing open to the end of the trace.
//
// At the end of a recording nothing is written for the threads that still run: they do run, and
// readers draw an open slice to the end of the trace.
//
// Called by the decoder for the records of the scheduler's programs and for gaps.
#include "decode/schedule.h"

namespace tracer {

namespace {

// TASK_* and EXIT_* bits of the kernel's include/linux/sched.h.
constexpr uint32_t kUninterruptible = 0x2;
constexpr uint32_t kStopped = 0x4 | 0x8;  // stopped, traced
constexpr uint32_t kDead = 0x10 | 0x20 | 0x80;
constexpr uint32_t kIdleWait = 0x402;  // uninterruptible, but not counted as load: a sleep

// How long before its thread's switch-out a wakeup may come: longer than any race between two CPUs
// over one thread, shorter than a sleep that someone would look for.
constexpr uint64_t kWakeupRaceNs = 1'000'000;

model::ThreadState thread_state(const tr_sched_switch& record) {
    const uint32_t state = record.prev_state;
    if ((record.header.flags & TR_SWITCH_PREEMPTED) != 0 || state == 0) {
        return model::ThreadState::runnable;
    }
    if ((state & kDead) != 0) return model::ThreadState::dead;
    if ((state & kStopped) != 0) return model::ThreadState::stopped;
    if ((state & kIdleWait) == kIdleWait) return model::ThreadState::sleeping;
    if ((state & kUninterruptible) != 0) return model::ThreadState::uninterruptible;
    // Interruptible, and the rest (parked, frozen): waits that a wakeup ends.
    return model::ThreadState::sleeping;
}

}  // namespace

// A thread runs on one CPU at a time: if the trace has it on another one, its switch-out there is
// missing.
inline void Schedule::leave_other_cpu(const Task& task, uint16_t number, uint64_t time_ns) {
    if (task.run_state != RunState::running || task.running_cpu == number) return;
    const uint16_t other = task.running_cpu;
    if (cpu_of(other).running == task.index) leave_running(other, time_ns);
}

void Schedule::on_switch(const tr_sched_switch& record) {
    const uint16_t number = record.header.cpu;
    const uint64_t time_ns = record.header.time_ns;
    if (record.header.tid == record.next_tid && record.header.tgid != record.next_tgid) {
        ++counters_.malformed;
        return;
    }
    const uint32_t lives = tasks_.lives();
    Task* prev = wanted(record.header.tgid, record.header.tid);
    Task* const next = wanted(record.next_tgid, record.next_tid);
    // Finding one side may have ended the life that the other side's number had.
    if (tasks_.lives() != lives) [[unlikely]]
        prev = wanted(record.header.tgid, record.header.tid);
    const model::ThreadIndex out = prev != nullptr ? tasks_.named(*prev) : model::kIdleThread;
    const model::ThreadIndex in = next != nullptr ? tasks_.named(*next) : model::kIdleThread;

    if (prev != nullptr) leave_other_cpu(*prev, number, time_ns);
    if (next != nullptr) leave_other_cpu(*next, number, time_ns);
    Cpu& cpu = cpu_of(number);
    if (cpu.running != out) leave_running(number, time_ns);
    const model::ThreadState state = thread_state(record);
    bool is_written = true;
    if (out != in) {
        is_written = output_.write(
            {time_ns, model::Switch{number, out, state, record.prev_prio, in, record.next_prio},
             number});
    }
    cpu = next != nullptr && is_written ? Cpu{in, record.next_tid, record.next_prio} : Cpu{};

    if (prev != nullptr && prev != next) {
        const bool sleeps = state != model::ThreadState::runnable;
        prev->run_state = sleeps ? RunState::sleeping : RunState::runnable;
        if (prev->wakeup.is_set) {
            settle_wakeup(*prev, sleeps && state != model::ThreadState::dead, time_ns);
        }
    }
    if (next != nullptr) {
        next->run_state = is_written ? RunState::running : RunState::unknown;
        next->running_cpu = number;
    }
}

// The trace believes that a thread runs, but it does not: its switch-out is missing. It is ended
// here; what it did since is unknown.
void Schedule::leave_running(uint16_t number, uint64_t time_ns) {
    const Cpu cpu = cpu_of(number);
    if (cpu.running == model::kIdleThread) return;
    ++counters_.switches_repaired;
    mark_unknown(cpu);
    output_.write({time_ns,
                   model::Switch{number, cpu.running, model::ThreadState::unknown, cpu.priority,
                                 model::kIdleThread, 0},
                   number});
    // Only now: a hole that begins with this very event must find the thread still running.
    cpu_of(number) = {};
}

void Schedule::mark_unknown(const Cpu& cpu) {
    Task* const task = tasks_.find(cpu.tid);
    if (task == nullptr || task->index != cpu.running) return;
    task->run_state = RunState::unknown;
    forget(*task);
}

void Schedule::on_wakeup(const tr_sched_wakeup& record) {
    if (record.woken_tid == 0) return;
    if (record.woken_tgid == own_pid_ && own_pid_ != 0) return;
    Task* const woken = wanted(record.woken_tgid, record.woken_tid);
    if (woken == nullptr) return;

    PendingWakeup wakeup{.is_set = true,
                         .cpu = record.woken_cpu,
                         .waker_cpu = record.header.cpu,
                         .priority = record.woken_prio,
                         .time_ns = record.header.time_ns};
    // The waker is named even if it is not recorded: who woke a thread is worth a name. By number
    // alone, since to look it up must not end the life of the woken one.
    Task* const waker = record.header.tid != 0 ? tasks_.find(record.header.tid) : nullptr;
    if (waker != nullptr && waker->process->pid == record.header.tgid) {
        wakeup.waker = tasks_.named(*waker);
    }
    switch (woken->run_state) {
        case RunState::sleeping:
            write_wakeup(*woken, wakeup, wakeup.time_ns);
            return;
        case RunState::running:
            forget(*woken);
            woken->wakeup = wakeup;
            return;
        case RunState::unknown:
            // Awake from now on, but whether it slept is not known.
            woken->run_state = RunState::runnable;
            ++counters_.wakeups_dropped;
            return;
        case RunState::runnable:
            ++counters_.wakeups_dropped;
            return;
    }
}

void Schedule::settle_wakeup(Task& task, bool sleeps, uint64_t time_ns) {
    const PendingWakeup wakeup = task.wakeup;
    const bool is_race = time_ns - wakeup.time_ns <= kWakeupRaceNs;
    if (!sleeps || !is_race) {
        forget(task);
        return;
    }
    task.wakeup = {};
    write_wakeup(task, wakeup, time_ns);
}

void Schedule::write_wakeup(Task& task, const PendingWakeup& wakeup, uint64_t time_ns) {
    const model::ThreadIndex thread = tasks_.named(task);
    task.run_state = RunState::runnable;
    output_.write({time_ns, model::Wakeup{wakeup.cpu, thread, wakeup.waker, wakeup.priority},
                   wakeup.waker_cpu});
}

void Schedule::forget(Task& task) {
    if (!task.wakeup.is_set) return;
    task.wakeup = {};
    ++counters_.wakeups_dropped;
}

void Schedule::leave(Task& task, uint64_t time_ns) {
    forget(task);
    const bool runs = task.run_state == RunState::running && task.running_cpu < cpus_.size() &&
                      cpus_[task.running_cpu].running == task.index;
    if (runs) leave_running(task.running_cpu, time_ns);
    task.run_state = RunState::unknown;
}

void Schedule::break_cpu(uint16_t cpu, uint64_t time_ns) {
    if (cpu < cpus_.size()) leave_running(cpu, time_ns);
}

void Schedule::break_all(uint64_t time_ns) {
    for (size_t i = 0; i < cpus_.size(); ++i) leave_running(static_cast<uint16_t>(i), time_ns);
}

void Schedule::pause(uint64_t time_ns) {
    break_all(time_ns);
    tasks_.for_each([&](Task& task) {
        forget(task);
        task.run_state = RunState::unknown;
    });
}

void Schedule::owe_all() {
    for (size_t i = 0; i < cpus_.size(); ++i) {
        const Cpu cpu = cpus_[i];
        cpus_[i] = {};
        if (cpu.running == model::kIdleThread) continue;
        mark_unknown(cpu);
        output_.owe(model::Switch{static_cast<uint16_t>(i), cpu.running,
                                  model::ThreadState::unknown, cpu.priority, model::kIdleThread, 0},
                    0);
    }
}

}  // namespace tracer
