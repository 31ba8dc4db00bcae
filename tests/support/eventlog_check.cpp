// SPDX-License-Identifier: Apache-2.0
//
// The validators of ghc-events as small machines: each takes one event after the other and says
// whether it may come now. Like the library's they stop at the first that may not.
#include "support/eventlog_check.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace tracer::test {
namespace {

using Id = EventlogId;

Id id_of(const EventlogEvent& event) {
    return static_cast<Id>(event.id);
}

// Later times are a log that does not begin at its start: ThreadScope's axis begins at 0.
constexpr uint64_t kFirstTimeMax_ns = 1'000'000'000;

constexpr uint64_t kHeapOverflow = 1;
constexpr uint64_t kStackOverflow = 2;
constexpr uint64_t kFinished = 5;
constexpr uint64_t kForeignCall = 6;

bool goes_on_at_once(uint64_t status) {
    return status == kHeapOverflow || status == kStackOverflow || status == kForeignCall;
}

// "threadrun": a capability runs one thread at most, a thread is on one capability at most.
class ThreadRunMachine {
public:
    bool accept(const EventlogEvent& event) {
        switch (id_of(event)) {
            case Id::run_thread:
                return event.capability && run(*event.capability, event.number("thread"));
            case Id::stop_thread:
                return event.capability && stop(event.number("thread"));
            default:
                return true;
        }
    }

private:
    bool run(uint16_t capability, uint64_t thread) {
        if (running_.contains(capability) || capability_of_.contains(thread)) return false;
        running_[capability] = thread;
        capability_of_[thread] = capability;
        return true;
    }

    bool stop(uint64_t thread) {
        const auto found = capability_of_.find(thread);
        if (found == capability_of_.end()) return false;
        running_.erase(found->second);
        capability_of_.erase(found);
        return true;
    }

    std::map<uint16_t, uint64_t> running_;
    std::map<uint64_t, uint16_t> capability_of_;
};

// "threads": the life of each thread, among events that "threadrun" accepts.
class ThreadsMachine {
public:
    bool accept(const EventlogEvent& event) {
        if (!runs_.accept(event)) return false;
        State& state = states_[event.number("thread")];
        if (state == State::final) return true;
        switch (id_of(event)) {
            case Id::create_thread:
                return go(state, state == State::initial, State::queued);
            case Id::run_thread:
                return go(state, state == State::queued || state == State::stopped, State::running);
            case Id::stop_thread: {
                const uint64_t status = event.number("status");
                const State after = status == kFinished       ? State::final
                                    : goes_on_at_once(status) ? State::queued
                                                              : State::stopped;
                return go(state, state == State::running, after);
            }
            case Id::thread_wakeup:
                return go(state, state == State::queued || state == State::stopped, State::queued);
            default:
                return true;
        }
    }

private:
    enum class State : uint8_t { initial, queued, running, stopped, final };

    static bool go(State& state, bool is_allowed, State next) {
        if (is_allowed) state = next;
        return is_allowed;
    }

    ThreadRunMachine runs_;
    std::map<uint64_t, State> states_;
};

// "threadpool": which threads there are.
class ThreadPoolMachine {
public:
    bool accept(const EventlogEvent& event) {
        const uint64_t thread = event.number("thread");
        switch (id_of(event)) {
            case Id::create_thread:
                return event.capability && alive_.insert(thread).second;
            case Id::stop_thread:
                if (!event.capability) return false;
                return event.number("status") != kFinished || alive_.erase(thread) == 1;
            case Id::migrate_thread:
                return event.capability && alive_.contains(thread);
            default:
                return true;
        }
    }

private:
    std::set<uint64_t> alive_;
};

// "tasks": tasks and the kernel threads they stand for. "taskpool", which has `checks_capability`:
// the capability that each task is on, without regard to kernel threads.
class TasksMachine {
public:
    explicit TasksMachine(bool checks_capability) : checks_capability_(checks_capability) {}

    bool accept(const EventlogEvent& event) {
        const uint64_t task = event.number("task");
        switch (id_of(event)) {
            case Id::task_create:
                return create(task, event.number("cap"), event.number("kernel_tid"));
            case Id::task_delete:
                return remove(task);
            case Id::task_migrate:
                return migrate(task, event.number("cap"), event.number("new_cap"));
            default:
                return true;
        }
    }

private:
    struct Task {
        uint64_t capability;
        uint64_t kernel_tid;
    };

