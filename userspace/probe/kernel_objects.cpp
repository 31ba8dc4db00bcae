// SPDX-License-Identifier: Apache-2.0
//
// Loads bpf/ for one recording: sizes the maps, switches on only the programs that the plan needs,
// makes one ring per possible CPU, and maps into our memory what both sides share. Everything is
// owned by file descriptors, so nothing outlives this process. Used by the kernel recorder.
#include "probe/kernel_objects.h"

#include "probe/libbpf_log.h"
#include "probe/uprobe_link.h"
#include "tracer_bpf.skel.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

namespace tracer {
namespace {

// 50,000 tasks at once.
constexpr uint64_t kTaskRingBytes = 4 << 20;
constexpr size_t kPidWords = 1 << 16;
// 200 pieces of news.
constexpr uint64_t kNewsRingBytes = 64 << 10;

// Frames of spans with a condition, a sampling or a rate that are open at once.
constexpr uint32_t kOpenSpansMax = 1 << 16;

// Rings smaller than this are watched at every record, larger ones at every 16th.
constexpr uint64_t kSmallRingBytes = 1 << 20;

Error load_error(int sys_errno, const LibbpfLog& log) {
    if (sys_errno == EPERM || sys_errno == EACCES) {
        return {ErrorCode::permission, sys_errno, "the kernel refuses to load the BPF programs",
                "run as root: sudo tracer ...; in a container it needs CAP_BPF and CAP_PERFMON"};
    }
    if (sys_errno == ENOMEM) {
        return {ErrorCode::limit, sys_errno, "not enough memory for the rings",
                "give less: --buffer 8M"};
    }
    return {ErrorCode::missing_feature, sys_errno,
            fmt::format("load the BPF programs: {}\n{}", strerrordesc_np(sys_errno), log.tail()),
            "see what this kernel lacks: tracer doctor"};
}

template <typename T>
Result<SharedArray<T>> map_array(const bpf_map* map, size_t count, int protection) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    void* memory = mmap(nullptr, bytes, protection, MAP_SHARED, bpf_map__fd(map), 0);
    if (memory == MAP_FAILED) {
        return fail_errno(ErrorCode::internal, errno,
                          fmt::format("map the BPF map {}", bpf_map__name(map)));
    }
    return SharedArray<T>(static_cast<T*>(memory), count);
}

void set_bit(std::span<uint64_t> words, uint32_t pid) {
    if (pid / 64 < words.size()) std::atomic_ref(words[pid / 64]).fetch_or(1ULL << (pid % 64));
}

}  // namespace

Result<std::unique_ptr<KernelObjects>> KernelObjects::load(const AttachPlan& plan,
                                                           const KernelOptions& options) {
    LibbpfLog log;
    auto objects = std::unique_ptr<KernelObjects>(new KernelObjects());
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
        return fail(ErrorCode::missing_feature, "this kernel has no BTF (/sys/kernel/btf/vmlinux)",
                    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y");
    }
    objects->skeleton_ = tracer_bpf__open();
    if (objects->skeleton_ == nullptr) return tl::unexpected(load_error(errno, log));
    objects->uses_uprobe_multi_ = !options.force_perf_links && has_uprobe_multi();
    objects->uses_sessions_ = objects->uses_uprobe_multi_ && has_uprobe_session();
    objects->cpu_count_ = static_cast<size_t>(std::max(1, libbpf_num_possible_cpus()));
    objects->configure(plan, options);
    objects->choose_programs(plan, options);
    if (const int error = tracer_bpf__load(objects->skeleton_); error != 0) {
        return tl::unexpected(load_error(-error, log));
    }
    TR_TRY(objects->open_rings(options.ring_bytes));
    TR_TRY(objects->map_shared_arrays());
    TR_TRY(objects->fill_selection(options.selection));
    TR_TRY(objects->add_programs(plan));
    for (const uint32_t pid : options.pids) objects->want_process(pid);
    for (const uint32_t tid : options.tids) objects->want_thread(tid);
    return objects;
}

KernelObjects::~KernelObjects() {
    rings_.clear();
    tracer_bpf__destroy(skeleton_);
}

