// SPDX-License-Identifier: Apache-2.0
//
// What the writer knows of processes and threads, and the kernel-object records that tell readers.
#pragma once

#include "tracer/model/definition.h"
#include "tracer/write/fxt/stream.h"
#include "tracer/write/trace_writer.h"
#include "write/fxt/fxt_names.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer::fxt {

// Ids in the file. The format and its readers know a process or thread by one number for the whole
// trace, and readers keep 32 bits of it. Linux ids are below 2^22 and are used again, so a later
// life of an id gets `id | life << 22`: still below 2^32 for 1022 lives. The ids with life 1023
// are ours, for things on the timeline that are no process.
inline constexpr uint32_t kIdBits = 22;
inline constexpr uint32_t kLifeMax = 1022;
inline constexpr uint64_t kOwnIds = uint64_t{1023} << kIdBits;
inline constexpr uint64_t kLossProcess = kOwnIds + 1;  // "tracer: losses", and its first thread
inline constexpr uint64_t kIdleProcess = kOwnIds + 2;  // events of probes that hit in the idle loop
inline constexpr uint64_t kLossLanes = kOwnIds + 0x1000;  // + CPU
inline constexpr uint64_t kKernelProcess = 2;             // kthreadd, parent of all kernel threads

struct OpenSpan {
    uint64_t begin_ns;
    model::PointIndex point;
    WriteStatus begin_status;  // its end is written only if the begin was
    std::string name;          // that its end must have too; empty: its point's
};

// An end that found the sink full; written before anything else of its thread, as otherwise the
// thread's next end would close the wrong span.
struct OwedEnd {
    uint64_t time_ns;
    model::PointIndex point;
    std::string name;
};

struct Task {
    ThreadIds ids;
    ThreadRef ref{ThreadIds{}};  // of ids; where the thread had its slot last
    bool is_written = false;     // its objects are in the file
    bool is_queued = false;      // its objects wait for room
    bool is_idle = false;        // pid 0: no thread for readers
    bool has_exited = false;
    uint32_t pid = 0;  // as the kernel says them
    uint32_t tid = 0;
    uint32_t ns_tid = 0;  // 0: none
    std::string name;
    std::vector<OpenSpan> spans;     // innermost last
    std::vector<OwedEnd> owed_ends;  // in the order of their times
};

class TaskBook {
public:
    // The argument of thread objects that names their process.
    explicit TaskBook(const StringRef& process_argument) : process_argument_(process_argument) {}

    // Declares or re-declares; its records then wait for write_pending(). False: the id cannot be
    // said in the file. `strings_cut` counts shortened names.
    [[nodiscard]] bool define(const model::Thread& thread, uint64_t& strings_cut);

    // nullptr: never defined. The address stays.
    [[nodiscard]] Task* find(model::ThreadIndex index) const {
        const auto position = static_cast<size_t>(index);
        return position < by_index_.size() ? by_index_[position] : nullptr;
    }

    // A thread of ours, made on first use.
    [[nodiscard]] Task& own(ThreadIds ids, std::string_view process, std::string_view name);

    // Queues the objects of a task that are not in the file yet.
    void require(Task& task);

    // Writes what is queued. False: no room; the rest stays queued.
    [[nodiscard]] bool write_pending(Stream& stream);

    // A new file begins: all live tasks are queued, those that have exited only when used again.
    void restart();

    [[nodiscard]] std::deque<Task>& all() { return tasks_; }

private:
    struct Process {
        std::string name;
        uint32_t ns_pid = 0;  // 0: none
        bool is_written = false;
    };

    // Sets the names, and queues what changed.
    void describe(Task& task, std::string process_name, std::string thread_name);
    [[nodiscard]] bool write_objects(Stream& stream, Task& task);

    StringRef process_argument_;
    std::deque<Task> tasks_;
    std::vector<Task*> by_index_;
    std::unordered_map<uint64_t, Task*> own_;          // by thread id
    std::unordered_map<uint64_t, Process> processes_;  // by id in the file
    std::deque<Task*> pending_;
};

}  // namespace tracer::fxt
