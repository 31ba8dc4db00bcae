// SPDX-License-Identifier: Apache-2.0
//
// The kernel side of a recording over the loaded objects: what is attached in which order, how the
// drain thread sleeps, and what was counted. Used by the session layer through its interface.
//
// Sleeping. Programs wake nobody while tr_drain_awake is set. Before it sleeps the drain clears the
// flag, then looks at every ring: a ring that filled in between is seen here, one that fills later
// sees the cleared flag.
#include "probe/kernel_recorder.h"

#include "probe/compile_warnings.h"
#include "probe/drain_poll.h"
#include "probe/kernel_objects.h"
#include "probe/libbpf_log.h"
#include "probe/place_pieces.h"
#include "probe/probed_instruction.h"
#include "probe/uprobe_link.h"
#include "symbol/tracefs.h"
#include "tracer/base/byte_cursor.h"
#include "tracer_bpf.skel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <map>
#include <mutex>
#include <span>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

namespace tracer {
namespace {

constexpr double kWakePart = 0.25;  // of a ring, as set_wake_level() has it

uint64_t now_boottime_ns() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct LinkCloser {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using UniqueLink = std::unique_ptr<bpf_link, LinkCloser>;

// Of an instruction that the kernel is known to refuse the first byte, which tells of what sort it
// is. Such are attached apart and alone, so that a link that fails for one disturbs no other.
std::optional<std::byte> refused_sort(int file, uint64_t offset) {
    std::array<std::byte, kInstructionBytesMax> code{};
    const ssize_t got = pread(file, code.data(), code.size(), static_cast<off_t>(offset));
    if (got > 0 && !is_refused_by_kernel(std::span(code).first(static_cast<size_t>(got)))) {
        return std::nullopt;
    }
    return code.front();
}

std::string with_hint(const Error& error) {
    return error.hint.empty() ? error.what : fmt::format("{}; {}", error.what, error.hint);
}

class LiveRecorder : public KernelRecorder {
public:
    LiveRecorder(std::unique_ptr<KernelObjects> objects, AttachPlan plan, KernelOptions options)
        : objects_(std::move(objects)), plan_(std::move(plan)), options_(std::move(options)) {}

    Status prepare_polling();
    void warn_of_slow_links();
    // In each file once.
    void warn_of_changed_files();

    Status attach(const std::function<bool()>& cancelled) override;
    void add_target(uint32_t pid) override { objects_->want_process(pid); }
    Status attach_late(const AttachPlan& addition) override;
    [[nodiscard]] int news_fd() const override { return objects_->news_ring().fd(); }
    void read_news(KernelNews& out) override;
    Status want_cgroup(uint64_t id) override;
    [[nodiscard]] bool is_recorded(uint32_t pid) const override {
        return options_.record_all || objects_->is_wanted_process(pid);
    }
    Status set_open(bool is_open) override;
    Status detach() override;
    [[nodiscard]] uint64_t old_ring_bytes() const override {
        uint64_t bytes = 0;
        for (const RingRow& ring : objects_->rings()) bytes += ring.old_bytes();
        return bytes;
    }
    Status make_other_rings(uint64_t ring_bytes) override;
    void add_other_rings() override;
    Status use_other_rings() override;
    [[nodiscard]] double fill(size_t ring) const override { return objects_->rings()[ring].fill(); }
    bool wait(std::chrono::milliseconds timeout) override;
    void wake() override { poll_.wake(); }
    [[nodiscard]] KernelCounters counters() const override;
    [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
    [[nodiscard]] const std::vector<RefusedPlace>& refused() const override { return refused_; }

    [[nodiscard]] size_t ring_count() const override { return objects_->rings().size(); }
    void peek(size_t ring, size_t count_max, std::vector<RecordView>& out) override {
        objects_->rings()[ring].peek(count_max, out);
    }
    void release(size_t ring, size_t count) override { objects_->rings()[ring].release(count); }
    [[nodiscard]] uint64_t lost(size_t ring) const override {
        return std::atomic_ref(objects_->ring_states()[ring].lost).load(std::memory_order_acquire);
    }

private:
    // Places of one program that are attached together, in this order.
    struct GroupKey {
        bool is_end = false;
        bool is_session = false;
        int order = 0;
        std::optional<std::byte> refused;  // refused_sort()
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees the 0 that is compared with.
        auto operator<=>(const GroupKey&) const = default;
    };
    using PlaceGroups = std::map<GroupKey, std::vector<LinkPlace>>;

    Status attach_tracing(bpf_program* program);
    Status attach_tasks();
    Status attach_scheduler();
    // Those of the plan. Of the files that packs alone have probes in none must attach; of the
    // others those that are gone are left out, unless all are.
    Status attach_files(const std::function<Status()>& stop);
    // A failure leaves nothing of it attached.
    Status attach_file(const AttachFile& file, const std::function<Status()>& stop);
    Status attach_groups(const AttachFile& file, const std::function<Status()>& stop);
    // Whether one place that could not be attached costs no more than itself.
    Status leave_out(const AttachSite& site, const Error& error);
    Status leave_out(const AttachFile& file, const SemaphoreRaise& raise, const Error& error);
    void leave_out(const AttachFile& file, const Error& error);
    // Of refused_ from `first` on.
    void warn_of_refused(size_t first);
    Status attach_places(const AttachFile& file, std::span<const LinkPlace> places);
    [[nodiscard]] PlaceGroups group_places(const AttachFile& file, int code) const;
    Status attach_raises(const AttachFile& file);
    // Attaches the request's places, in each process alone where only few are recorded.
    Status attach_request(const AttachFile& file, bpf_program* program, UprobeRequest request);
    [[nodiscard]] const std::string& spec_of(uint32_t probe_id) const;
    [[nodiscard]] bool ends_something(const AttachSite& site) const;
    Status attach_tracepoint(const AttachTracepoint& tracepoint, uint32_t event_id);
    // Runs a task iterator's program over every task.
    Status walk_tasks(bpf_program* program);
    void set_drain_awake(bool awake);
    // All probes there are by now are recorded from now on, if it is open.
    void arm_all();
    // Probes below this id are recorded from now on, and no others.
    void arm_below(uint32_t probe_id);
    void set_scheduler_open(bool is_open);

    std::unique_ptr<KernelObjects> objects_;
    AttachPlan plan_;
    KernelOptions options_;
    std::vector<std::string> warnings_;
    std::vector<RefusedPlace> refused_;
    std::vector<UniqueLink> tracing_links_;
    std::vector<std::unique_ptr<UprobeLink>> uprobe_links_;
    std::vector<UniqueFd> tracepoint_fds_;  // perf events and their links, in pairs
    std::mutex gate_mutex_;                 // of who opens and who attaches late
    bool is_open_ = true;
    uint32_t attached_below_ = 0;  // probe ids whose places are all attached
    uint64_t news_lost_ = 0;
    std::vector<BpfRing> other_rings_;  // made, and not read yet
    DrainPoll poll_;
};

Status LiveRecorder::prepare_polling() {
    TR_TRY(poll_.open());
    for (const RingRow& ring : objects_->rings()) TR_TRY(poll_.watch(ring.newest().fd()));
    set_drain_awake(true);
    return {};
}

Status LiveRecorder::make_other_rings(uint64_t ring_bytes) {
    TR_ASSIGN(auto rings, objects_->make_rings(ring_bytes));
    for (const BpfRing& ring : rings) TR_TRY(poll_.watch(ring.fd()));
    other_rings_ = std::move(rings);
    return {};
}

void LiveRecorder::add_other_rings() {
    const uint64_t now_ns = now_boottime_ns();
    for (size_t cpu = 0; cpu < other_rings_.size(); ++cpu) {
        objects_->rings()[cpu].prune(now_ns);
        objects_->rings()[cpu].add(std::move(other_rings_[cpu]));
    }
    other_rings_.clear();
}

// Each exchange waits for the programs that run (some ms); what they leave in the old ring is read
// before what is in the new one.
Status LiveRecorder::use_other_rings() {
    for (uint32_t cpu = 0; cpu < objects_->cpu_count(); ++cpu) {
        RingRow& row = objects_->rings()[cpu];
        TR_TRY(objects_->use_ring(cpu, row.newest()));
        row.retire_before_newest(now_boottime_ns());
    }
    objects_->set_wake_level(objects_->rings().front().newest().bytes());
    return {};
}

// uprobe_multi takes thousands of places in some ms, 4000 of them 20 ms; a perf event is let go of
// in 110 ms, each in turn (Linux 6.18).
void LiveRecorder::warn_of_slow_links() {
    constexpr size_t kTold = 50;
    size_t places = 0;
    for (const AttachFile& file : plan_.files) places += file.sites.size();
    if (objects_->uses_uprobe_multi() || places < kTold) return;
    warnings_.push_back(fmt::format(
        "{} probe sites with a perf event each: at the end, letting go of them takes about {} s",
        places, places / 9));
}

Status LiveRecorder::attach(const std::function<bool()>& cancelled) {
    const auto stop = [&]() -> Status {
        if (!cancelled()) return {};
        return fail(ErrorCode::interrupted, "interrupted while attaching");
    };
    // Births first, then who is there: nobody falls between, some are told twice.
    TR_TRY(attach_tasks());
    TR_TRY(walk_tasks(objects_->skeleton().progs.tr_on_each_task));
    TR_TRY(attach_files(stop));
    if (!plan_.tracepoints.empty()) {
        TR_ASSIGN(const auto tracefs, Tracefs::open());
        for (const AttachTracepoint& tracepoint : plan_.tracepoints) {
            TR_TRY(stop());
            TR_ASSIGN(const uint32_t id, tracefs.id(tracepoint.category, tracepoint.name));
            TR_TRY(attach_tracepoint(tracepoint, id));
        }
    }
    TR_TRY(stop());
    if (options_.record_sched) TR_TRY(attach_scheduler());
    arm_all();
    return {};
}

Status LiveRecorder::attach_files(const std::function<Status()>& stop) {
    const auto needed = static_cast<size_t>(
        std::ranges::count_if(plan_.files, [](const auto& file) { return !file.is_optional(); }));
    size_t gone = 0;
    bool is_stopped = false;
    const auto note_stop = [&]() -> Status {
        Status stopped = stop();
        is_stopped = !stopped;
        return stopped;
    };
    for (const AttachFile& file : plan_.files) {
        TR_TRY(note_stop());
        Status attached = attach_file(file, note_stop);
        if (attached) continue;
        if (is_stopped) return attached;
        if (!file.is_optional()) {
            // Among many files some are short-lived; that must not cost the others' recording.
            const bool is_gone = attached.error().code == ErrorCode::not_found;
            if (!is_gone || ++gone == needed) return attached;
        }
        leave_out(file, attached.error());
    }
    return {};
}

void LiveRecorder::leave_out(const AttachFile& file, const Error& error) {
    const bool is_gone = error.code == ErrorCode::not_found;
    const std::string reason = is_gone ? "the file is gone" : error.what;
    warnings_.push_back(fmt::format("{}: {}; its {} probe sites are left out", file.shown_path,
                                    reason, file.sites.size()));
    for (const AttachSite& site : file.sites) {
        refused_.push_back({.probe_id = site.probe_id, .reason = reason});
    }
}

Status LiveRecorder::attach_tracing(bpf_program* program) {
    const LibbpfLog log;
    bpf_link* link = bpf_program__attach(program);
    if (link == nullptr) {
        return fail_errno(ErrorCode::missing_feature, errno,
                          fmt::format("attach {}", bpf_program__section_name(program) + 1),
                          "see: tracer doctor");
    }
    tracing_links_.emplace_back(link);
    return {};
}

Status LiveRecorder::attach_tasks() {
    auto& programs = objects_->skeleton().progs;
    for (bpf_program* program : {programs.tr_on_fork, programs.tr_on_exec, programs.tr_on_exit,
                                 programs.tr_on_rename, programs.tr_on_free}) {
        TR_TRY(attach_tracing(program));
    }
    if (!options_.selection.watches_cgroups) return {};
    TR_TRY(attach_tracing(programs.tr_on_cgroup_attach));
    return attach_tracing(programs.tr_on_cgroup_made);
}

Status LiveRecorder::attach_scheduler() {
    auto& programs = objects_->skeleton().progs;
    for (bpf_program* program : {programs.tr_on_sched_waking, programs.tr_on_sched_wakeup_new,
                                 programs.tr_on_sched_switch}) {
        TR_TRY(attach_tracing(program));
    }
    return {};
}

// The programs put their records into rings; what is read here is empty.
Status LiveRecorder::walk_tasks(bpf_program* program) {
    const LibbpfLog log;
    const UniqueLink link(bpf_program__attach_iter(program, nullptr));
    if (link == nullptr) {
        return fail_errno(ErrorCode::missing_feature, errno, "attach the task iterator",
                          "see: tracer doctor");
    }
    const UniqueFd iterator(bpf_iter_create(bpf_link__fd(link.get())));
    if (!iterator.valid()) {
        return fail_errno(ErrorCode::missing_feature, errno, "make a task iterator");
    }
    std::array<char, 64> nothing{};
    ssize_t got = 0;
    do {
        got = read(iterator.get(), nothing.data(), nothing.size());
    } while (got > 0 || (got < 0 && errno == EAGAIN));
    if (got < 0) return fail_errno(ErrorCode::missing_feature, errno, "walk the tasks");
    return {};
}

Status LiveRecorder::attach_late(const AttachPlan& addition) {
    TR_TRY(objects_->add_programs(addition));
    plan_.probes.insert(plan_.probes.end(), addition.probes.begin(), addition.probes.end());
    const size_t links = uprobe_links_.size();
    for (const AttachFile& file : addition.files) {
        if (Status attached = attach_file(file, [] { return Status{}; }); !attached) {
            uprobe_links_.resize(links);
            return attached;
        }
        plan_.files.push_back(file);
    }
    arm_all();
    return {};
}

void LiveRecorder::read_news(KernelNews& out) {
    BpfRing& ring = objects_->news_ring();
    std::vector<RecordView> views;
    ring.peek(SIZE_MAX, views);
    for (const RecordView& view : views) {
        tr_news news{};
        if (!ByteCursor(view.bytes()).read(news)) continue;
        if (view.kind == TR_NEWS_SELECTED) {
            out.selected.push_back({news.header.tgid, news.header.time_ns});
        }
        if (view.kind != TR_NEWS_CGROUP_MADE) continue;
        const auto path_end = std::find(std::begin(news.path), std::end(news.path), '\0');
        out.cgroups.push_back({news.cgroup_id, std::string(std::begin(news.path), path_end)});
    }
    ring.release(views.size());
    auto& lost = objects_->skeleton().bss->tr_news_lost;
    const uint64_t lost_now =
        std::atomic_ref<uint64_t>(const_cast<uint64_t&>(lost)).load(std::memory_order_relaxed);
    if (lost_now != news_lost_) out.lost_some = true;
    news_lost_ = lost_now;
}

// Forks and migrations from here on are judged by the kernel side; the walk takes those before.
Status LiveRecorder::want_cgroup(uint64_t id) {
    TR_TRY(objects_->want_cgroup(id));
    return walk_tasks(objects_->skeleton().progs.tr_on_each_leader);
}

Status LiveRecorder::attach_file(const AttachFile& file, const std::function<Status()>& stop) {
    const size_t links = uprobe_links_.size();
    const size_t refused = refused_.size();
    Status attached = attach_groups(file, stop);
    if (attached) return {};
    // What is later armed with others would be a part of it.
    uprobe_links_.resize(links);
    refused_.resize(refused);
    return attached;
}

Status LiveRecorder::attach_groups(const AttachFile& file, const std::function<Status()>& stop) {
    if (file.held && file.held->is_changed()) {
        return fail(ErrorCode::bad_input,
                    fmt::format("{} was written to since its probes were looked up: they would lie "
                                "between other instructions now",
                                file.shown_path),
                    "start again; a program that runs is replaced by renaming (install, mv), not "
                    "by writing over it");
    }
    const UniqueFd code(::open(file.attach_path().c_str(), O_RDONLY | O_CLOEXEC));
    const size_t refused_before = refused_.size();
    // A failed link takes 15 ms: of each sort one is tried, if this kernel refuses it as well.
    std::map<std::byte, Error> refusals;
    // One link holds any number of places, a perf event each takes a while: ^C is asked for
    // between.
    constexpr size_t kPerfEventsAtOnce = 16;
    bool is_stopped = false;
    for (const auto& [key, places] : group_places(file, code.get())) {
        size_t piece_max = objects_->uses_uprobe_multi() ? places.size() : kPerfEventsAtOnce;
        if (key.refused) piece_max = 1;
        TR_TRY(attach_in_pieces(
            places.size(), piece_max,
            [&, &group = places, refused = key.refused](PlaceRange piece) -> Status {
                Status stopped = stop();
                is_stopped = !stopped;
                if (is_stopped) return stopped;
                if (refused && group[piece.first].site.may_fail) {
                    const auto refusal = refusals.find(*refused);
                    if (refusal != refusals.end()) return tl::unexpected(refusal->second);
                }
                return attach_places(file, std::span(group).subspan(piece.first, piece.count));
            },
            [&, &group = places, refused = key.refused](size_t index, Error error) -> Status {
                if (is_stopped) return tl::unexpected(std::move(error));
                Status left = leave_out(group[index].site, error);
                // Of another cause it says nothing of the others.
                const bool is_of_sort = refused && is_refused_instruction(error);
                if (left && is_of_sort) refusals.emplace(*refused, std::move(error));
                return left;
            }));
    }
    TR_TRY(stop());
    TR_TRY(attach_raises(file));
    warn_of_refused(refused_before);
    return {};
}

// What the user wrote out must attach or the run fails; what a wildcard of theirs found must,
// unless that one place is at fault.
Status LiveRecorder::leave_out(const AttachSite& site, const Error& error) {
    const bool may_fail = site.is_optional || (site.may_fail && is_of_one_place(error));
    if (!may_fail) return tl::unexpected(Error(error).within(spec_of(site.probe_id)));
    std::string reason;
    if (!is_refused_instruction(error)) reason = with_hint(error);
    refused_.push_back({.probe_id = site.probe_id, .reason = std::move(reason)});
    return {};
}

Status LiveRecorder::leave_out(const AttachFile& file,
                               const SemaphoreRaise& raise,
                               const Error& error) {
    Error raising = Error(error).within("raise a semaphore");
    const auto site = std::ranges::find(file.sites, raise.probe_id, &AttachSite::probe_id);
    const bool may_fail = site != file.sites.end() &&
                          (site->is_optional || (site->may_fail && is_of_one_place(error)));
    if (!may_fail) return tl::unexpected(std::move(raising).within(spec_of(raise.probe_id)));
    refused_.push_back(
        {.probe_id = raise.probe_id, .reason = with_hint(raising), .is_raise = true});
    return {};
}

void LiveRecorder::warn_of_refused(size_t first) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const RefusedPlace& place : std::span(refused_).subspan(first)) {
        const std::string& spec = spec_of(place.probe_id);
        if (!place.is_raise) {
            by_reason[place.reason].push_back(spec);
            continue;
        }
        warnings_.push_back(fmt::format("{}: {}; it fires only where something else raises that",
                                        spec, place.reason));
    }
    for (auto& [reason, specs] : by_reason) {
        warnings_.push_back(left_out_line(
            std::move(specs), reason.empty() ? "where the kernel can put no probe" : reason));
    }
}

// What is attached later runs earlier (consumer_add in kernel/events/uprobes.c). So the ends at one
// place are attached in the opposite order of the begins at another: spans of several probes then
// nest. A session's span lasts until its function returns, longer than others that begin at that
// place, and begins before them.
LiveRecorder::PlaceGroups LiveRecorder::group_places(const AttachFile& file, int code) const {
    PlaceGroups groups;
    for (const LinkPlace& place : objects_->places_of(file)) {
        GroupKey key;
        key.is_end = ends_something(place.site);
        key.is_session = place.is_session();
        const auto session = place.is_sleepable() ? ProbeProgram::hit_sleepable : ProbeProgram::hit;
        const int program = static_cast<int>(key.is_session ? session : place.site.program);
        key.order = key.is_end ? -program : program;
        key.refused = refused_sort(code, place.site.file_offset);
        groups[key].push_back(place);
    }
    for (auto& [key, places] : groups) {
        if (key.is_end) std::ranges::reverse(places);
    }
    return groups;
}

// Other probes' semaphores, by places that no code comes by. Were one of them hit, no probe would
// have its cookie, and the kernel side would count that.
Status LiveRecorder::attach_raises(const AttachFile& file) {
    constexpr uint64_t kNoProbe = UINT32_MAX;
    if (file.raises.empty()) return {};
    const std::span<const SemaphoreRaise> raises(file.raises);
    return attach_in_pieces(
        raises.size(), raises.size(),
        [&](PlaceRange piece) {
            UprobeRequest request;
            for (const SemaphoreRaise& raise : raises.subspan(piece.first, piece.count)) {
                request.places.push_back({raise.file_offset, raise.semaphore_offset, kNoProbe});
            }
            return attach_request(file, objects_->skeleton().progs.tr_on_hit, std::move(request));
        },
        [&](size_t index, const Error& error) { return leave_out(file, raises[index], error); });
}

// Places of one program.
Status LiveRecorder::attach_places(const AttachFile& file, std::span<const LinkPlace> places) {
    UprobeRequest request;
    request.at_return = is_return_program(places.front().site.program);
    request.is_session = places.front().is_session();
    for (const LinkPlace& place : places) {
        request.places.push_back(
            {place.site.file_offset, place.site.semaphore_offset, place.cookie()});
    }
    return attach_request(file, objects_->program_of(places.front()), std::move(request));
}

Status LiveRecorder::attach_request(const AttachFile& file,
                                    bpf_program* program,
                                    UprobeRequest request) {
    request.path = file.attach_path();
    const auto attach = [&](uint32_t pid) -> Status {
        request.pid = pid;
        auto link = objects_->uses_uprobe_multi()
                        ? attach_uprobe_multi(bpf_program__fd(program), request)
                        : attach_uprobe_each(program, request);
        if (!link) return tl::unexpected(std::move(link).error().within(file.shown_path));
        uprobe_links_.push_back(std::move(*link));
        return {};
    };
    if (options_.only_pids.empty()) return attach(0);
    // Those that have ended meanwhile need none, unless all have.
    size_t gone = 0;
    for (const uint32_t pid : options_.only_pids) {
        Status attached = attach(pid);
        const bool has_ended = !attached && attached.error().sys_errno == ESRCH;
        if (!has_ended || ++gone == options_.only_pids.size()) TR_TRY(std::move(attached));
    }
    return {};
}

const std::string& LiveRecorder::spec_of(uint32_t probe_id) const {
    // Definitions are in the order of their ids.
    TR_CHECK(probe_id - TR_PROBE_FIRST_USER < plan_.probes.size());
    return plan_.probes[probe_id - TR_PROBE_FIRST_USER].spec;
}

bool LiveRecorder::ends_something(const AttachSite& site) const {
    const size_t index = site.probe_id - TR_PROBE_FIRST_USER;
    if (index >= plan_.probes.size()) return false;
    const HitRole role = plan_.probes[index].role;
    return is_span_end(role) || role == HitRole::pair_end || role == HitRole::pair_until;
}

Status LiveRecorder::attach_tracepoint(const AttachTracepoint& tracepoint, uint32_t event_id) {
    const auto name = fmt::format("attach t:{}:{}", tracepoint.category, tracepoint.name);
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = event_id;
    // A program on a tracepoint's event runs for every task on every CPU, whatever the event says.
    UniqueFd event(static_cast<int>(
        syscall(__NR_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event.valid()) return fail_errno(ErrorCode::missing_feature, errno, name);
    bpf_link_create_opts options{};
    options.sz = sizeof(options);
    options.perf_event.bpf_cookie = tracepoint.probe_id;
    const int program = bpf_program__fd(objects_->skeleton().progs.tr_on_tracepoint);
    UniqueFd link(bpf_link_create(program, event.get(), BPF_PERF_EVENT, &options));
    if (!link.valid()) return fail_errno(ErrorCode::missing_feature, errno, name);
    tracepoint_fds_.push_back(std::move(event));
    tracepoint_fds_.push_back(std::move(link));
    return {};
}

// The kernel kept its breakpoints at their offsets, whatever lay there by then.
void LiveRecorder::warn_of_changed_files() {
    for (AttachFile& file : plan_.files) {
        if (!file.held || !file.held->is_changed()) continue;
        file.held.reset();
        warnings_.push_back(fmt::format(
            "{} was written over while it was probed: its events may be wrong, and what "
            "started it since then may have broken; a file that is probed is replaced "
            "by renaming (install, mv)",
            file.shown_path));
    }
}

// A hit under way may have seen the gate open. Programs run within read sections of RCU: once each
// CPU has been through, their records are in the rings. Those that may sleep are not waited for.
void wait_for_programs() {
    constexpr int kGlobal = 1;  // MEMBARRIER_CMD_GLOBAL
    // Refused on kernels with nohz_full, and then a record more may follow.
    static_cast<void>(syscall(SYS_membarrier, kGlobal, 0, 0));
}

Status LiveRecorder::set_open(bool is_open) {
    Status walked;
    // Before what they do is recorded: told later, it would be older than that.
    if (is_open) walked = walk_tasks(objects_->skeleton().progs.tr_on_each_task);
    {
        const std::scoped_lock lock(gate_mutex_);
        is_open_ = is_open;
        set_scheduler_open(is_open);
        arm_below(is_open ? attached_below_ : 0);
    }
    if (!is_open) wait_for_programs();
    return walked;
}

void LiveRecorder::arm_all() {
    const std::scoped_lock lock(gate_mutex_);
    attached_below_ = objects_->probe_count();
    if (is_open_) arm_below(attached_below_);
}

Status LiveRecorder::detach() {
    arm_below(0);
    uprobe_links_.clear();
    while (!tracepoint_fds_.empty()) tracepoint_fds_.pop_back();
    tracing_links_.clear();
    warn_of_changed_files();
    return {};
}

void LiveRecorder::set_drain_awake(bool awake) {
    auto& flag = objects_->skeleton().bss->tr_drain_awake;
    std::atomic_ref<uint32_t>(const_cast<uint32_t&>(flag)).store(awake ? 1 : 0);
}

void LiveRecorder::arm_below(uint32_t probe_id) {
    auto& limit = objects_->skeleton().bss->tr_armed_probes;
    std::atomic_ref<uint32_t>(const_cast<uint32_t&>(limit)).store(probe_id);
}

void LiveRecorder::set_scheduler_open(bool is_open) {
    auto& flag = objects_->skeleton().bss->tr_is_paused;
    std::atomic_ref<uint32_t>(const_cast<uint32_t&>(flag)).store(is_open ? 0 : 1);
}

bool LiveRecorder::wait(std::chrono::milliseconds timeout) {
    set_drain_awake(false);
    for (RingRow& ring : objects_->rings()) {
        if (ring.has_one_at(kWakePart)) {
            set_drain_awake(true);
            return true;
        }
        if (ring.size() > 1) ring.prune(now_boottime_ns());
    }
    const bool is_woken = poll_.wait(timeout);
    set_drain_awake(true);
    return is_woken;
}

KernelCounters LiveRecorder::counters() const {
    KernelCounters result;
    const auto probes = objects_->read_counters();
    for (uint32_t id = 0; id < probes.size(); ++id) result.probes.push_back({id, probes[id]});
    for (const tr_ring_state& state : objects_->ring_states()) {
        result.rings.push_back({state.seq, state.lost});
    }
    result.missed_by_kernel = objects_->read_missed();
    return result;
}

// One perf event and one link a place: a wildcard may need thousands of descriptors.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<std::unique_ptr<KernelRecorder>> KernelRecorder::open(const AttachPlan& plan,
                                                             const KernelOptions& options) {
    raise_descriptor_limit();
    TR_ASSIGN(auto objects, KernelObjects::load(plan, options));
    AttachPlan kept = plan;
    kept.programs = {};  // they are in the kernel's maps by now
    auto recorder = std::make_unique<LiveRecorder>(std::move(objects), std::move(kept), options);
    TR_TRY(recorder->prepare_polling());
    recorder->warn_of_slow_links();
    return recorder;
}

}  // namespace tracer
