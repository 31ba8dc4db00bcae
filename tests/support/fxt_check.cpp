// SPDX-License-Identifier: Apache-2.0
//
// What must hold across the records of a Fuchsia trace for Perfetto to draw it right: spans nest,
// CPUs hand over from thread to thread, scheduled threads belong to a process. Events are taken
// in the order readers sort them: by time, then by place in the file.
#include "support/fxt_parser.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr uint16_t kCpuMax = 4095;  // Perfetto's trace processor aborts beyond
constexpr uint8_t kOutStateMax = 5;

class FxtChecker {
public:
    explicit FxtChecker(FxtFile& file) : file_(file) {}

    void run() {
        if (file_.tick_rates.empty() && !file_.events.empty()) {
            add_problem(file_, 0, "no initialization record");
        }
        read_objects();
        for (const FxtRecord* record : in_time_order()) {
            offset_ = record->offset;
            if (record->kind == FxtRecordKind::event) check_event(file_.events[record->item]);
            if (record->kind == FxtRecordKind::context_switch) {
                check_switch(file_.switches[record->item]);
            }
            if (record->kind == FxtRecordKind::wakeup) check_wakeup(file_.wakeups[record->item]);
        }
        for (const auto& [thread, slices] : slices_) {
            file_.open_span_count += static_cast<size_t>(std::count_if(
                slices.begin(), slices.end(), [](const Slice& slice) { return slice.is_open; }));
        }
    }

private:
    struct Slice {
        bool is_open;  // by a begin; else complete, until end
        uint64_t end;
    };

    void problem(std::string_view what) { add_problem(file_, offset_, what); }

    uint64_t time_of(const FxtRecord& record) const {
        switch (record.kind) {
            case FxtRecordKind::event:
                return file_.events[record.item].time;
            case FxtRecordKind::context_switch:
                return file_.switches[record.item].time;
            case FxtRecordKind::wakeup:
                return file_.wakeups[record.item].time;
            default:
                return 0;
        }
    }

