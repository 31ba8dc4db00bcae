// SPDX-License-Identifier: Apache-2.0
//
// What Perfetto would report, drop or draw wrong in a file that is right by the format; the parts
// of fxt_reader that look across records. Not for tests.
#pragma once

#include "support/fxt_reader.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace tracer::test {

void add_problem(FxtFile& file, uint64_t offset, std::string_view what);

// Adds the problems of a whole file and counts what is open at its end.
void check_fxt(FxtFile& file);

// What all rules share: where they are, and which threads the file's objects introduce.
struct FxtCheckState {
    explicit FxtCheckState(FxtFile& checked) : file(checked) {}
    void problem(std::string_view what) { add_problem(file, offset, what); }
    // Ids are 32 bits wide in Perfetto.
    void check_id(uint64_t id);

    FxtFile& file;
    uint64_t offset = 0;                                // of the record being checked
    std::unordered_map<uint64_t, uint64_t> process_of;  // by tid
};

// Slices, flows and counters. Events come in the order of their times, equal ones in that of the
// file; times are in nanoseconds.
class FxtEventRules {
public:
    explicit FxtEventRules(FxtCheckState& state) : state_(state) {}
    // `end_ns`: of a complete event.
    void check(const FxtEvent& event, uint64_t time_ns, std::optional<uint64_t> end_ns);
    void finish();

private:
    struct Slice {
        bool is_open = false;  // by a begin; else over at end_ns
        uint64_t end_ns = 0;
        std::string_view category;
        std::string_view name;
        FxtArgumentRange arguments;
    };
    using Stack = std::vector<Slice>;  // a track's slices, the innermost last
    using ThreadId = std::pair<uint64_t, uint64_t>;

    void push(Stack& stack, const FxtEvent& event, uint64_t time_ns, std::optional<uint64_t> end);
    bool make_room(Stack& stack, uint64_t time_ns, std::optional<uint64_t> end_ns);
    void end_duration(Stack& stack, const FxtEvent& event, uint64_t time_ns);
    void end_async(Stack& stack, const FxtEvent& event, uint64_t time_ns);
    void close(Stack& stack, size_t slice, const FxtEvent& event, uint64_t time_ns);
    void check_flow(const Stack& stack, const FxtEvent& event);
    void check_counter(const FxtEvent& event);
    void check_keys(FxtArgumentRange paths, FxtArgumentRange keys);

    FxtCheckState& state_;
    std::map<ThreadId, Stack> threads_;
    std::map<uint64_t, Stack> asyncs_;              // by id, whatever the process
    std::map<uint64_t, std::set<uint64_t>> flows_;  // live ones: id, processes that began it
};

// Objects and scheduling records.
class FxtScheduleRules {
public:
    explicit FxtScheduleRules(FxtCheckState& state) : state_(state) {}
    // All objects come before the first timed record, as they hold for the whole file.
    void check_object(const FxtKernelObject& object);
    void check_switch(const FxtSwitch& record);
    void check_switch(const FxtLegacySwitch& record);
    void check_wakeup(const FxtWakeup& record);

private:
    void check_cpu(uint16_t cpu);
    void check_out_state(uint8_t state);
    bool check_weight(FxtArgumentRange arguments, std::string_view name);
    void check_scheduled(uint64_t tid);
    void hand_over(uint16_t cpu, uint64_t out_tid, uint64_t in_tid);

    FxtCheckState& state_;
    std::map<uint16_t, uint64_t> running_;           // by CPU
    std::unordered_map<uint64_t, uint16_t> cpu_of_;  // of running tids
};

}  // namespace tracer::test