void KernelObjects::configure(const AttachPlan& plan, const KernelOptions& options) {
    probe_room_ = static_cast<uint32_t>(TR_PROBE_FIRST_USER + plan.programs.size()) +
                  options.late_programs_max;
    auto& settings = *skeleton_->rodata;
    settings.tr_record_all = options.record_all;
    settings.tr_filter_tids = !options.tids.empty();
    settings.tr_follow_children = options.follow_children;
    settings.tr_selects = !options.selection.is_empty();
    settings.tr_selects_cgroups = options.selection.watches_cgroups;
    settings.tr_comm_words = static_cast<uint32_t>(options.selection.comm_words.size());
    settings.tr_own_tgid = options.own_pid;
    settings.tr_task_ring_state = static_cast<uint32_t>(cpu_count_);

    auto& maps = skeleton_->maps;
    bpf_map__set_max_entries(maps.rings, static_cast<uint32_t>(cpu_count_));
    bpf_map__set_max_entries(maps.ring_states, static_cast<uint32_t>(cpu_count_ + 1));
    bpf_map__set_max_entries(maps.task_ring, kTaskRingBytes);
    bpf_map__set_max_entries(maps.news_ring, kNewsRingBytes);
    bpf_map__set_max_entries(maps.probes, probe_room_);
    bpf_map__set_max_entries(maps.counters, probe_room_);
    gate_room_ = static_cast<uint32_t>(plan.gates.size()) + options.late_gates_max;
    const uint32_t states = plan.gate_state_count + options.late_gates_max;
    bpf_map__set_max_entries(maps.gates, std::max(1U, gate_room_));
    bpf_map__set_max_entries(maps.gate_samples, std::max(1U, states));
    bpf_map__set_max_entries(maps.gate_buckets, std::max(1U, states));
    const bool has_spans =
        options.late_gates_max > 0 || std::ranges::any_of(plan.gates, [](const tr_gate& gate) {
            return (gate.flags & TR_GATE_SPAN_BEGIN) != 0;
        });
    bpf_map__set_max_entries(maps.open_spans, has_spans ? kOpenSpansMax : 1);
}

void KernelObjects::choose_programs(const AttachPlan& plan, const KernelOptions& options) {
    auto& programs = skeleton_->progs;
    for (bpf_program* program :
         {programs.tr_on_fork, programs.tr_on_exec, programs.tr_on_exit, programs.tr_on_rename,
          programs.tr_on_free, programs.tr_on_each_task}) {
        bpf_program__set_autoload(program, true);
    }
    for (bpf_program* program : {programs.tr_on_sched_switch, programs.tr_on_sched_waking,
                                 programs.tr_on_sched_wakeup_new}) {
        bpf_program__set_autoload(program, options.record_sched);
    }
    for (bpf_program* program :
         {programs.tr_on_cgroup_attach, programs.tr_on_cgroup_made, programs.tr_on_each_leader}) {
        bpf_program__set_autoload(program, options.selection.watches_cgroups);
    }
    bpf_program__set_autoload(programs.tr_on_tracepoint, !plan.tracepoints.empty());
    choose_uprobe_programs(plan, options);
}

void KernelObjects::choose_uprobe_programs(const AttachPlan& plan, const KernelOptions& options) {
    auto& programs = skeleton_->progs;
    // What a later file needs is not known, and a loaded object takes no further programs.
    const bool is_open = options.late_programs_max > 0;
    for (const AttachFile& file : plan.files) {
        for (const LinkPlace& place : places_of(file)) {
            bpf_program__set_autoload(program_of(place), true);
        }
        if (!file.raises.empty()) bpf_program__set_autoload(programs.tr_on_hit, true);
    }
    for (bpf_program* program : {programs.tr_on_hit, programs.tr_on_hit_sleepable}) {
        if (is_open) bpf_program__set_autoload(program, true);
        if (!uses_uprobe_multi_) continue;
        bpf_program__set_expected_attach_type(program,
                                              static_cast<bpf_attach_type>(kUprobeMultiAttachType));
    }
    for (bpf_program* program : {programs.tr_on_session, programs.tr_on_session_sleepable}) {
        if (!uses_sessions_) continue;
        if (is_open) bpf_program__set_autoload(program, true);
        bpf_program__set_expected_attach_type(
            program, static_cast<bpf_attach_type>(kUprobeSessionAttachType));
    }
}

