// SPDX-License-Identifier: Apache-2.0
//
// How Perfetto turns events into slices, arrows and counters, as far as it can refuse one: a stack
// of slices a thread and one for each asynchronous id, live flows, the values of counters.
// Called by fxt_check.cpp in the order of time.
#include "support/fxt_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr size_t kDepthMax = 512;  // Perfetto drops what is deeper

bool is_number(const FxtValue& value) {
    return std::holds_alternative<int32_t>(value) || std::holds_alternative<uint32_t>(value) ||
           std::holds_alternative<int64_t>(value) || std::holds_alternative<uint64_t>(value) ||
           std::holds_alternative<double>(value);
}

// Whether `key` is a node of the tree that `path` leads through: gc of gc.gen and of gc[0].
bool leads_through(std::string_view path, std::string_view key) {
    return path.size() > key.size() && path.starts_with(key) &&
           (path[key.size()] == '.' || path[key.size()] == '[');
}

}  // namespace

void FxtEventRules::check(const FxtEvent& event, uint64_t time_ns, std::optional<uint64_t> end_ns) {
    state_.check_id(event.pid);
    state_.check_id(event.tid);
    if (event.tid == 0) state_.problem("an event of thread 0");
    if (const auto known = state_.process_of.find(event.tid);
        known != state_.process_of.end() && known->second != event.pid) {
        state_.problem(fmt::format("event in process {}, but thread {} belongs to {}", event.pid,
                                   event.tid, known->second));
    }
    Stack& stack = threads_[{event.pid, event.tid}];
    switch (event.type) {
        case FxtEventType::instant:
            push(stack, event, time_ns, time_ns);
            break;
        case FxtEventType::counter:
            check_counter(event);
            break;
        case FxtEventType::duration_begin:
            push(stack, event, time_ns, std::nullopt);
            break;
        case FxtEventType::duration_end:
            end_duration(stack, event, time_ns);
            break;
        case FxtEventType::duration_complete:
            if (event.last_word < event.time) {
                state_.problem("a slice that ends before it begins");
                break;
            }
            push(stack, event, time_ns, end_ns);
            break;
        case FxtEventType::async_begin:
            push(asyncs_[event.last_word], event, time_ns, std::nullopt);
            break;
        case FxtEventType::async_instant:
            push(asyncs_[event.last_word], event, time_ns, time_ns);
            break;
        case FxtEventType::async_end:
            end_async(asyncs_[event.last_word], event, time_ns);
            break;
        case FxtEventType::flow_begin:
        case FxtEventType::flow_step:
        case FxtEventType::flow_end:
            check_flow(stack, event);
            break;
    }
}

void FxtEventRules::finish() {
    const auto count_open = [](const Stack& stack) {
        return static_cast<size_t>(std::count_if(stack.begin(), stack.end(),
                                                 [](const Slice& slice) { return slice.is_open; }));
    };
    for (const auto& [thread, stack] : threads_) state_.file.open_span_count += count_open(stack);
    for (const auto& [id, stack] : asyncs_) state_.file.open_async_count += count_open(stack);
    for (const auto& [id, processes] : flows_) state_.file.open_flow_count += processes.size();
}

// A slice without `end` is open.
void FxtEventRules::push(Stack& stack,
                         const FxtEvent& event,
                         uint64_t time_ns,
                         std::optional<uint64_t> end) {
    check_keys(event.arguments, event.arguments);
    if (!make_room(stack, time_ns, end)) return;
    if (stack.size() >= kDepthMax) {
        state_.problem(fmt::format("{} is deeper than {} slices", event.name, kDepthMax));
        return;
    }
    stack.push_back(
        {!end.has_value(), end.value_or(0), event.category, event.name, event.arguments});
}

// Takes what is over off the stack; false where the new slice would be dropped.
bool FxtEventRules::make_room(Stack& stack, uint64_t time_ns, std::optional<uint64_t> end_ns) {
    const Slice* open_child = nullptr;
    for (size_t i = stack.size(); i-- > 0;) {
        const Slice& slice = stack[i];
        if (slice.is_open) {
            open_child = &slice;
            continue;
        }
        if (open_child != nullptr && slice.end_ns < time_ns) {
            state_.problem(fmt::format("{} is still open when {} around it is over",
                                       open_child->name, slice.name));
            stack.resize(i);
            open_child = nullptr;
        } else if (open_child == nullptr && slice.end_ns <= time_ns) {
            stack.resize(i);
        } else if (end_ns.has_value() && *end_ns > slice.end_ns) {
            state_.problem("a slice that overlaps another in part");
            return false;
        }
    }
    return true;
}

