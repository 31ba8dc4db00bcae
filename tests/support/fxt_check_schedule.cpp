// SPDX-License-Identifier: Apache-2.0
//
// How Perfetto turns objects and scheduling records into processes, CPU tracks and thread states,
// as far as it can refuse one or draw it wrong: CPUs hand over from thread to thread, scheduled
// threads belong to a process, only threads that sleep are woken. Called by fxt_check.cpp.
#include "support/fxt_check.h"

#include <limits>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr uint16_t kCpuMax = 4095;  // Perfetto's trace processor aborts beyond
constexpr uint8_t kOutStateMax = 5;

}  // namespace

void FxtScheduleRules::check_object(const FxtKernelObject& object) {
    state_.check_id(object.koid);
    if (object.koid == 0) state_.problem("an object of id 0, which readers show as a thread");
    if (object.type != kFxtObjectThread) return;
    const FxtValue* process = state_.file.find(object.arguments, "process");
    const auto* koid = process == nullptr ? nullptr : std::get_if<FxtKoid>(process);
    if (koid == nullptr) {
        state_.problem(fmt::format("thread {} without a process argument", object.koid));
        return;
    }
    state_.check_id(koid->id);
    const auto [known, is_new] = state_.process_of.emplace(object.koid, koid->id);
    if (!is_new && known->second != koid->id) {
        state_.problem(fmt::format("thread {} moves from process {} to {}", object.koid,
                                   known->second, koid->id));
    }
}

void FxtScheduleRules::check_cpu(uint16_t cpu) {
    if (cpu > kCpuMax) state_.problem(fmt::format("CPU {} is too large", cpu));
}

void FxtScheduleRules::check_out_state(uint8_t state) {
    if (state > kOutStateMax) {
        state_.problem(fmt::format("outgoing state {} is unknown", state));
    }
}

// True if the weight is there and marks the idle loop.
bool FxtScheduleRules::check_weight(FxtArgumentRange arguments, std::string_view name) {
    const FxtValue* value = state_.file.find(arguments, name);
    if (value == nullptr) return false;
    const auto* weight = std::get_if<int32_t>(value);
    if (weight == nullptr) state_.problem(fmt::format("{} is not an int32", name));
    return weight != nullptr && *weight == std::numeric_limits<int32_t>::min();
}

void FxtScheduleRules::check_scheduled(uint64_t tid) {
    state_.check_id(tid);
    if (tid != 0 && !state_.process_of.contains(tid)) {
        state_.problem(fmt::format("scheduled thread {} has no object with its process", tid));
        state_.process_of[tid] = 0;  // said once
    }
}

void FxtScheduleRules::check_switch(const FxtSwitch& record) {
    check_cpu(record.cpu);
    check_out_state(record.out_state);
    if ((record.in_tid == 0) != check_weight(record.arguments, "incoming_weight")) {
        state_.problem("the incoming side is marked idle and is not, or the other way round");
    }
    if ((record.out_tid == 0) != check_weight(record.arguments, "outgoing_weight")) {
        state_.problem("the outgoing side is marked idle and is not, or the other way round");
    }
    check_scheduled(record.out_tid);
    check_scheduled(record.in_tid);
    hand_over(record.cpu, record.out_tid, record.in_tid);
}

// The older form has no mark for the idle loop: it is what has priority 0 and no process, where
// the process is that of the thread's object, not the one in the record.
void FxtScheduleRules::check_switch(const FxtLegacySwitch& record) {
    check_out_state(record.out_state);
    check_scheduled(record.out_tid);
    check_scheduled(record.in_tid);
    const auto reads_as_idle = [&](uint64_t tid, uint8_t priority) {
        const auto known = state_.process_of.find(tid);
        return priority == 0 && (known == state_.process_of.end() || known->second == 0);
    };
    if ((record.in_tid == 0) != reads_as_idle(record.in_tid, record.in_priority)) {
        state_.problem("the incoming side reads as idle and is not, or the other way round");
    }
    if ((record.out_tid == 0) != reads_as_idle(record.out_tid, record.out_priority)) {
        state_.problem("the outgoing side reads as idle and is not, or the other way round");
    }
    hand_over(record.cpu, record.out_tid, record.in_tid);
}

void FxtScheduleRules::hand_over(uint16_t cpu, uint64_t out_tid, uint64_t in_tid) {
    uint64_t& running = running_[cpu];
    // Idle on either side: the file does not say what ran, or only some threads are recorded.
    if (running != 0 && out_tid != running) {
        state_.problem(
            fmt::format("CPU {} switches away from {} while it runs {}", cpu, out_tid, running));
    }
    cpu_of_.erase(running);
    running = in_tid;
    if (running == 0) return;
    const auto [known, is_new] = cpu_of_.emplace(running, cpu);
    if (!is_new) {
        state_.problem(
            fmt::format("thread {} runs on CPU {} and on CPU {}", running, known->second, cpu));
    }
}

void FxtScheduleRules::check_wakeup(const FxtWakeup& record) {
    check_cpu(record.cpu);
    if (record.tid == 0) state_.problem("a wakeup of thread 0");
    check_scheduled(record.tid);
    static_cast<void>(check_weight(record.arguments, "weight"));
    if (const FxtValue* waker = state_.file.find(record.arguments, "waker")) {
        const auto* koid = std::get_if<FxtKoid>(waker);
        if (koid == nullptr) {
            state_.problem("waker is not a koid");
        } else {
            check_scheduled(koid->id);
        }
    }
    if (cpu_of_.contains(record.tid)) {
        state_.problem(fmt::format("wakeup of thread {}, which is running", record.tid));
    }
}

}  // namespace tracer::test
