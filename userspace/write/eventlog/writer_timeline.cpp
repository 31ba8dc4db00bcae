// SPDX-License-Identifier: Apache-2.0
//
// Threads on capabilities. The model's events are taken for what they say of now: where what came
// before does not fit (a switch was lost, two CPUs disagree), what the log has open is closed
// first, with the status that claims nothing. So the decoder's promises are not needed for a valid
// log, only for a true one. Called by the eventlog writer.
#include "write/eventlog/writer_timeline.h"

#include "write/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer::eventlog {
namespace {

constexpr uint32_t kIndexMax = 1U << 24;  // lives in one recording; beyond is a bug, not a machine

// Ids in the log are 32 bits that no two threads may share, dead ones included. Linux's are below
// 2^22 (PID_MAX_LIMIT) and are used again.
constexpr uint32_t kTidBits = 22;
constexpr uint32_t kLifeMax = 1023;

constexpr CapsetId kProcessCapset = 0;
constexpr CapsetId kClockCapset = 1;

// "name/tid", and of which process where that is not told by the name.
std::string make_label(const model::Thread& thread) {
    std::string raw = thread.thread_name;
    if (!thread.is_track) raw += fmt::format("/{}", thread.tid);
    if (thread.is_track || thread.tid != thread.pid)
        raw += fmt::format(" of {}/{}", thread.process_name, thread.pid);
    std::string label;
    append_as_utf8(label, raw);
    label.resize(utf8_prefix(label, Timeline::kLabelBytesMax).size());
    return label;
}

}  // namespace

bool Timeline::define(const model::Thread& thread) {
    const auto index = static_cast<uint32_t>(thread.index);
    if (index >= kIndexMax || thread.tid >= (1U << kTidBits) || thread.tid == 0) return false;
    if (index >= by_index_.size()) by_index_.resize(index + size_t{1}, nullptr);
    Task*& task = by_index_[index];
    if (task == nullptr) {
        task = &tasks_.emplace_back();
        task->index = thread.index;
        task->pid = thread.pid;
        task->tid = thread.tid;
        task->life = thread.thread_life;
        task->is_track = thread.is_track;
    }
    relabel(*task, make_label(thread));
    return true;
}

void Timeline::relabel(Task& task, std::string label) {
    if (label == task.label) return;
    task.label = std::move(label);
    if (task.is_relabelled) return;
    task.is_relabelled = true;
    relabelled_.push_back(&task);
}

Task& Timeline::add(ThreadId id) {
    Task* task = free_.empty() ? &tasks_.emplace_back() : free_.back();
    if (!free_.empty()) free_.pop_back();
    *task = Task{};
    task->id = id;
    return *task;
}

void Timeline::forget(Task& task) {
    std::erase(relabelled_, &task);
    free_.push_back(&task);
}

bool Timeline::introduce(CapNo cap, uint64_t ns, Task& task) {
    return task.phase == Task::Phase::unborn && create(cap, ns, task);
}

Task* Timeline::find(model::ThreadIndex index) {
    const auto position = static_cast<size_t>(index);
    return position < by_index_.size() ? by_index_[position] : nullptr;
}

CapNo Timeline::cap_of_cpu(uint16_t cpu, uint64_t ns) {
    const auto known = cap_by_cpu_.find(cpu);
    if (known != cap_by_cpu_.end()) return known->second;
    if (caps_.size() > kCapabilityMax || !blocks_.add_cap()) return kNoCapability;
    const auto cap = static_cast<CapNo>(caps_.size());
    caps_.push_back({.cpu = cpu});
    cap_by_cpu_.emplace(cpu, cap);
    announce(cap, ns);
    return cap;
}

void Timeline::announce(CapNo cap, uint64_t ns) {
    blocks_.post(kNoCapability, [&](Poster to) { return to.post_cap_create(ns, cap); });
    for (const CapsetId capset : {kProcessCapset, kClockCapset}) {
        blocks_.post(kNoCapability,
                     [&](Poster to) { return to.post_capset_assign_cap(ns, capset, cap); });
    }
    if (caps_[cap].cpu == cap) return;
    const std::string text = fmt::format("capability {} is CPU {}", cap, caps_[cap].cpu);
    blocks_.post(kNoCapability, [&](Poster to) { return to.post_log_message(ns, text); });
}

void Timeline::switch_cpu(
    CapNo number, uint64_t ns, Task* out, StopStatus status, Task* in, uint32_t info) {
    Cap& cap = caps_[number];
    if (cap.running != nullptr && cap.running != out) stop(ns, *cap.running, StopStatus::none);
    // Its switch-in was not seen, but it did run until now: since the begin if this is the first
    // thing heard of the CPU, else nobody knows since when. What has ended cannot end again.
    if (out != nullptr && cap.running != out && out->phase != Task::Phase::finished) {
        const bool ran_from_begin = cap.is_untold && out->phase != Task::Phase::running;
        static_cast<void>(run(number, ran_from_begin ? 0 : ns, *out));
    }
    if (out != nullptr && cap.running == out) stop(ns, *out, status, info);
    cap.is_untold = false;
    if (in != nullptr) static_cast<void>(run(number, ns, *in));
}

void Timeline::hear_of(CapNo number, Task& task) {
    if (!caps_[number].is_untold) return;
    caps_[number].is_untold = false;
    const bool is_free = task.phase != Task::Phase::running && task.phase != Task::Phase::finished;
    if (is_free) static_cast<void>(run(number, 0, task));
}

