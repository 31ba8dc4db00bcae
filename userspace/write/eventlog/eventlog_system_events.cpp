// SPDX-License-Identifier: Apache-2.0
//
// What the system does, as eventlog events: what CPUs run, the lives of threads, what was lost, and
// the wall clock. The other half of eventlog_writer.cpp.
#include "write/cause_names.h"
#include "write/eventlog/eventlog_writer.h"
#include "write/eventlog/writer_text.h"

#include <iterator>

#include <fmt/format.h>

namespace tracer::eventlog {
namespace {

constexpr CapsetId kClockCapset = 1;
constexpr uint64_t kNsPerSecond = 1'000'000'000;

// GHC names what a thread waits for; the kernel says only how. Statuses that no reader of any
// version refuses or takes for something else, which leaves out the plain "blocked" (4).
StopStatus stop_status(model::ThreadState state) {
    switch (state) {
        case model::ThreadState::runnable:
            return StopStatus::yielding;
        case model::ThreadState::sleeping:
            return StopStatus::blocked_on_mvar;
        case model::ThreadState::uninterruptible:
            return StopStatus::blocked_on_read;
        case model::ThreadState::dead:
            return StopStatus::finished;
        case model::ThreadState::stopped:
        case model::ThreadState::unknown:
            return StopStatus::none;
    }
    return StopStatus::none;
}

}  // namespace

bool EventlogWriter::switch_side(model::ThreadIndex index, Task*& task) {
    if (index == model::kIdleThread) return true;
    task = timeline_.find(index);
    return task != nullptr;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::Switch& change) {
    if (is_runtime_) return WriteStatus::ok;
    Task* out = nullptr;
    Task* in = nullptr;
    if (!switch_side(change.out, out) || !switch_side(change.in, in)) return WriteStatus::refused;
    const uint64_t ns = log_time(event.time_ns);
    if (!make_room(ns, 0)) return WriteStatus::no_room;
    const CapNo cap = timeline_.cap_of_cpu(change.cpu, ns);
    if (cap == kNoCapability) return WriteStatus::refused;
    timeline_.switch_cpu(cap, ns, out, stop_status(change.out_state), in);
    for (Task* task : {out, in}) {
        if (task != nullptr) task->heard_cap = cap;
    }
    return WriteStatus::ok;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::Wakeup& wakeup) {
    if (is_runtime_) return WriteStatus::ok;
    Task* woken = nullptr;
    if (!switch_side(wakeup.woken, woken) || woken == nullptr) return WriteStatus::refused;
    const uint64_t ns = log_time(event.time_ns);
    if (!make_room(ns, 0)) return WriteStatus::no_room;
    const CapNo target = timeline_.cap_of_cpu(wakeup.cpu, ns);
    const CapNo waker = event.cpu == model::kNoCpu ? target : timeline_.cap_of_cpu(event.cpu, ns);
    if (waker == kNoCapability || target == kNoCapability) return WriteStatus::refused;
    // Of the whole system every switch is known, so the waker will be seen to stop. Of a process
    // only its own: the waker may be any thread, and would seem to run for ever.
    Task* const by = timeline_.find(wakeup.waker);
    if (by != nullptr && recording_.cpu_count != 0 && event.cpu != model::kNoCpu) {
        timeline_.hear_of(waker, *by);
    }
    return timeline_.wake(waker, ns, *woken, target) ? WriteStatus::ok : WriteStatus::refused;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::Life& life) {
    Task* task = timeline_.find(life.thread);
    Task* child = nullptr;
    if (task == nullptr) return WriteStatus::refused;
    text_.clear();
    const auto end = std::back_inserter(text_);
    switch (life.kind) {
        case model::LifeKind::fork:
            child = timeline_.find(life.child);
            if (child == nullptr) return WriteStatus::refused;
            fmt::format_to(end, "fork tid={} child={}", task->tid, child->label);
            break;
        case model::LifeKind::exec:
            fmt::format_to(end, "exec tid={} path=", task->tid);
            append_quoted(text_, life.path);
            break;
        case model::LifeKind::exit:
            fmt::format_to(end, "exit tid={} code={}", task->tid, life.exit_code);
            break;
    }
    cut_text();
    if (!make_room(log_time(event.time_ns), text_.size())) return WriteStatus::no_room;
    post_message(place_of(event, task));
    return WriteStatus::ok;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::Loss& loss) {
    const uint64_t ns = log_time(event.time_ns);
    // The recording's own output: of every CPU, and said of none.
    const bool is_of_all = loss.cause == model::LossCause::sink_full;
    const size_t stops = is_runtime_ ? runtime_.cap_count() : is_of_all ? timeline_.cap_count() : 1;
    if (!make_room(ns, stops * Timeline::kStopBytes)) return WriteStatus::no_room;
    CapNo cap = kNoCapability;
    if (is_runtime_) {
        runtime_.break_all(log_time(loss.begin_ns));
    } else if (is_of_all) {
        timeline_.break_all(log_time(loss.begin_ns));
    } else {
        cap = timeline_.cap_of_cpu(loss.cpu, ns);
        if (cap != kNoCapability) timeline_.break_cap(cap, log_time(loss.begin_ns));
    }
    const uint64_t gap_ns = event.time_ns > loss.begin_ns ? event.time_ns - loss.begin_ns : 0;
    text_.clear();
    fmt::format_to(std::back_inserter(text_), "lost {} events in {} ns: {}", loss.count, gap_ns,
                   name_of(loss.cause));
    blocks_.post(cap, [&](Poster to) { return to.post_user_marker(ns, text_); });
    return WriteStatus::ok;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::ClockReading& reading) {
    const uint64_t ns = log_time(event.time_ns);
    if (!make_room(ns, 0)) return WriteStatus::no_room;
    clocks_ = Clocks{event.time_ns, reading.realtime_ns};
    // One a log: eventlog2html and ThreadScope take any for the log's beginning.
    if (!has_wall_clock_) write_wall_clock(ns, reading.realtime_ns);
    has_wall_clock_ = true;
    return WriteStatus::ok;
}

void EventlogWriter::write_wall_clock(uint64_t ns, uint64_t realtime_ns) {
    blocks_.post(kNoCapability, [&](Poster to) {
        return to.post_wall_clock_time(ns, kClockCapset, realtime_ns / kNsPerSecond,
                                       static_cast<uint32_t>(realtime_ns % kNsPerSecond));
    });
}

}  // namespace tracer::eventlog
