// SPDX-License-Identifier: Apache-2.0
//
// Which thread runs on which capability, said so that the state machines of ghc-events (threads,
// threadpool, threadrun) accept every log, whatever the model's events were. They see a log sorted
// by time, where ties keep the order of the file, and want of each thread: created once, before
// anything else; run only when it does not run; stopped only where it runs; woken only when it does
// not run; nothing after its end. Capabilities run one thread at a time.
#pragma once

#include "tracer/model/definition.h"
#include "tracer/model/event.h"
#include "tracer/write/eventlog/event_types.h"
#include "tracer/write/eventlog/values.h"
#include "write/eventlog/writer_blocks.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tracer::eventlog {

struct OpenSpan {
    model::PointIndex point;
    std::string name;  // of its begin, which its end repeats; empty: its point's
};

// A thread of the model, and what the log says of it.
struct Task {
    // As in the machine `threads` of ghc-events, whose words these are.
    enum class Phase : uint8_t { unborn, queued, running, stopped, finished };

    model::ThreadIndex index = model::kIdleThread;  // of the model's threads
    uint32_t pid = 0;
    uint32_t tid = 0;
    uint32_t life = 0;
    bool is_track = false;  // no thread: a line of its own, which nothing runs
    std::string label;
    bool is_relabelled = false;   // the log has another label, or none, and waits for this one
    std::vector<OpenSpan> spans;  // innermost last

    std::optional<ThreadId> id;  // in the log, from its first event on
    Phase phase = Phase::unborn;
    CapNo event_cap = kNoCapability;  // of its last thread event: where it runs, if it does
    uint64_t event_ns = 0;            // of that event
    CapNo heard_cap = kNoCapability;  // where it was last known to be

    // In messages. A track's is beyond every thread's.
    [[nodiscard]] uint32_t number() const {
        constexpr uint32_t kTidBits = 22;  // Linux: PID_MAX_LIMIT
        return is_track ? tid | life << kTidBits : tid;
    }
};

// Times are nanoseconds from the log's begin. An event may be written a little later than asked:
// not before the last one on its capability, and after the thread's last one on another.
class Timeline {
public:
    explicit Timeline(WriterBlocks& blocks) : blocks_(blocks) {}

    // False: the log cannot name the thread.
    [[nodiscard]] bool define(const model::Thread& thread);
    [[nodiscard]] Task* find(model::ThreadIndex index);

    // The capability that stands for a CPU, made if it is new: the first has number 0, and so on.
    // kNoCapability: none to be had.
    [[nodiscard]] CapNo cap_of_cpu(uint16_t cpu, uint64_t ns);
    [[nodiscard]] size_t cap_count() const { return caps_.size(); }

    // A thread of a runtime's own that has this id in the log, until it is forgotten, which only
    // one that has ended may be. None of the model's threads is on the same timeline.
    [[nodiscard]] Task& add(ThreadId id);
    void forget(Task& task);
    void relabel(Task& task, std::string label);
    // It is there from now on. False: it was already.
    [[nodiscard]] bool introduce(CapNo cap, uint64_t ns, Task& task);

    // A CPU changed what it runs; nullptr: nothing. `info`: as of post_stop_thread.
    void switch_cpu(
        CapNo cap, uint64_t ns, Task* out, StopStatus status, Task* in, uint32_t info = 0);
    // A CPU whose switches are all recorded was heard of by what `task` does there: if that is the
    // first thing, it ran from the begin.
    void hear_of(CapNo cap, Task& task);
    // False: not written, because the thread runs or has ended.
    [[nodiscard]] bool wake(CapNo waker_cap, uint64_t ns, Task& task, CapNo target_cap);
    // What runs is not known any more: on one capability, or on all.
    void break_cap(CapNo cap, uint64_t ns);
    void break_all(uint64_t ns);

    void write_labels(uint64_t ns);
    [[nodiscard]] size_t waiting_labels() const { return relabelled_.size(); }

    // A log begins again: announces the capabilities and the threads that run, as of its begin.
    void begin_log();

    [[nodiscard]] std::deque<Task>& tasks() { return tasks_; }

    // Most that switch_cpu needs, or wake: three threads created, labelled, stopped and run, and a
    // capability announced. break_all needs kStopBytes for each capability besides.
    static constexpr size_t kEventBytesMax = 4096;
    static constexpr size_t kLabelBytesMax = 512;
    static constexpr size_t kStopBytes = 64;

private:
    struct Cap {
        uint16_t cpu = 0;
        Task* running = nullptr;
        // From the begin on nothing was heard: a thread that is then seen to stop ran all the time.
        bool is_untold = true;
    };

    void announce(CapNo cap, uint64_t ns);
    [[nodiscard]] uint64_t place(CapNo cap, uint64_t ns, Task& task) const;
    [[nodiscard]] bool create(CapNo cap, uint64_t ns, Task& task);
    void write_label(CapNo cap, uint64_t ns, Task& task);
    void write_track_label(uint64_t ns, const Task& task);
    [[nodiscard]] bool run(CapNo cap, uint64_t ns, Task& task);
    void stop(uint64_t ns, Task& task, StopStatus status, uint32_t info = 0);

    WriterBlocks& blocks_;
    std::deque<Task> tasks_;
    std::vector<Task*> by_index_;
    std::vector<Cap> caps_;
    std::unordered_map<uint16_t, CapNo> cap_by_cpu_;
    std::unordered_map<uint32_t, uint32_t> next_life_;  // by tid: lives that ids were given for
    std::vector<Task*> relabelled_;
    std::vector<Task*> free_;  // forgotten, to be used again
};

}  // namespace tracer::eventlog