    bool create(uint64_t task, uint64_t capability, uint64_t kernel_tid) {
        if (tasks_.contains(task)) return false;
        if (!checks_capability_ && !kernel_tids_.insert(kernel_tid).second) return false;
        tasks_[task] = {capability, kernel_tid};
        return true;
    }

    bool remove(uint64_t task) {
        const auto found = tasks_.find(task);
        if (found == tasks_.end()) return false;
        kernel_tids_.erase(found->second.kernel_tid);
        tasks_.erase(found);
        return true;
    }

    bool migrate(uint64_t task, uint64_t from, uint64_t to) {
        const auto found = tasks_.find(task);
        if (found == tasks_.end()) return false;
        if (checks_capability_ && found->second.capability != from) return false;
        found->second.capability = to;
        return true;
    }

    bool checks_capability_;
    std::map<uint64_t, Task> tasks_;
    std::set<uint64_t> kernel_tids_;
};

// "sparks": threads that were announced to run sparks only: run, take a spark, stop, run again.
class SparksMachine {
public:
    bool accept(const EventlogEvent& event) {
        const uint64_t thread = event.number("thread");
        switch (id_of(event)) {
            case Id::create_spark_thread:
                return event.capability && states_.emplace(thread, State::initial).second;
            case Id::run_thread:
                return event.capability && run(*event.capability, thread);
            case Id::stop_thread:
                return event.capability && stop(thread, event.number("status"));
            case Id::spark_run:
            case Id::spark_steal:
                return !event.capability || take_spark(*event.capability);
            default:
                return true;
        }
    }

private:
    enum class State : uint8_t { initial, created, running, paused, final };

    bool run(uint16_t capability, uint64_t thread) {
        if (running_.contains(capability)) return false;
        const auto found = states_.find(thread);
        if (found == states_.end()) return true;
        for (const auto& [other, running] : running_) {
            if (running == thread) return false;
        }
        running_[capability] = thread;
        State& state = found->second;
        if (state == State::final) return true;
        if (state != State::initial && state != State::paused) return false;
        state = state == State::initial ? State::created : State::running;
        return true;
    }

    bool stop(uint64_t thread, uint64_t status) {
        std::erase_if(running_, [&](const auto& entry) { return entry.second == thread; });
        const auto found = states_.find(thread);
        if (found == states_.end() || found->second == State::final) return true;
        if (found->second != State::running) return false;
        found->second = status == kFinished ? State::final : State::paused;
        return true;
    }

    bool take_spark(uint16_t capability) {
        const auto found = running_.find(capability);
        if (found == running_.end()) return true;
        State& state = states_[found->second];
        if (state == State::final) return true;
        if (state != State::created && state != State::running) return false;
        state = State::running;
        return true;
    }

    std::map<uint16_t, uint64_t> running_;
    std::map<uint64_t, State> states_;
};

// The machine's own events only: others would give ThreadsMachine states for thread 0.
bool is_thread_event(const EventlogEvent& event) {
    switch (id_of(event)) {
        case Id::create_thread:
        case Id::run_thread:
        case Id::stop_thread:
        case Id::migrate_thread:
        case Id::thread_wakeup:
        case Id::create_spark_thread:
            return true;
        default:
            return false;
    }
}

bool is_task_event(const EventlogEvent& event) {
    return event.is(Id::task_create) || event.is(Id::task_migrate) || event.is(Id::task_delete);
}

// What ThreadScope's summary and bars look for by capability, and stop the program without.
bool needs_capability(const EventlogEvent& event) {
    switch (id_of(event)) {
        case Id::create_thread:
        case Id::run_thread:
        case Id::stop_thread:
        case Id::thread_runnable:
        case Id::migrate_thread:
        case Id::thread_wakeup:
        case Id::gc_start:
        case Id::gc_end:
        case Id::gc_idle:
        case Id::gc_work:
        case Id::gc_done:
        case Id::gc_global_sync:
        case Id::gc_stats_ghc:
        case Id::heap_allocated:
        case Id::heap_size:
        case Id::heap_live:
        case Id::spark_counters:
            return true;
        default:
            return false;
    }
}

using Sorted = std::vector<const EventlogEvent*>;

Sorted sorted_by_time(const EventlogFile& file) {
    Sorted sorted;
    for (const auto& event : file.events) {
        const bool is_read = event.decoding == EventlogDecoding::decoded;
        if (is_read && !event.is(Id::block_marker)) sorted.push_back(&event);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->time_ns < b->time_ns; });
    return sorted;
}

