// SPDX-License-Identifier: Apache-2.0
//
// The discovery thread: new mapping -> a file not looked at yet -> its probes, those that were
// named and those of its packs, compiled -> their definitions queued for the output -> attached ->
// an event in the trace that says so, and how long it took. Relies on the watch being opened before
// the files at the start were collected: what was mapped between is in its ring. Started and
// stopped by recording.cpp.
//
// The kernel tells of every process; those that are not recorded cost a look at a bitmap.
#include "session/discovery.h"

#include "packs/pack_refusals.h"
#include "session/clock.h"
#include "session/own_record.h"
#include "session/real_time.h"
#include "session/targets.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <poll.h>
#include <pthread.h>
#include <span>
#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr size_t kWarningsMax = 50;
constexpr size_t kPackedFilesMax = 1000;

// Each of its probes was looked up where its path leads; the others only in what was mapped.
bool names_its_files(const EventSpec& event) {
    const auto is_named = [](const ProbeSpec& spec) {
        return spec.path.find('/') != std::string::npos;
    };
    return event.all(is_named);
}

}  // namespace

model::Point armed_point(model::PointIndex index) {
    return own_point(index, "probes armed",
                     {{"file", model::ValueType::string},
                      {"sites", model::ValueType::u64},
                      {"delay_us", model::ValueType::u64}});
}

ProbeDefinition armed_definition(model::PointIndex index) {
    using model::ValueType;
    return own_definition(TR_PROBE_armed, index, "probes armed",
                          {ValueType::string, ValueType::u64, ValueType::u64});
}

model::Point titled_point(model::PointIndex index) {
    return own_point(index, "process title", {{"title", model::ValueType::string}});
}

ProbeDefinition titled_definition(model::PointIndex index) {
    ProbeDefinition definition =
        own_definition(TR_PROBE_titled, index, "process titles", {model::ValueType::string});
    definition.role = HitRole::process_name;
    definition.name = {{.text = {}, .slot = 0}};
    return definition;
}

Discovery::Discovery(KernelRecorder& recorder,
                     MappingWatch* watch,
                     LateQueue& queue,
                     DiscoveryOptions options)
    : recorder_(recorder),
      watch_(watch),
      queue_(queue),
      options_(std::move(options)),
      points_(options_.plan.points),
      next_probe_id_(options_.plan.first_probe_id +
                     static_cast<uint32_t>(options_.plan.probes.size())),
      programs_left_(options_.programs_max) {
    std::erase_if(options_.events, [](const EventSpec& event) {
        return !event.is_pair() && event.begin.kind == ProbeKind::tracepoint;
    });
    std::ranges::copy_if(options_.events, std::back_inserter(unnamed_events_),
                         [](const EventSpec& event) { return !names_its_files(event); });
    for (const WaitingProbe& probe : options_.plan.waiting) waiting_.insert(probe.spec);
}

Status Discovery::start() {
    stop_event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_event_.valid()) return fail_errno(ErrorCode::internal, errno, "make an eventfd");
    thread_ = std::thread([this] { run(); });
    return {};
}

