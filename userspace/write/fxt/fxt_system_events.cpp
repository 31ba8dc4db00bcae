// SPDX-License-Identifier: Apache-2.0
//
// The system's own events as Fuchsia trace records: what CPUs run (scheduling records in their
// newer form, which Perfetto turns into CPU and thread-state tracks), the lives of threads, what
// was lost, and clock readings. The other half of fxt_writer.cpp.
#include "write/fxt/fxt_writer.h"

#include <algorithm>
#include <limits>

namespace tracer::fxt {
namespace {

// The weight that marks a side of a switch as the idle loop; without it readers show thread 0 as
// busy.
constexpr int32_t kIdleWeight = std::numeric_limits<int32_t>::min();

constexpr std::string_view kLossProcessName = "tracer: losses";

OutgoingState outgoing_state(model::ThreadState state) {
    switch (state) {
        case model::ThreadState::runnable:
        case model::ThreadState::unknown:
            return OutgoingState::running;
        case model::ThreadState::sleeping:
        case model::ThreadState::uninterruptible:  // the format has one kind of wait
            return OutgoingState::blocked;
        case model::ThreadState::stopped:
            return OutgoingState::suspended;
        case model::ThreadState::dead:
            return OutgoingState::dead;
    }
    return OutgoingState::blocked;
}

uint64_t header_of(const StringRef& name, ArgumentType type) {
    return argument_header(type, 1 + value_words(type), name.index_bits());
}

}  // namespace

FxtWriter::SchedulingArguments::SchedulingArguments(const OwnNames& names)
    : incoming_weight(header_of(names.incoming_weight, ArgumentType::int32)),
      outgoing_weight(header_of(names.outgoing_weight, ArgumentType::int32)),
      weight(header_of(names.weight, ArgumentType::int32)),
      waker(header_of(names.waker, ArgumentType::koid)) {}

inline WriteStatus FxtWriter::switch_side(model::ThreadIndex index, uint64_t& id) {
    if (index == model::kIdleThread) return WriteStatus::ok;
    Task* task = tasks_.find(index);
    if (task == nullptr) return WriteStatus::refused;
    if (task->is_idle) return WriteStatus::ok;
    id = task->ids.thread;
    return make_known(*task) ? WriteStatus::ok : WriteStatus::no_room;
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::Switch& event) {
    if (event.cpu > kCpuMax) return WriteStatus::refused;
    uint64_t out = 0;
    uint64_t in = 0;
    WriteStatus status = std::max(switch_side(event.out, out), switch_side(event.in, in));
    if (status == WriteStatus::ok) {
        status =
            mend_switches(event.cpu) ? write_switch(time_ns, event, out, in) : WriteStatus::no_room;
    }
    Cpu& cpu = cpu_state(event.cpu);
    if (status == WriteStatus::ok) {
        cpu.running = in;
        cpu.running_priority = event.in_priority;
        cpu.last_switch_ns = time_ns;
    } else if (!cpu.unwritten_switch_ns) {
        cpu.unwritten_switch_ns = time_ns;
    }
    return status;
}

WriteStatus FxtWriter::write_switch(uint64_t time_ns,
                                    const model::Switch& event,
                                    uint64_t out,
                                    uint64_t in) {
    const auto weight = [](uint64_t id, int32_t priority) {
        return argument_payload_32(static_cast<uint32_t>(id == 0 ? kIdleWeight : priority));
    };
    if (!is_caught_up()) return WriteStatus::no_room;
    constexpr size_t kWords = kSwitchWords + 2;
    Record record(stream_.window(), kWords);
    if (!record.has_room()) return WriteStatus::no_room;
    record.word(switch_header(kWords, 2, event.cpu, outgoing_state(event.out_state)));
    record.word(time_ns);
    record.word(out);
    record.word(in);
    record.word(scheduling_.incoming_weight | weight(in, event.in_priority));
    record.word(scheduling_.outgoing_weight | weight(out, event.out_priority));
    record.commit();
    return WriteStatus::ok;
}

// Ends what the file says the CPU runs, where a switch away from it is missing: readers would
// draw it as running until the end of the trace.
bool FxtWriter::write_switch_to_idle(uint16_t cpu, uint64_t time_ns) {
    Cpu& state = cpu_state(cpu);
    if (state.running == 0) return true;
    const uint64_t then_ns = std::max(time_ns, state.last_switch_ns);
    // Nothing is known of the thread from here on. "Waiting" is the state that a later wakeup or
    // switch can follow; "runnable" would be shown as a wait for the CPU.
    const model::Switch to_idle{.cpu = cpu,
                                .out = model::kIdleThread,
                                .out_state = model::ThreadState::sleeping,
                                .out_priority = state.running_priority,
                                .in = model::kIdleThread,
                                .in_priority = 0};
    if (write_switch(then_ns, to_idle, state.running, 0) != WriteStatus::ok) return false;
    state.running = 0;
    state.last_switch_ns = then_ns;
    return true;
}

bool FxtWriter::write_unwritten_switch(uint16_t cpu) {
    Cpu& state = cpu_state(cpu);
    if (!write_switch_to_idle(cpu, *state.unwritten_switch_ns)) return false;
    state.unwritten_switch_ns.reset();
    return true;
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::Wakeup& event) {
    Task* woken = tasks_.find(event.woken);
    if (event.cpu > kCpuMax || woken == nullptr || woken->is_idle) return WriteStatus::refused;
    if (!make_known(*woken)) return WriteStatus::no_room;
    Task* waker = nullptr;
    if (event.waker != model::kIdleThread) {
        waker = tasks_.find(event.waker);
        if (waker == nullptr) return WriteStatus::refused;
        if (waker->is_idle) waker = nullptr;
        if (waker != nullptr && !make_known(*waker)) return WriteStatus::no_room;
    }
    return write_wakeup(time_ns, event, *woken, waker);
}

WriteStatus FxtWriter::write_wakeup(uint64_t time_ns,
                                    const model::Wakeup& event,
                                    const Task& woken,
                                    const Task* waker) {
    const size_t arguments = waker != nullptr ? 2 : 1;
    const size_t words = kWakeupWords + 1 + (waker != nullptr ? 2 : 0);
    Record record(stream_.window(), words);
    if (!record.has_room()) return WriteStatus::no_room;
    record.word(wakeup_header(words, arguments, event.cpu));
    record.word(time_ns);
    record.word(woken.ids.thread);
    record.word(scheduling_.weight |
                argument_payload_32(static_cast<uint32_t>(int32_t{event.woken_priority})));
    if (waker != nullptr) {
        record.word(scheduling_.waker);
        record.word(waker->ids.thread);
    }
    record.commit();
    return WriteStatus::ok;
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::Life& event) {
    Task* task = tasks_.find(event.thread);
    if (task == nullptr || task->is_idle) return WriteStatus::refused;
    ArgumentList arguments;
    const Name* name = nullptr;
    switch (event.kind) {
        case model::LifeKind::fork: {
            const Task* child = tasks_.find(event.child);
            if (child == nullptr) return WriteStatus::refused;
            name = &names_.fork;
            arguments.push(arg(names_.child_pid, uint32_t{child->pid}));
            arguments.push(arg(names_.child_tid, uint32_t{child->tid}));
            break;
        }
        case model::LifeKind::exec:
            name = &names_.exec;
            arguments.push(
                arg(names_.path, clean_text(event.path, repaired_[0], counters_.strings_cut)));
            break;
        case model::LifeKind::exit:
            name = &names_.exit;
            arguments.push(arg(names_.code, event.exit_code));
            task->has_exited = true;
            break;
    }
    return write_event(*task, {EventType::instant, time_ns, names_.task, *name}, arguments);
}

// A slice over the time in which events are missing, in a lane of its CPU, and the running total
// as a counter.
WriteStatus FxtWriter::say(uint64_t time_ns, const model::Loss& event) {
    if (event.cpu > kCpuMax || event.begin_ns > time_ns) return WriteStatus::refused;
    if (event.cause == model::LossCause::ring_full &&
        (!mend_switches(event.cpu) || !write_switch_to_idle(event.cpu, event.begin_ns))) {
        return WriteStatus::no_room;
    }
    Task& lane = tasks_.own({kLossProcess, kLossLanes + event.cpu}, kLossProcessName,
                            "CPU " + std::to_string(event.cpu));
    if (event.cpu >= loss_lane_end_ns_.size()) loss_lane_end_ns_.resize(size_t{event.cpu} + 1);
    uint64_t& lane_end_ns = loss_lane_end_ns_[event.cpu];
    // Readers drop a slice that overlaps the one before it in part.
    const uint64_t begin_ns = std::max(event.begin_ns, lane_end_ns);
    const uint64_t end_ns = std::max(time_ns, begin_ns);

    ArgumentList arguments;
    arguments.push(arg(names_.count, event.count));
    arguments.push(arg(names_.cpu, uint32_t{event.cpu}));
    arguments.push(
        arg(names_.cause, StringRef(names_.loss_causes[static_cast<size_t>(event.cause)])));
    const WriteStatus status = write_event(
        lane, {EventType::duration_complete, begin_ns, names_.tracer, names_.lost_events, end_ns},
        arguments);
    if (status != WriteStatus::ok) return status;
    lane_end_ns = end_ns;
    lost_events_ += event.count;

    ArgumentList total;
    total.push(arg(names_.events, lost_events_));
    // The total's next value makes up for one that finds no room; the slice above is the record.
    static_cast<void>(
        write_event(lane, {EventType::counter, time_ns, names_.tracer, names_.lost, 0}, total));
    return WriteStatus::ok;
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::ClockReading& event) {
    last_clocks_ = {time_ns, event};
    return say_clocks(time_ns, event);
}

WriteStatus FxtWriter::say_clocks(uint64_t time_ns, const model::ClockReading& event) {
    Task& task = tasks_.own({kLossProcess, kLossProcess}, kLossProcessName, "clocks");
    ArgumentList arguments;
    arguments.push(arg(names_.monotonic_ns, event.monotonic_ns));
    arguments.push(arg(names_.realtime_ns, event.realtime_ns));
    return write_event(task, {EventType::instant, time_ns, names_.tracer, names_.clock}, arguments);
}

}  // namespace tracer::fxt