std::vector<LinkPlace> KernelObjects::places_of(const AttachFile& file) const {
    return uses_sessions_ ? join_sessions(file.sites) : keep_apart(file.sites);
}

bpf_program* KernelObjects::program_of(const LinkPlace& place) const {
    auto& programs = skeleton_->progs;
    if (place.is_session()) {
        return place.is_sleepable() ? programs.tr_on_session_sleepable : programs.tr_on_session;
    }
    return place.is_sleepable() ? programs.tr_on_hit_sleepable : programs.tr_on_hit;
}

Result<std::vector<BpfRing>> KernelObjects::make_rings(uint64_t ring_bytes) const {
    std::vector<BpfRing> rings;
    for (size_t cpu = 0; cpu < cpu_count_; ++cpu) {
        UniqueFd map(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tr_ring", 0, 0,
                                    static_cast<uint32_t>(ring_bytes), nullptr));
        if (!map.valid()) {
            return fail_errno(ErrorCode::limit, errno,
                              fmt::format("make a ring of {} bytes for CPU {}", ring_bytes, cpu),
                              "give less: 8M");
        }
        TR_ASSIGN(auto ring, BpfRing::open(std::move(map), ring_bytes));
        rings.push_back(std::move(ring));
    }
    return rings;
}

Status KernelObjects::use_ring(uint32_t cpu, const BpfRing& ring) {
    const int inner = ring.fd();
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.rings), &cpu, &inner, BPF_ANY) == 0) {
        return {};
    }
    return fail_errno(ErrorCode::internal, errno, "put a ring into its map");
}

void KernelObjects::set_wake_level(uint64_t ring_bytes) {
    auto& shared = *skeleton_->bss;
    std::atomic_ref(const_cast<uint64_t&>(shared.tr_wake_bytes)).store(ring_bytes / 4);
    std::atomic_ref(const_cast<uint32_t&>(shared.tr_wake_check_mask))
        .store(ring_bytes >= kSmallRingBytes ? 15 : 0);
}

Status KernelObjects::open_rings(uint64_t ring_bytes) {
    TR_ASSIGN(auto rings, make_rings(ring_bytes));
    for (uint32_t cpu = 0; cpu < cpu_count_; ++cpu) {
        TR_TRY(use_ring(cpu, rings[cpu]));
        rings_.emplace_back(std::move(rings[cpu]));
    }
    set_wake_level(ring_bytes);
    UniqueFd news_ring(dup(bpf_map__fd(skeleton_->maps.news_ring)));
    TR_ASSIGN(auto news, BpfRing::open(std::move(news_ring), kNewsRingBytes));
    news_ring_.emplace(std::move(news));
    UniqueFd task_ring(dup(bpf_map__fd(skeleton_->maps.task_ring)));
    TR_ASSIGN(auto ring, BpfRing::open(std::move(task_ring), kTaskRingBytes));
    rings_.emplace_back(std::move(ring));
    return {};
}

Status KernelObjects::map_shared_arrays() {
    auto& maps = skeleton_->maps;
    TR_ASSIGN(ring_states_,
              map_array<const tr_ring_state>(maps.ring_states, cpu_count_ + 1, PROT_READ));
    TR_ASSIGN(wanted_tgids_,
              map_array<uint64_t>(maps.wanted_tgids, kPidWords, PROT_READ | PROT_WRITE));
    TR_ASSIGN(wanted_tids_,
              map_array<uint64_t>(maps.wanted_tids, kPidWords, PROT_READ | PROT_WRITE));
    TR_ASSIGN(pinned_tgids_,
              map_array<uint64_t>(maps.pinned_tgids, kPidWords, PROT_READ | PROT_WRITE));
    return {};
}

Status KernelObjects::fill_selection(const SelectionRules& rules) {
    TR_CHECK(rules.comm_words.size() <= TR_COMM_WORDS);
    const int map = bpf_map__fd(skeleton_->maps.comm_patterns);
    uint32_t index = 0;
    for (const tr_comm_word& word : rules.comm_words) {
        if (bpf_map_update_elem(map, &index, &word, BPF_ANY) != 0) {
            return fail_errno(ErrorCode::internal, errno, "store the patterns of names");
        }
        ++index;
    }
    for (const uint64_t id : rules.cgroup_ids) TR_TRY(want_cgroup(id));
    return {};
}