void Discovery::stop() {
    if (!thread_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    const uint64_t one = 1;
    // Fails only when the counter is at its limit, and then the thread is awake.
    [[maybe_unused]] const ssize_t put = write(stop_event_.get(), &one, sizeof(one));
    thread_.join();
    for (const std::string& spec : waiting_) {
        warnings_.push_back(fmt::format("{} never appeared: no file with it was run", spec));
    }
}

void Discovery::run() {
    pthread_setname_np(pthread_self(), "tracer-discover");
    // Like the drain, or a loaded machine has run the new program before it is armed. Refused: the
    // delays in the trace tell.
    if (options_.real_time) static_cast<void>(take_real_time_priority());
    while (!stop_.load(std::memory_order_acquire)) {
        look_at_news();
        // A negative number is passed over.
        std::array<pollfd, 3> fds{{{stop_event_.get(), POLLIN, 0},
                                   {watch_ != nullptr ? watch_->fd() : -1, POLLIN, 0},
                                   {recorder_.news_fd(), POLLIN, 0}}};
        if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    }
}

void Discovery::look_at_news() {
    KernelNews news;
    recorder_.read_news(news);
    for (const KernelNews::Cgroup& cgroup : news.cgroups) look_at_cgroup(cgroup);
    // It may have run its files for long; their mappings were of no interest then.
    for (const auto& [pid, since_ns] : news.selected) look_at_process(pid, since_ns);
    look_at_mappings();
    if (!news.lost_some) return;
    for (const uint64_t id : options_.selection.find_cgroups()) {
        if (const Status wanted = recorder_.want_cgroup(id); !wanted) warn(wanted.error().what);
    }
    look_at_all();
}

void Discovery::look_at_mappings() {
    if (watch_ == nullptr) return;
    mappings_.clear();
    const uint64_t lost = watch_->read(mappings_);
    for (const NewMapping& mapping : mappings_) {
        if (stop_.load(std::memory_order_acquire)) return;
        if (is_of_interest(mapping.pid)) look_at(mapping);
    }
    if (lost == 0) return;
    counts_.mappings_lost += lost;
    look_at_all();
}

// What is in it by now and what comes is recorded; the news of it follow.
void Discovery::look_at_cgroup(const KernelNews::Cgroup& cgroup) {
    if (!options_.selection.wants_cgroup(cgroup.path, cgroup.id)) return;
    if (const Status wanted = recorder_.want_cgroup(cgroup.id); !wanted) {
        warn(wanted.error().what);
    }
}

void Discovery::look_at_process(uint32_t pid, uint64_t since_ns) {
    if (watch_ == nullptr || pid == options_.own_pid) return;
    NewMapping cause;
    cause.pid = cause.tid = pid;
    cause.time_ns = since_ns;
    for (LateFile& file : open_mapped_files(pid)) {
        if (stop_.load(std::memory_order_acquire)) return;
        tell_titles(file, cause);
        take_file(std::move(file), cause);
    }
}

bool Discovery::is_of_interest(uint32_t pid) const {
    if (pid == options_.own_pid) return false;
    return recorder_.is_recorded(pid) ||
           std::ranges::find(options_.processes, pid) != options_.processes.end();
}

void Discovery::look_at(const NewMapping& mapping) {
    if (options_.on_program) options_.on_program(mapping.pid);
    const auto [position, is_new] = seen_inodes_.emplace(mapping.device_major, mapping.device_minor,
                                                         mapping.inode, mapping.generation);
    if (!is_new) return;
    auto file = open_late_file(mapping);
    if (!file) {
        ++counts_.files_gone;
        seen_inodes_.erase(position);  // the next process that runs it may live longer
        return;
    }
    take_file(std::move(*file), mapping);
}

void Discovery::look_at_all() {
    for (const uint32_t pid : list_processes()) {
        if (is_of_interest(pid)) look_at_process(pid, boottime_ns());
        if (stop_.load(std::memory_order_acquire)) return;
    }
}

void Discovery::take_file(LateFile file, const NewMapping& cause) {
    AttachPlan addition;
    if (!options_.events.empty() && options_.seen.add(file.stamp)) {
        addition = compile_events_for(file);
        if (!addition.files.empty()) note_matches(addition);
    }
    addition.first_probe_id = next_probe_id_;
    const size_t known = packed_.size();
    if (options_.packs != nullptr && options_.packed.add(file.stamp)) {
        add_packs(file, cause, addition);
    }
    if (addition.files.empty()) return;
    const size_t refused = recorder_.refused().size();
    const bool is_armed = arm(addition, file, cause);
    note_refused_places(std::span(packed_).subspan(known), addition,
                        std::span(recorder_.refused()).subspan(refused));
    if (is_armed) return;
    for (PackedFile& packed : std::span(packed_).subspan(known)) {
        for (PackedProbe& probe : packed.probes) {
            if (!probe.is_armed()) continue;
            probe.status = PackedStatus::refused;
            probe.reason = "could not be attached when the file came; the warnings say why";
        }
    }
    note_lost_replacements(std::span(packed_).subspan(known));
}

AttachPlan Discovery::compile_events_for(const LateFile& file) {
    const bool is_named = !options_.named.add(file.stamp);
    auto addition = compile_late_file(is_named ? unnamed_events_ : options_.events, file,
                                      next_probe_id_, points_, options_.compile);
    if (!addition) {
        warn(std::move(addition).error().within(file.file.shown_path).what);
        return {};
    }
    for (std::string& text : addition->warnings) warn(std::move(text));
    return std::move(*addition);
}

void Discovery::add_packs(const LateFile& file, const NewMapping& cause, AttachPlan& addition) {
    const PackSubject subject{
        .file = file, .is_executable = is_program_of(cause.pid, file.stamp), .pids = {cause.pid}};
    PackAddition added = options_.packs->add(subject, addition, points_);
    for (std::string& text : added.warnings) warn(std::move(text));
    for (PackedFile& packed : added.files) {
        if (packed_.size() < kPackedFilesMax) packed_.push_back(std::move(packed));
    }
}

bool Discovery::arm(const AttachPlan& addition, const LateFile& file, const NewMapping& cause) {
    const auto programs = static_cast<uint32_t>(addition.programs.size());
    if (programs > programs_left_) {
        ++counts_.files_left_out;
        warn(
            fmt::format("{}: its {} probe sites are left out, because {} of the {} that may be "
                        "armed late are used; name fewer with a narrower pattern",
                        file.file.shown_path, programs, options_.programs_max - programs_left_,
                        options_.programs_max));
        return false;
    }
    // Given out now, whatever comes of it: the output knows them from here on.
    programs_left_ -= programs;
    next_probe_id_ += programs;
    queue_.add(addition.points, addition.probes);
    points_.insert(points_.end(), addition.points.begin(), addition.points.end());
    probes_.insert(probes_.end(), addition.probes.begin(), addition.probes.end());
    if (const Status attached = recorder_.attach_late(addition); !attached) {
        ++counts_.files_left_out;
        warn(attached.error().what);
        return false;
    }
    size_t sites = 0;
    for (const AttachFile& part : addition.files) sites += part.sites.size();
    const uint64_t now_ns = boottime_ns();
    counts_.files += 1;
    counts_.sites += sites;
    tell(file, cause, sites, now_ns);
    return true;
}

void Discovery::tell(const LateFile& file,
                     const NewMapping& cause,
                     uint64_t sites,
                     uint64_t now_ns) {
    const uint64_t delay_ns = now_ns > cause.time_ns ? now_ns - cause.time_ns : 0;
    counts_.delay_max_ns = std::max(counts_.delay_max_ns, delay_ns);
    ++records_;
    const std::array numbers{sites, delay_ns / 1000};
    queue_.add({now_ns, make_own_hit({.probe_id = TR_PROBE_armed,
                                      .pid = cause.pid,
                                      .tid = cause.tid,
                                      .time_ns = now_ns,
                                      .text = file.file.shown_path,
                                      .numbers = numbers})});
}

void Discovery::tell_titles(const LateFile& file, const NewMapping& cause) {
    if (options_.packs == nullptr) return;
    const PackSubject subject{
        .file = file, .is_executable = is_program_of(cause.pid, file.stamp), .pids = {cause.pid}};
    for (const ProcessTitle& title : options_.packs->titles(subject)) {
        ++titles_;
        const uint64_t now_ns = boottime_ns();
        queue_.add({now_ns, make_own_hit({.probe_id = TR_PROBE_titled,
                                          .pid = cause.pid,
                                          .tid = cause.tid,
                                          .time_ns = now_ns,
                                          .text = title.name})});
    }
}

void Discovery::note_matches(const AttachPlan& addition) {
    if (waiting_.empty()) return;
    // Compiled are all events; the addition's waiting ones are those that this file lacks.
    std::erase_if(waiting_, [&](const std::string& text) {
        return std::ranges::none_of(addition.waiting,
                                    [&](const WaitingProbe& probe) { return probe.spec == text; });
    });
}

void Discovery::warn(std::string text) {
    if (warnings_.size() >= kWarningsMax) return;
    if (std::ranges::find(warnings_, text) == warnings_.end()) warnings_.push_back(std::move(text));
}

}  // namespace tracer
