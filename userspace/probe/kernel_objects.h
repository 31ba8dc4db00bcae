// SPDX-License-Identifier: Apache-2.0
//
// The loaded programs and their maps, owned in one place.
#pragma once

#include "probe/attach_plan.h"
#include "probe/kernel_recorder.h"
#include "probe/ring_row.h"
#include "probe/session_places.h"
#include "tracer/abi/stats.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct tracer_bpf;
struct bpf_program;

namespace tracer {

// A map's memory, shared with the kernel. T is what one element looks like.
template <typename T>
class SharedArray {
public:
    SharedArray() = default;
    SharedArray(T* elements, size_t count) : elements_(elements), count_(count) {}
    [[nodiscard]] std::span<T> elements() const { return {elements_, count_}; }

private:
    T* elements_ = nullptr;  // mapped until the process ends: maps outlive every reader
    size_t count_ = 0;
};

// What `bpf/` became in the kernel: loaded, sized and filled with the plan's probes, not attached.
class KernelObjects {
public:
    static Result<std::unique_ptr<KernelObjects>> load(const AttachPlan& plan,
                                                       const KernelOptions& options);
    ~KernelObjects();
    KernelObjects(const KernelObjects&) = delete;
    KernelObjects& operator=(const KernelObjects&) = delete;

    [[nodiscard]] tracer_bpf& skeleton() const { return *skeleton_; }
    [[nodiscard]] bool uses_uprobe_multi() const { return uses_uprobe_multi_; }
    // Entries and returns joined where this kernel has sessions, and what runs at each place.
    [[nodiscard]] std::vector<LinkPlace> places_of(const AttachFile& file) const;
    [[nodiscard]] bpf_program* program_of(const LinkPlace& place) const;
    [[nodiscard]] size_t cpu_count() const { return cpu_count_; }
    // One per possible CPU, then the task ring.
    [[nodiscard]] std::deque<RingRow>& rings() { return rings_; }
    [[nodiscard]] const std::deque<RingRow>& rings() const { return rings_; }
    // Rings of another size for each CPU, not in use; an error has made none.
    [[nodiscard]] Result<std::vector<BpfRing>> make_rings(uint64_t ring_bytes) const;
    // Has programs write to this one; when it returns only those that may sleep can still be in the
    // midst of a record in the one before.
    [[nodiscard]] Status use_ring(uint32_t cpu, const BpfRing& ring);
    // When programs wake the drain.
    void set_wake_level(uint64_t ring_bytes);
    [[nodiscard]] std::span<const tr_ring_state> ring_states() const {
        return ring_states_.elements();
    }

    // Adds a process (or a single thread) to those recorded. Any thread.
    void want_process(uint32_t pid);
    void want_thread(uint32_t tid);
    [[nodiscard]] bool is_wanted_process(uint32_t pid) const;

    Status want_cgroup(uint64_t id);
    [[nodiscard]] BpfRing& news_ring() { return *news_ring_; }
    [[nodiscard]] const BpfRing& news_ring() const { return *news_ring_; }

    // Stores the programs of a plan whose ids go on from those before.
    Status add_programs(const AttachPlan& plan);

    // The next id; below it every probe's program is stored.
    [[nodiscard]] uint32_t probe_count() const { return probe_count_; }

    // The counters of every probe id, summed over CPUs.
    [[nodiscard]] std::vector<tr_probe_counters> read_counters() const;
    // Runs the kernel skipped, over all programs.
    [[nodiscard]] uint64_t read_missed() const;

private:
    KernelObjects() = default;
    void configure(const AttachPlan& plan, const KernelOptions& options);
    void choose_programs(const AttachPlan& plan, const KernelOptions& options);
    void choose_uprobe_programs(const AttachPlan& plan, const KernelOptions& options);
    Status open_rings(uint64_t ring_bytes);
    Status map_shared_arrays();
    Status add_gates(const AttachPlan& plan);
    Status fill_selection(const SelectionRules& rules);

    tracer_bpf* skeleton_ = nullptr;
    bool uses_uprobe_multi_ = false;
    bool uses_sessions_ = false;
    size_t cpu_count_ = 0;
    uint32_t probe_count_ = TR_PROBE_FIRST_USER;
    uint32_t probe_room_ = 0;  // ids that the maps hold
    uint32_t gate_count_ = 0;
    uint32_t gate_room_ = 0;  // that the map holds
    uint32_t gate_state_count_ = 0;
    std::deque<RingRow> rings_;
    SharedArray<const tr_ring_state> ring_states_;
    SharedArray<uint64_t> wanted_tgids_;
    SharedArray<uint64_t> wanted_tids_;
    SharedArray<uint64_t> pinned_tgids_;
    std::optional<BpfRing> news_ring_;
};

}  // namespace tracer