// A thread's end closes the innermost open slice, whatever its name.
void FxtEventRules::end_duration(Stack& stack, const FxtEvent& event, uint64_t time_ns) {
    for (size_t i = stack.size(); i-- > 0;) {
        if (!stack[i].is_open) continue;
        close(stack, i, event, time_ns);
        return;
    }
    state_.problem(fmt::format("end of {} without a begin", event.name));
}

// An asynchronous end closes the innermost open slice of its category and name.
void FxtEventRules::end_async(Stack& stack, const FxtEvent& event, uint64_t time_ns) {
    for (size_t i = stack.size(); i-- > 0;) {
        const Slice& slice = stack[i];
        if (!slice.is_open || slice.category != event.category || slice.name != event.name) {
            continue;
        }
        close(stack, i, event, time_ns);
        return;
    }
    state_.problem(
        fmt::format("asynchronous end of {} repeats no begin's category and name", event.name));
}

void FxtEventRules::close(Stack& stack, size_t slice, const FxtEvent& event, uint64_t time_ns) {
    const FxtArgumentRange begin = stack[slice].arguments;
    check_keys(begin, event.arguments);
    check_keys(event.arguments, begin);
    check_keys(event.arguments, event.arguments);
    const bool has_live_child =
        std::any_of(stack.begin() + static_cast<ptrdiff_t>(slice) + 1, stack.end(),
                    [&](const Slice& child) { return child.is_open || child.end_ns > time_ns; });
    if (!has_live_child) {
        stack.resize(slice);
        return;
    }
    state_.problem(fmt::format("end of {} inside another slice", event.name));
    stack[slice].is_open = false;
    stack[slice].end_ns = time_ns;
}

// A flow event belongs to the slice that is topmost on its thread, over or not.
void FxtEventRules::check_flow(const Stack& stack, const FxtEvent& event) {
    const uint64_t id = event.last_word;
    if (stack.empty()) {
        state_.problem(fmt::format("no slice around an event of flow {}", id));
        return;
    }
    if (event.type == FxtEventType::flow_begin) {
        if (!flows_[id].insert(event.pid).second) {
            state_.problem(fmt::format("flow {} begins twice", id));
        }
        return;
    }
    const auto flow = flows_.find(id);
    if (flow == flows_.end()) {
        state_.problem(fmt::format("flow {} was not begun", id));
        return;
    }
    std::set<uint64_t>& processes = flow->second;
    auto process = processes.find(event.pid);
    if (process == processes.end()) {
        if (processes.size() > 1) {
            state_.problem(fmt::format("flow {} was begun by several other processes", id));
            return;
        }
        process = processes.begin();
    }
    if (event.type != FxtEventType::flow_end) return;
    processes.erase(process);
    if (processes.empty()) flows_.erase(flow);
}

void FxtEventRules::check_counter(const FxtEvent& event) {
    if (event.arguments.count == 0) state_.problem("a counter without values");
    for (const FxtArgument& argument : state_.file.arguments_of(event.arguments)) {
        if (!is_number(argument.value)) {
            state_.problem(fmt::format("counter value {} is no number", argument.name));
        }
    }
}

// Names are paths of a tree in the details of a slice, which fail where one is a leaf and also
// leads further. A slice has the arguments of its begin and of its end.
void FxtEventRules::check_keys(FxtArgumentRange paths, FxtArgumentRange keys) {
    for (const FxtArgument& path : state_.file.arguments_of(paths)) {
        if (path.name.find_first_of(".[") == std::string_view::npos) continue;
        for (const FxtArgument& key : state_.file.arguments_of(keys)) {
            if (!leads_through(path.name, key.name)) continue;
            state_.problem(
                fmt::format("argument {} is a value, and {} a part of it", key.name, path.name));
        }
    }
}

}  // namespace tracer::test
