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
#include <functional>
#include <map>
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

// Where the begin of a function's span lies. Several probes may lie at one place, and what is hit
// there at one stack pointer is of one call.
struct BeginPlace {
    uint32_t number = 0;  // ProbeDefinition::place
    uint32_t probe_id = 0;
};

struct OpenSpan {
    model::PointIndex point{};
    BeginPlace place;
    SpanTrack track = SpanTrack::thread;
    bool is_pair = false;        // of two probes matched by thread; else a function's frame
    bool has_frame_key = false;  // of a pair: PairKey::frame
    bool is_state = false;       // of the thread: one follows the other, and no sums are kept
    bool is_ring = false;        // the program wrote it to a ring of its own
    uint64_t stack_pointer = 0;  // at the function's entry
    uint64_t frame_key = 0;
    uint64_t begin_ns = 0;
    uint64_t id = 0;                 // SpanTrack::own
    model::PointIndex crossed_by{};  // SpanTrack::none: what ended around it
};

// Who gave a name, in rising order of what they know: a later one of the kernel's does not replace
// the others', unless another program is run.
enum class NameSource : uint8_t {
    kernel,  // its comm
    start,   // RecordingDefinitions::names
    probe,
};

// What is shown on a line beside a thread. Those of one name are two lines.
enum class LineKind : uint8_t { events, states };

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
    NameSource name_source = NameSource::kernel;
    bool is_kernel_thread = false;
    bool has_exited = false;
    bool is_wanted = false;
    bool is_defined = false;  // to the writer
    bool is_fiber = false;
    bool is_ring = false;  // of events that the program wrote to a ring of its own
    bool is_line = false;  // in the `lines` of a thread, a fiber or a process
    LineKind line_kind = LineKind::events;
    std::string line_name;  // without its thread's
    // Beside it on the timeline, in the order of their first use.
    std::vector<std::unique_ptr<Task>> lines;
    RunState run_state = RunState::unknown;
    uint16_t running_cpu = 0;  // while run_state is running
    PendingWakeup wakeup;
    std::vector<OpenSpan> spans;      // outermost first
    uint64_t span_ns = 0;             // time of the newest begin or end written
    size_t open_position = SIZE_MAX;  // in the span stacks' list; SIZE_MAX: no open span
    size_t spans_followed = 0;        // of `spans`: SpanTrack::none
    uint64_t spans_too_deep = 0;      // begun beyond the limit and not returned yet
    // Spans may be open on it whose begins could not be recorded: those of before the recording, or
    // of the thread that forked it.
    bool may_hold_older = true;
    uint64_t outermost_entry = 0;   // the largest stack pointer of a function's begin so far
    std::vector<bool> pairs_begun;  // by point
};

struct Process {
    uint32_t pid = 0;
    uint32_t ns_pid = 0;  // 0: the same, or not known
    uint32_t life = 0;
    uint32_t parent_pid = 0;
    bool is_wanted = false;
    bool is_born = false;  // in the recording, or has executed another program in it
    std::string name;
    NameSource name_source = NameSource::kernel;
    std::vector<Task*> threads;
    // By what their hits say in slot 1, which may be used again for a later fiber. Not in
    // `threads`: the kernel does not know them.
    std::unordered_map<uint64_t, std::unique_ptr<Task>> fibers;
    // That all its threads share, by name.
    std::map<std::string, std::unique_ptr<Task>, std::less<>> lines;
    bool has_ring = false;  // of its own events, which is read
};

// Fibers with spans in one recording, and lines beside threads, each of which is a line on the
// timeline.
inline constexpr uint32_t kFibersMax = 1U << 16;
// Beside one thread. Their names may be made of values, and each hit looks for its own.
inline constexpr size_t kLinesOfThreadMax = 64;
// That the threads of one process share.
inline constexpr size_t kLinesOfProcessMax = 4096;

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

    // A line of that name for a ring of the process, owned by who asks; null: there are too many.
    [[nodiscard]] std::unique_ptr<Task> ring_track(Process& process, std::string_view name);

    // The line of that name beside a thread or fiber, which must not be one itself; nullptr: there
    // are too many.
    [[nodiscard]] Task* line(Task& beside, LineKind kind, std::string_view name);

    // The line of that name that the process's threads share, made if there is none; nullptr: there
    // are too many.
    [[nodiscard]] Task* process_line(Process& process, std::string_view name);
    // nullptr: there is none.
    [[nodiscard]] static Task* find_process_line(Process& process, std::string_view name) {
        const auto found = process.lines.find(name);
        return found == process.lines.end() ? nullptr : found->second.get();
    }

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

    // What a probe says that they are called; nothing if it says nothing.
    void give_thread_name(Task& task, std::string_view name);
    void give_process_name(Process& process, std::string_view name);

    // What they all did went unseen for a while, as it did before the recording: spans may be open
    // on any of them whose begins could not be recorded.
    void forget_begins();
    static void forget_begins(Task& task);

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
    [[nodiscard]] std::unique_ptr<Task> make_track(Process& process);
    Task& begin_life(uint32_t tgid, uint32_t tid, uint64_t start_ns);
    void forget(Task& task);
    Process& begin_process(uint32_t pid);
    void define(Task& task);
    void set_name(Task& task, std::string_view name, NameSource source = NameSource::kernel);
    void set_process_name(Process& process,
                          std::string_view name,
                          NameSource source = NameSource::kernel);
    void name_lines(Task& task);
    void set_wanted(Task& task) const;

    const RecordingDefinitions& definitions_;
    TraceWriter& writer_;
    TaskObserver& observer_;
    std::unordered_set<uint32_t> wanted_tids_;
    std::unordered_set<uint32_t> wanted_pids_;
    std::unordered_map<uint32_t, const KnownName*> known_threads_;    // by tid
    std::unordered_map<uint32_t, const KnownName*> known_processes_;  // by pid
    std::unordered_map<uint32_t, std::unique_ptr<Task>> tasks_;
    std::unordered_map<uint32_t, std::unique_ptr<Process>> processes_;
    std::array<CacheLine, kCacheLines> cache_{};
    uint32_t next_index_ = 0;
    uint32_t fiber_count_ = 0;
};

}  // namespace tracer