std::string describe(const EventlogEvent& event) {
    const std::string capability =
        event.capability ? fmt::format("capability {}", *event.capability) : "no capability";
    return fmt::format("{} at {:#x}, time {}, {}", event.name, event.offset, event.time_ns,
                       capability);
}

template <typename Machine>
void validate(std::string_view name,
              Machine machine,
              const Sorted& events,
              bool (*concerns)(const EventlogEvent&),
              std::vector<std::string>& refusals) {
    for (const EventlogEvent* event : events) {
        if (concerns(*event) && !machine.accept(*event)) {
            refusals.push_back(fmt::format("{}: {}", name, describe(*event)));
            return;
        }
    }
}

// The stop statuses of GHC 7.8.2 and of 7.6 are told from today's by which ids a header declares.
void check_header(const EventlogReader& reader, std::vector<std::string>& traps) {
    for (const Id id : {Id::user_marker, Id::hack_bug_t9003}) {
        if (reader.find_type(static_cast<uint16_t>(id)) == nullptr) {
            traps.push_back(
                fmt::format("{} is not declared: stop statuses are taken for those of an old GHC",
                            newest_eventlog_shape(static_cast<uint16_t>(id))->name));
        }
    }
    const EventlogType* create = reader.find_type(static_cast<uint16_t>(Id::create_thread));
    if (create != nullptr && create->size == 8) {
        traps.emplace_back("CREATE_THREAD is declared with 8 bytes: taken for a log of GHC 6");
    }
}

void check_capabilities(const Sorted& events, std::vector<std::string>& traps) {
    std::set<uint16_t> used;
    for (const EventlogEvent* event : events) {
        if (event->capability) used.insert(*event->capability);
    }
    uint32_t expected = 0;
    for (const uint16_t capability : used) {
        if (capability != expected) {
            traps.push_back(fmt::format("capability {} has no events, {} has: rows without content",
                                        expected, capability));
            return;
        }
        expected += 1;
    }
}

}  // namespace

EventlogCheck check_eventlog(const EventlogFile& file) {
    EventlogCheck check;
    const Sorted events = sorted_by_time(file);
    const auto concerns_sparks = [](const EventlogEvent& event) {
        return is_thread_event(event) || event.is(Id::spark_run) || event.is(Id::spark_steal);
    };
    validate("threads", ThreadsMachine(), events, is_thread_event, check.refusals);
    validate("threadpool", ThreadPoolMachine(), events, is_thread_event, check.refusals);
    validate("threadrun", ThreadRunMachine(), events, is_thread_event, check.refusals);
    validate("taskpool", TasksMachine(true), events, is_task_event, check.refusals);
    validate("tasks", TasksMachine(false), events, is_task_event, check.refusals);
    validate("sparks", SparksMachine(), events, concerns_sparks, check.refusals);

    check_header(file.reader, check.traps);
    if (!events.empty() && events.front()->time_ns > kFirstTimeMax_ns) {
        check.traps.push_back(
            fmt::format("the first event is at {} ns, not about 0", events.front()->time_ns));
    }
    check_capabilities(events, check.traps);
    for (const EventlogEvent* event : events) {
        if (!event->capability && needs_capability(*event)) {
            check.traps.push_back(describe(*event));
            break;
        }
    }
    const auto ends_drawing = [](const std::string& refusal) {
        return refusal.starts_with("tasks:");
    };
    if (std::any_of(check.refusals.begin(), check.refusals.end(), ends_drawing)) {
        check.traps.emplace_back("an invalid task event: everything from there on is not drawn");
    }
    return check;
}

}  // namespace tracer::test