bool Timeline::wake(CapNo waker_cap, uint64_t ns, Task& task, CapNo target_cap) {
    if (task.phase == Task::Phase::running || task.phase == Task::Phase::finished) return false;
    if (task.phase == Task::Phase::unborn && !create(waker_cap, ns, task)) return false;
    ns = place(waker_cap, ns, task);
    blocks_.post(waker_cap,
                 [&](Poster to) { return to.post_thread_wakeup(ns, *task.id, target_cap); });
    task.phase = Task::Phase::queued;
    return true;
}

void Timeline::break_cap(CapNo number, uint64_t ns) {
    Cap& cap = caps_[number];
    if (cap.running != nullptr) stop(ns, *cap.running, StopStatus::none);
    cap.is_untold = false;
}

void Timeline::break_all(uint64_t ns) {
    for (size_t cap = 0; cap < caps_.size(); ++cap) break_cap(static_cast<CapNo>(cap), ns);
}

void Timeline::write_labels(uint64_t ns) {
    for (Task* task : relabelled_) {
        if (task->is_track) write_track_label(ns, *task);
        const bool is_alive =
            task->phase != Task::Phase::unborn && task->phase != Task::Phase::finished;
        // A thread that the log does not know yet gets its label when it is created.
        if (task->is_relabelled && is_alive) write_label(task->event_cap, ns, *task);
        task->is_relabelled = false;
    }
    relabelled_.clear();
}

// In no thread's event is there a place for it.
void Timeline::write_track_label(uint64_t ns, const Task& task) {
    constexpr size_t kWordsBytesMax = 64;
    const std::string text = fmt::format("line {} is {}", task.number(),
                                         utf8_prefix(task.label, kLabelBytesMax - kWordsBytesMax));
    blocks_.post(kNoCapability, [&](Poster to) { return to.post_user_message(ns, text); });
}

void Timeline::begin_log() {
    relabelled_.clear();
    for (size_t cap = 0; cap < caps_.size(); ++cap) announce(static_cast<CapNo>(cap), 0);
    for (Task& task : tasks_) {
        task.event_cap = kNoCapability;
        task.event_ns = 0;
        task.is_relabelled = task.is_track;
        if (task.is_track) relabelled_.push_back(&task);
        if (task.phase != Task::Phase::finished) task.phase = Task::Phase::unborn;
    }
    for (size_t i = 0; i < caps_.size(); ++i) {
        Task* const running = caps_[i].running;
        caps_[i].running = nullptr;
        if (running != nullptr) static_cast<void>(run(static_cast<CapNo>(i), 0, *running));
    }
}

uint64_t Timeline::place(CapNo cap, uint64_t ns, Task& task) const {
    ns = std::max(ns, blocks_.last_ns(cap));
    // On another capability a tie would be broken by the order of blocks.
    if (task.event_cap != cap && task.event_cap != kNoCapability) {
        ns = std::max(ns, task.event_ns + 1);
    }
    task.event_ns = ns;
    task.event_cap = cap;
    return ns;
}

bool Timeline::create(CapNo cap, uint64_t ns, Task& task) {
    if (!task.id) {
        uint32_t& next_life = next_life_[task.tid];
        const uint32_t life = std::max(next_life, task.life);
        if (life > kLifeMax) return false;
        next_life = life + 1;
        task.id = task.tid | life << kTidBits;
    }
    ns = place(cap, ns, task);
    blocks_.post(cap, [&](Poster to) { return to.post_create_thread(ns, *task.id); });
    write_label(cap, ns, task);
    task.phase = Task::Phase::queued;
    return true;
}

void Timeline::write_label(CapNo cap, uint64_t ns, Task& task) {
    task.is_relabelled = false;
    if (task.label.empty()) return;
    blocks_.post(cap, [&](Poster to) { return to.post_thread_label(ns, *task.id, task.label); });
}

// False: the log has no id left for it.
bool Timeline::run(CapNo number, uint64_t ns, Task& task) {
    Cap& cap = caps_[number];
    if (cap.running == &task) return true;
    if (task.phase == Task::Phase::running) stop(ns, task, StopStatus::none);
    if (cap.running != nullptr) stop(ns, *cap.running, StopStatus::none);
    // A thread that runs after its end is another to readers: the leader of a process, whose number
    // another thread takes by exec (de_thread() in the kernel's fs/exec.c).
    if (task.phase == Task::Phase::finished) {
        task.phase = Task::Phase::unborn;
        task.id.reset();
    }
    if (task.phase == Task::Phase::unborn && !create(number, ns, task)) return false;
    ns = place(number, ns, task);
    blocks_.post(number, [&](Poster to) { return to.post_run_thread(ns, *task.id); });
    task.phase = Task::Phase::running;
    cap.running = &task;
    return true;
}

void Timeline::stop(uint64_t ns, Task& task, StopStatus status, uint32_t info) {
    const CapNo cap = task.event_cap;
    ns = place(cap, ns, task);
    blocks_.post(cap, [&](Poster to) { return to.post_stop_thread(ns, *task.id, status, info); });
    caps_[cap].running = nullptr;
    task.phase = status == StopStatus::finished ? Task::Phase::finished : Task::Phase::stopped;
}

}  // namespace tracer::eventlog
