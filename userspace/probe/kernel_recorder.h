// SPDX-License-Identifier: Apache-2.0
//
// The kernel side of a recording: programs loaded, probes attached, rings to drain. The session
// layer knows this interface alone, so that it runs over a fake in tests.
#pragma once

#include "capture/record_source.h"
#include "probe/attach_plan.h"
#include "tracer/abi/selection.h"
#include "tracer/abi/stats.h"
#include "tracer/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tracer {

// Processes recorded by what they are called or where they belong, beside those named by id.
struct SelectionRules {
    std::vector<tr_comm_word> comm_words;  // at most TR_COMM_WORDS
    std::vector<uint64_t> cgroup_ids;      // of cgroup v2; their descendants too
    bool watches_cgroups = false;          // others may be wanted later
    [[nodiscard]] bool is_empty() const { return comm_words.empty() && !watches_cgroups; }
};

// What the kernel side tells beside records.
struct KernelNews {
    struct Selection {
        uint32_t pid = 0;
        uint64_t time_ns = 0;  // CLOCK_BOOTTIME
    };
    std::vector<Selection> selected;  // processes that are recorded since then
    struct Cgroup {
        uint64_t id = 0;
        std::string path;  // from its hierarchy's root
    };
    std::vector<Cgroup> cgroups;  // made now, of any hierarchy
    bool lost_some = false;
};

inline constexpr size_t kOwnLinksMax = 8;

struct KernelOptions {
    bool record_all = false;
    std::vector<uint32_t> pids;
    std::vector<uint32_t> tids;
    // Probes are put into the memory of these processes alone, each by links of its own, at most
    // kOwnLinksMax; empty: of all that run the file. Saves others the traps, and their returns.
    std::vector<uint32_t> only_pids;
    bool follow_children = false;
    bool record_sched = true;
    uint64_t ring_bytes = 0;  // each CPU's ring, power of two
    uint32_t own_pid = 0;
    bool force_perf_links = false;
    // Room for the programs of probes that are attached later; 0: there will be none.
    uint32_t late_programs_max = 0;
    uint32_t late_gates_max = 0;  // of those, with a condition, sampling or a rate
    SelectionRules selection;
};

// What the kernel counted, complete once detach() has returned.
struct KernelCounters {
    struct Probe {
        uint32_t probe_id;
        tr_probe_counters counters;  // summed over CPUs
    };
    struct Ring {
        uint64_t attempts;
        uint64_t lost;
    };
    std::vector<Probe> probes;
    std::vector<Ring> rings;  // as RecordSource numbers them
    // Runs that the kernel skipped because the same program was already running on the CPU. It
    // counts them by program, not by probe, so no probe's `hits` holds them.
    uint64_t missed_by_kernel = 0;
};

// Rings: one per CPU, then the task ring. peek, release, lost, fill, wait and add_other_rings
// belong to the draining thread; attach, add_target, detach and counters to the thread that opened
// it; attach_late, read_news and want_cgroup, between attach and detach, to one other; wake and
// is_recorded to any.
class KernelRecorder : public RecordSource {
public:
    // Loads the programs and makes the rings; nothing is attached yet.
    [[nodiscard]] static Result<std::unique_ptr<KernelRecorder>> open(const AttachPlan& plan,
                                                                      const KernelOptions& options);

    // Task events and the snapshot of running tasks first, then the scheduler, then the probes.
    // `cancelled` is asked between steps; true ends the attach with an error.
    [[nodiscard]] virtual Status attach(const std::function<bool()>& cancelled) = 0;

    // Records this process too (the child of `-- cmd`).
    virtual void add_target(uint32_t pid) = 0;

    // Attaches the probes of files that came later; ids go on from those before. `limit` when the
    // room is used up: nothing is attached then. After another error some may be.
    [[nodiscard]] virtual Status attach_late(const AttachPlan& addition) = 0;

    // Becomes readable when read_news() has something to give.
    [[nodiscard]] virtual int news_fd() const = 0;
    // Appends what came since the last call.
    virtual void read_news(KernelNews& out) = 0;
    // Records the cgroup's processes too, those that are in it by now and those that come.
    [[nodiscard]] virtual Status want_cgroup(uint64_t id) = 0;

    // Whether the process is one of those recorded now.
    [[nodiscard]] virtual bool is_recorded(uint32_t pid) const = 0;

    // Rings of another size, while it runs; nothing that is in the old ones gets lost. Each step
    // behind the one before: makes them (an error: nothing has changed), on the thread that opened
    // the recorder; has them read, on the draining thread; has programs write to them, on the
    // first again. Their bytes are a power of two, at least a page.
    // Those before the ones in use are kept for some seconds: so many bytes they have.
    [[nodiscard]] virtual uint64_t old_ring_bytes() const = 0;
    [[nodiscard]] virtual Status make_other_rings(uint64_t ring_bytes) = 0;
    virtual void add_other_rings() = 0;
    [[nodiscard]] virtual Status use_other_rings() = 0;

    // Closed: nothing of probes and of the scheduler is recorded, as if nothing were attached (also
    // of what is attached meanwhile); births, names and ends of tasks are. May be closed before
    // attach(). When it returns, what was being recorded is in the rings. Opened again: all tasks
    // are told once more, as at the start. Of the thread that opened the recorder.
    [[nodiscard]] virtual Status set_open(bool is_open) = 0;

    [[nodiscard]] virtual Status detach() = 0;

    // How much of the ring is in use, 0..1: what waits to be drained, and what is peeked.
    [[nodiscard]] virtual double fill(size_t ring) const = 0;

    // Sleeps until a ring asks to be drained, wake() is called, or the timeout; true: not the
    // timeout.
    virtual bool wait(std::chrono::milliseconds timeout) = 0;
    virtual void wake() = 0;

    [[nodiscard]] virtual KernelCounters counters() const = 0;
    // Those from opening at once, those from attaching and from detaching behind them.
    [[nodiscard]] virtual const std::vector<std::string>& warnings() const = 0;
    // The places that may fail and did: grown by attach and attach_late. Between attach and detach
    // for the thread of attach_late, then for the other.
    [[nodiscard]] virtual const std::vector<RefusedPlace>& refused() const = 0;
};

// One thing that tracing needs or profits from, as this machine has it.
struct FeatureCheck {
    std::string name;
    bool ok = false;
    bool needed = false;  // false: tracing works without it, only worse
    std::string detail;
    std::string cure;  // one command; empty if ok
};

// Those of the kernel side; needs the rights to load programs.
[[nodiscard]] std::vector<FeatureCheck> check_features();

}  // namespace tracer
