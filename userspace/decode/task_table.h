// SPDX-License-Identifier: Apache-2.0
//
// Who the threads are: identity, names and lives, from the task records and from what hits and
// switches mention. A tid that is used again is another Task; the old one is forgotten, so memory
// is bounded by the number of distinct tids.
#pragma once

#include "capture/probe_definition.h"
#include "tracer/abi/event.h"
#include "tracer/model/definition.h"
#include "tracer/write/trace_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tracer {

// Where an open span is in the trace.
enum class SpanTrack : uint8_t {
    thread,  // a slice among its thread's
    own,     // on a track of its own
    none,    // was closed on its thread's track, because what was around it ended
};

struct OpenSpan {
    model::PointIndex point{};
    SpanTrack track = SpanTrack::thread;
    bool is_pair = false;        // of two probes matched by thread; else a function's frame
    uint64_t stack_pointer = 0;  // at the function's entry
    uint64_t begin_ns = 0;
    uint64_t id = 0;                 // SpanTrack::own
    model::PointIndex crossed_by{};  // SpanTrack::none: what ended around it
};

// What the scheduler's records last said of a thread.
enum class RunState : uint8_t { unknown, running, runnable, sleeping };

// A wakeup that came while the thread was believed to run: the waker's CPU was ahead of the
// sleeper's. Written after the switch that puts the thread to sleep.
struct PendingWakeup {
    bool is_set = false;
    uint16_t cpu = 0;
    uint16_t waker_cpu = 0;
    int16_t priority = 0;
    model::ThreadIndex waker = model::kIdleThread;
    uint64_t time_ns = 0;
};

struct Process;

// One life of one thread. Owned by the table; a pointer to one is good until the next call that
// may begin a life.
struct Task {
    model::ThreadIndex index{};
    uint32_t tid = 0;
    uint32_t ns_tid = 0;  // 0: the same, or not known
    Process* process = nullptr;
    uint64_t start_ns = 0;  // 0: not known
    uint32_t life = 0;
    std::string name;
    bool is_kernel_thread = false;
    bool has_exited = false;
    bool is_wanted = false;
    bool is_defined = false;  // to the writer
    bool is_fiber = false;
    RunState run_state = RunState::unknown;
    uint16_t running_cpu = 0;  // while run_state is running
    PendingWakeup wakeup;
    std::vector<OpenSpan> spans;      // outermost first
    uint64_t span_ns = 0;             // time of the newest begin or end written
    size_t open_position = SIZE_MAX;  // in the span stacks' list; SIZE_MAX: no open span
    size_t spans_followed = 0;        // of `spans`: SpanTrack::none
    uint64_t spans_too_deep = 0;      // begun beyond the limit and not returned yet
};

struct Process {
    uint32_t pid = 0;
    uint32_t ns_pid = 0;  // 0: the same, or not known
    uint32_t life = 0;
    uint32_t parent_pid = 0;
    bool is_wanted = false;
    std::string name;
    std::vector<Task*> threads;
    // By what their hits say in slot 1, which may be used again for a later fiber. Not in
    // `threads`: the kernel does not know them.
    std::unordered_map<uint64_t, std::unique_ptr<Task>> fibers;
};

// Fibers with spans in one recording, each of which is a line on the timeline.
inline constexpr uint32_t kFibersMax = 1U << 16;

// Told before a task is forgotten, so that nothing of it stays open.
class TaskObserver {
public:
    virtual ~TaskObserver() = default;
    virtual void on_forget(Task& task) = 0;
};

class TaskTable {
public:
    // Borrows all three.
    TaskTable(const RecordingDefinitions& definitions, TraceWriter& writer, TaskObserver& observer);

    // The living task of that tid, made if there is none. tid must not be 0.
    [[nodiscard]] Task& find_or_add(uint32_t tgid, uint32_t tid) {
        const CacheLine& line = cache_[tid % kCacheLines];
        if (line.key == cache_key(tgid, tid)) [[likely]]
            return *line.task;
        return find_or_add_slow(tgid, tid);
    }

    // nullptr if the tid was never mentioned.
    [[nodiscard]] Task* find(uint32_t tid);

    // The task's index, defined to the writer by now.
    [[nodiscard]] model::ThreadIndex named(Task& task) {
        if (!task.is_defined) define(task);
        return task.index;
    }

    // A line for the fiber that its hits call `id`; nullptr: there are too many.
    [[nodiscard]] Task* fiber(Process& process, uint64_t id);

    // How many lives have begun: while it stays the same, every Task& stays good.
    [[nodiscard]] uint32_t lives() const { return next_index_; }

    Task& on_new(const tr_task& record);
    Task& on_info(const tr_task& record);
    Task& on_exec(const tr_task_exec& record);
    Task& on_rename(const tr_task& record);
    Task& on_exit(const tr_task& record);
    // Its process is recorded from now on, or no more.
    Task& on_select(const tr_task& record);
    // The ids of the task in its own pid namespace.
    void set_ns_ids(Task& task, uint32_t ns_pid, uint32_t ns_tid);

    // All tasks known now, in no order.
    template <typename Function>
    void for_each(Function function) {
        for (auto& [tid, task] : tasks_) function(*task);
    }

private:
    static constexpr size_t kCacheLines =
        256;  // a power of two: most recordings have fewer threads
    struct CacheLine {
        uint64_t key = 0;  // never that of a task, since no task's tid is 0
        Task* task = nullptr;
    };
    static uint64_t cache_key(uint32_t tgid, uint32_t tid) { return uint64_t{tid} << 32 | tgid; }

    [[nodiscard]] Task& find_or_add_slow(uint32_t tgid, uint32_t tid);
    Task& begin_life(uint32_t tgid, uint32_t tid, uint64_t start_ns);
    void forget(Task& task);
    Process& begin_process(uint32_t pid);
    void define(Task& task);
    void set_name(Task& task, std::string_view name);
    void set_process_name(Process& process, std::string_view name);
    void set_wanted(Task& task) const;

    const RecordingDefinitions& definitions_;
    TraceWriter& writer_;
    TaskObserver& observer_;
    std::unordered_set<uint32_t> wanted_tids_;
    std::unordered_set<uint32_t> wanted_pids_;
    std::unordered_map<uint32_t, std::unique_ptr<Task>> tasks_;
    std::unordered_map<uint32_t, std::unique_ptr<Process>> processes_;
    std::array<CacheLine, kCacheLines> cache_{};
    uint32_t next_index_ = 0;
    uint32_t fiber_count_ = 0;
};

}  // namespace tracer