    std::vector<const FxtRecord*> in_time_order() const {
        std::vector<std::pair<uint64_t, const FxtRecord*>> timed;
        for (const FxtRecord& record : file_.records) {
            if (record.kind == FxtRecordKind::event ||
                record.kind == FxtRecordKind::context_switch ||
                record.kind == FxtRecordKind::wakeup) {
                timed.emplace_back(time_of(record), &record);
            }
        }
        std::stable_sort(timed.begin(), timed.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<const FxtRecord*> ordered;
        ordered.reserve(timed.size());
        for (const auto& [time, record] : timed) ordered.push_back(record);
        return ordered;
    }

    void read_objects() {
        for (const FxtRecord& record : file_.records) {
            if (record.kind != FxtRecordKind::kernel_object) continue;
            offset_ = record.offset;
            const FxtKernelObject& object = file_.objects[record.item];
            check_id(object.koid);
            if (object.koid == 0) problem("an object of id 0, which readers show as a thread");
            if (object.type != 2) continue;
            const FxtValue* process = file_.find(object.arguments, "process");
            const auto* koid = process == nullptr ? nullptr : std::get_if<FxtKoid>(process);
            if (koid == nullptr) {
                problem(fmt::format("thread {} without a process argument", object.koid));
                continue;
            }
            check_id(koid->id);
            const auto [known, is_new] = process_of_.emplace(object.koid, koid->id);
            if (!is_new && known->second != koid->id) {
                problem(fmt::format("thread {} moves from process {} to {}", object.koid,
                                    known->second, koid->id));
            }
        }
    }

    void check_id(uint64_t id) {
        if (id > std::numeric_limits<uint32_t>::max()) {
            problem(fmt::format("id {} has more bits than readers keep", id));
        }
    }

    void check_time(uint64_t time) {
        if (time > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
            problem(fmt::format("time {} has more bits than readers keep", time));
        }
    }

    void check_event(const FxtEvent& event) {
        check_time(event.time);
        check_id(event.pid);
        check_id(event.tid);
        if (event.tid == 0) problem("an event of thread 0");
        if (const auto known = process_of_.find(event.tid);
            known != process_of_.end() && known->second != event.pid) {
            problem(fmt::format("event in process {}, but thread {} belongs to {}", event.pid,
                                event.tid, known->second));
        }
        auto& slices = slices_[{event.pid, event.tid}];
        switch (event.type) {
            case FxtEventType::duration_begin:
                close_before(slices, event.time);
                slices.push_back({true, 0});
                break;
            case FxtEventType::duration_end:
                check_end(slices, event);
                break;
            case FxtEventType::duration_complete:
                check_complete(slices, event);
                break;
            case FxtEventType::counter:
                check_counter(event);
                break;
            default:
                break;
        }
    }

    static void close_before(std::vector<Slice>& slices, uint64_t time) {
        while (!slices.empty() && !slices.back().is_open && slices.back().end <= time) {
            slices.pop_back();
        }
    }

    void check_end(std::vector<Slice>& slices, const FxtEvent& event) {
        close_before(slices, event.time);
        if (slices.empty()) {
            problem(fmt::format("end of {} without a begin", event.name));
            return;
        }
        if (!slices.back().is_open) {
            problem(fmt::format("end of {} inside a complete slice", event.name));
            return;
        }
        slices.pop_back();
    }

    void check_complete(std::vector<Slice>& slices, const FxtEvent& event) {
        if (event.last_word < event.time) problem("a slice that ends before it begins");
        close_before(slices, event.time);
        if (!slices.empty() && !slices.back().is_open && slices.back().end < event.last_word) {
            problem("a slice that overlaps another in part");
        }
        slices.push_back({false, event.last_word});
    }

    void check_counter(const FxtEvent& event) {
        if (event.arguments.count == 0) problem("a counter without values");
        for (const FxtArgument& argument : file_.arguments_of(event.arguments)) {
            const bool is_number = std::holds_alternative<int32_t>(argument.value) ||
                                   std::holds_alternative<uint32_t>(argument.value) ||
                                   std::holds_alternative<int64_t>(argument.value) ||
                                   std::holds_alternative<uint64_t>(argument.value) ||
                                   std::holds_alternative<double>(argument.value);
            if (!is_number) problem(fmt::format("counter value {} is no number", argument.name));
        }
    }

    // True if the weight is there and marks the idle loop.
    bool check_weight(FxtArgumentRange arguments, std::string_view name) {
        const FxtValue* value = file_.find(arguments, name);
        if (value == nullptr) return false;
        const auto* weight = std::get_if<int32_t>(value);
        if (weight == nullptr) problem(fmt::format("{} is not an int32", name));
        return weight != nullptr && *weight == std::numeric_limits<int32_t>::min();
    }

    void check_scheduled(uint64_t tid) {
        check_id(tid);
        if (tid != 0 && process_of_.count(tid) == 0) {
            problem(fmt::format("scheduled thread {} has no object with its process", tid));
            process_of_[tid] = 0;  // said once
        }
    }

    void check_switch(const FxtSwitch& record) {
        check_time(record.time);
        if (record.cpu > kCpuMax) problem(fmt::format("CPU {} is too large", record.cpu));
        if (record.out_state > kOutStateMax) {
            problem(fmt::format("outgoing state {} is unknown", record.out_state));
        }
        if ((record.in_tid == 0) != check_weight(record.arguments, "incoming_weight")) {
            problem("the incoming side is marked idle and is not, or the other way round");
        }
        if ((record.out_tid == 0) != check_weight(record.arguments, "outgoing_weight")) {
            problem("the outgoing side is marked idle and is not, or the other way round");
        }
        check_scheduled(record.out_tid);
        check_scheduled(record.in_tid);

        uint64_t& running = running_[record.cpu];
        // Idle on either side: the file does not say what ran, or only some threads are recorded.
        if (running != 0 && record.out_tid != running) {
            problem(fmt::format("CPU {} switches away from {} while it runs {}", record.cpu,
                                record.out_tid, running));
        }
        cpu_of_.erase(running);
        running = record.in_tid;
        if (running == 0) return;
        const auto [known, is_new] = cpu_of_.emplace(running, record.cpu);
        if (!is_new) {
            problem(fmt::format("thread {} runs on CPU {} and on CPU {}", running, known->second,
                                record.cpu));
        }
    }

    void check_wakeup(const FxtWakeup& record) {
        check_time(record.time);
        if (record.cpu > kCpuMax) problem(fmt::format("CPU {} is too large", record.cpu));
        if (record.tid == 0) problem("a wakeup of thread 0");
        check_scheduled(record.tid);
        static_cast<void>(check_weight(record.arguments, "weight"));
        if (const FxtValue* waker = file_.find(record.arguments, "waker")) {
            const auto* koid = std::get_if<FxtKoid>(waker);
            if (koid == nullptr) {
                problem("waker is not a koid");
            } else {
                check_scheduled(koid->id);
            }
        }
        if (cpu_of_.count(record.tid) != 0) {
            problem(fmt::format("wakeup of thread {}, which is running", record.tid));
        }
    }

    FxtFile& file_;
    uint64_t offset_ = 0;
    std::map<std::pair<uint64_t, uint64_t>, std::vector<Slice>> slices_;  // by pid, tid
    std::unordered_map<uint64_t, uint64_t> process_of_;                   // by tid
    std::map<uint16_t, uint64_t> running_;                                // by CPU
    std::unordered_map<uint64_t, uint16_t> cpu_of_;                       // of running tids
};

}  // namespace

void check_fxt(FxtFile& file) {
    FxtChecker(file).run();
}

}  // namespace tracer::test