Status KernelObjects::want_cgroup(uint64_t id) {
    const uint32_t value = 1;
    const int map = bpf_map__fd(skeleton_->maps.wanted_cgroups);
    if (bpf_map_update_elem(map, &id, &value, BPF_ANY) == 0) return {};
    return fail_errno(ErrorCode::limit, errno,
                      fmt::format("record one more than {} cgroups", TR_WANTED_CGROUPS_MAX),
                      "name a cgroup further up: its descendants are recorded too");
}

Status KernelObjects::add_programs(const AttachPlan& plan) {
    TR_CHECK(plan.first_probe_id == probe_count_);
    if (plan.programs.size() > probe_room_ - probe_count_) {
        return fail(ErrorCode::limit,
                    fmt::format("no room for {} more probe sites: {} of {} are used",
                                plan.programs.size(), probe_count_, probe_room_));
    }
    if (plan.gates.size() > gate_room_ - gate_count_) {
        return fail(ErrorCode::limit, fmt::format("no room for {} more conditions: {} of {} are "
                                                  "used",
                                                  plan.gates.size(), gate_count_, gate_room_));
    }
    TR_TRY(add_gates(plan));
    const int map = bpf_map__fd(skeleton_->maps.probes);
    uint32_t id = probe_count_;
    for (tr_probe probe : plan.programs) {
        if ((probe.flags & TR_PROBE_GATED) != 0) probe.flags += gate_count_ << TR_PROBE_GATE_SHIFT;
        if (bpf_map_update_elem(map, &id, &probe, BPF_ANY) != 0) {
            return fail_errno(ErrorCode::internal, errno, fmt::format("store probe {}", id));
        }
        ++id;
    }
    probe_count_ = id;
    gate_count_ += static_cast<uint32_t>(plan.gates.size());
    gate_state_count_ += plan.gate_state_count;
    return {};
}

// Behind those of earlier plans; numbers in a plan count from its own first.
Status KernelObjects::add_gates(const AttachPlan& plan) {
    uint32_t index = gate_count_;
    for (tr_gate gate : plan.gates) {
        gate.state += gate_state_count_;
        if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.gates), &index, &gate, BPF_ANY) != 0) {
            return fail_errno(ErrorCode::internal, errno, fmt::format("store condition {}", index));
        }
        ++index;
    }
    return {};
}

void KernelObjects::want_process(uint32_t pid) {
    set_bit(pinned_tgids_.elements(), pid);
    set_bit(wanted_tgids_.elements(), pid);
}

bool KernelObjects::is_wanted_process(uint32_t pid) const {
    const std::span<uint64_t> words = wanted_tgids_.elements();
    if (pid / 64 >= words.size()) return false;
    return (std::atomic_ref(words[pid / 64]).load(std::memory_order_relaxed) >> (pid % 64) & 1) !=
           0;
}

void KernelObjects::want_thread(uint32_t tid) {
    set_bit(wanted_tids_.elements(), tid);
}

std::vector<tr_probe_counters> KernelObjects::read_counters() const {
    std::vector<tr_probe_counters> sums(probe_count_);
    std::vector<tr_probe_counters> by_cpu(cpu_count_);
    const int map = bpf_map__fd(skeleton_->maps.counters);
    for (uint32_t id = 0; id < probe_count_; ++id) {
        if (bpf_map_lookup_elem(map, &id, by_cpu.data()) != 0) continue;
        for (const tr_probe_counters& one : by_cpu) {
#define TR_ADD_COUNTER(name, meaning) sums[id].name += one.name;
            TR_PROBE_COUNTERS(TR_ADD_COUNTER)
#undef TR_ADD_COUNTER
        }
    }
    return sums;
}

uint64_t KernelObjects::read_missed() const {
    uint64_t missed = 0;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton_->obj) {
        if (bpf_program__fd(program) < 0) continue;
        bpf_prog_info info{};
        uint32_t length = sizeof(info);
        if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) == 0) {
            missed += info.recursion_misses;
        }
    }
    return missed;
}

}  // namespace tracer
