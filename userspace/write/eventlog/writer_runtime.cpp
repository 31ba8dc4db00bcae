// SPDX-License-Identifier: Apache-2.0
//
// Haskell threads on capabilities, and collections, in the order in which GHC's own log has their
// events. The timeline beneath keeps the log valid whatever is missing: a thread that is met in
// mid-flight is created right before its first event. Called by the eventlog writer.
#include "write/eventlog/writer_runtime.h"

#include "write/text.h"

#include <algorithm>
#include <utility>

namespace tracer::eventlog {
namespace {

constexpr CapsetId kHeapCapset = 0;
constexpr uint64_t kCapabilitiesMax = 1024;  // beyond any -N; a number that is none is a misreading
constexpr uint64_t kWordBytes = 8;
// Of GHC's memory on x86-64 (rts/include/Constants.h): a megablock holds 252 blocks of 4 KiB beside
// their descriptors.
constexpr uint64_t kMegablockBytes = 1 << 20;
constexpr uint64_t kBlocksOfMegablock = 252;
constexpr uint64_t kBlockBytes = 4096;

struct Stop {
    StopStatus status = StopStatus::none;
    uint32_t info = 0;
};

// What StgRun returned (StgThreadReturnCode), and of a thread that waits what for: rts/Constants.h
// numbers these from 1, and the log's statuses are 6 more (rts/Trace.c).
Stop stop_of(const NamedValues& values) {
    constexpr uint64_t kHeapOverflow = 1;
    constexpr uint64_t kStackOverflow = 2;
    constexpr uint64_t kYielding = 3;
    constexpr uint64_t kBlocked = 4;
    constexpr uint64_t kFinished = 5;
    constexpr uint64_t kWhyToStatus = 6;
    switch (values.number_or_0("code")) {
        case kHeapOverflow:
            return {StopStatus::heap_overflow};
        case kStackOverflow:
            return {StopStatus::stack_overflow, static_cast<uint32_t>(values.number_or_0("stack"))};
        case kYielding:
            return {StopStatus::yielding};
        case kFinished:
            return {StopStatus::finished};
        case kBlocked:
            break;
        default:
            return {};
    }
    const auto why = values.number("why");
    if (!why || *why > UINT8_MAX) return {};
    const auto status = static_cast<StopStatus>(*why + kWhyToStatus);
    return {is_portable(status) ? status : StopStatus::none};
}

}  // namespace

std::optional<uint64_t> NamedValues::number(std::string_view name) const {
    const size_t count = std::min(arguments_.size(), values_.size());
    for (size_t i = 0; i < count; ++i) {
        const model::ValueType type = values_[i].type;
        if (arguments_[i].name == name && model::has_names(type)) return values_[i].bits;
    }
    return std::nullopt;
}

bool NamedValues::declares(std::string_view name) const {
    return std::ranges::find(arguments_, name, &model::Argument::name) != arguments_.end();
}

std::string_view NamedValues::first_text() const {
    const auto text = std::ranges::find(values_, model::ValueType::string,
                                        [](const auto& it) { return it.type; });
    return text == values_.end() ? std::string_view() : text->text;
}

CapNo RuntimeLog::capability(uint64_t ns, std::optional<uint64_t> number) {
    if (!number || *number >= kCapabilitiesMax) return kNoCapability;
    const auto wanted = static_cast<uint16_t>(*number);
    for (auto next = static_cast<uint16_t>(timeline_.cap_count()); next < wanted; ++next) {
        if (timeline_.cap_of_cpu(next, ns) == kNoCapability) return kNoCapability;
    }
    return timeline_.cap_of_cpu(wanted, ns);
}

Task* RuntimeLog::thread(std::optional<uint64_t> number) {
    if (!number) return nullptr;
    // GHC's log cuts its 64 bits in the same way.
    const auto id = static_cast<uint32_t>(*number);
    Task*& known = threads_[id];
    if (known == nullptr) known = &timeline_.add(id);
    return known;
}

void RuntimeLog::forget_if_finished(uint32_t number) {
    const auto known = threads_.find(number);
    if (known == threads_.end() || known->second->phase != Task::Phase::finished) return;
    timeline_.forget(*known->second);
    threads_.erase(known);
}

// Once: all of them are.
void RuntimeLog::tell_misread(uint64_t ns) {
    if (std::exchange(is_misread_told_, true)) return;
    blocks_.post(kNoCapability, [&](Poster to) {
        return to.post_log_message(
            ns,
            "threads are left out: one that runs does not lead back to its "
            "capability, so this runtime keeps them elsewhere than is known");
    });
}

bool RuntimeLog::begin_run(uint64_t ns, model::ThreadIndex runner, const NamedValues& values) {
    // GHC runs a thread on no capability but its own (ASSERT(t->cap == cap) in rts/Schedule.c).
    if (values.declares("home") && values.number("home") != values.number("capability")) {
        tell_misread(ns);
        return false;
    }
    const CapNo cap = capability(ns, values.number("capability"));
    if (cap == kNoCapability) return false;
    Task* const task = thread(values.number("thread"));
    if (task == nullptr) return false;
    timeline_.switch_cpu(cap, ns, nullptr, StopStatus::none, task);
    running_[static_cast<uint32_t>(runner)] = {cap, *task->id};
    return true;
}

bool RuntimeLog::end_run(uint64_t ns,
                         model::ThreadIndex runner,
                         model::SpanEndCause cause,
                         const NamedValues& values) {
    const auto found = running_.find(static_cast<uint32_t>(runner));
    if (found == running_.end()) return false;
    const Running running = found->second;
    running_.erase(found);
    const auto known = threads_.find(running.thread);
    // A capability that was given to another thread since has stopped this one.
    if (known == threads_.end() || known->second->phase != Task::Phase::running) return true;
    Stop stop;
    if (cause == model::SpanEndCause::returned) stop = stop_of(values);
    if (cause == model::SpanEndCause::until) stop = {StopStatus::foreign_call};
    timeline_.switch_cpu(running.cap, ns, known->second, stop.status, nullptr, stop.info);
    forget_if_finished(running.thread);
    return true;
}

void RuntimeLog::begin_gc(uint64_t ns, model::ThreadIndex runner, const NamedValues& values) {
    collections_[static_cast<uint32_t>(runner)] = {ns, values.number_or_0("generation")};
}

// A collection is written whole, when its capability is known: no event of that capability lies
// between, since all of them stand still.
bool RuntimeLog::end_gc(uint64_t ns,
                        model::ThreadIndex runner,
                        model::SpanEndCause cause,
                        const NamedValues& values) {
    const auto found = collections_.find(static_cast<uint32_t>(runner));
    if (found == collections_.end()) return false;
    const Collection collection = found->second;
    collections_.erase(found);
    const auto number = values.number("capability");
    // Where it cannot be read there is the one that every program has.
    const CapNo cap = capability(ns, number ? number : std::optional<uint64_t>(0));
    if (cap == kNoCapability) return false;
    const auto post = [&](auto call) { blocks_.post(cap, call); };
    post([&](Poster to) { return to.post_gc_start(collection.begin_ns); });
    if (cause != model::SpanEndCause::returned) {
        post([&](Poster to) { return to.post_gc_end(ns); });
        return true;
    }
    if (const auto words = values.number("allocated_words")) {
        post([&](Poster to) {
            return to.post_heap_allocated(ns, kHeapCapset, *words * kWordBytes);
        });
    }
    const uint64_t heap_mib = values.number_or_0("heap_mib");
    const uint64_t blocks = values.number_or_0("blocks");
    GcStats stats;
    stats.generation = static_cast<uint16_t>(collection.generation);
    stats.copied_bytes = values.number_or_0("copied");
    stats.slop_bytes = values.number_or_0("slop");
    const uint64_t blocks_max = heap_mib * kBlocksOfMegablock;
    stats.fragmentation_bytes = blocks_max > blocks ? (blocks_max - blocks) * kBlockBytes : 0;
    stats.threads = static_cast<uint32_t>(values.number("threads").value_or(1));
    stats.thread_copied_bytes_max = values.number_or_0("most_copied_words") * kWordBytes;
    stats.threads_copied_bytes = stats.copied_bytes;
    stats.threads_balanced_bytes = values.number_or_0("balanced_words") * kWordBytes;
    post([&](Poster to) { return to.post_gc_global_sync(ns); });
    post([&](Poster to) { return to.post_gc_stats(ns, kHeapCapset, stats); });
    post([&](Poster to) { return to.post_gc_end(ns); });
    // What a collection of the young generation finds alive is no measure of the heap.
    if (const auto live = values.number("live"); live && collection.generation != 0) {
        post([&](Poster to) { return to.post_heap_live(ns, kHeapCapset, *live); });
    }
    if (heap_mib != 0) {
        post([&](Poster to) {
            return to.post_heap_size(ns, kHeapCapset, heap_mib * kMegablockBytes);
        });
    }
    return true;
}

bool RuntimeLog::create(uint64_t ns, const NamedValues& values) {
    const CapNo cap = capability(ns, values.number("capability"));
    Task* const task = cap == kNoCapability ? nullptr : thread(values.number("thread"));
    if (task == nullptr) return false;
    // Another capability may have run it before its maker's event: it was created there.
    return task->phase != Task::Phase::unborn || timeline_.introduce(cap, ns, *task);
}

bool RuntimeLog::wake(uint64_t ns, const NamedValues& values) {
    const CapNo cap = capability(ns, values.number("capability"));
    const auto other = values.number("other");
    const CapNo target = other ? capability(ns, other) : cap;
    if (cap == kNoCapability || target == kNoCapability) return false;
    Task* const task = thread(values.number("thread"));
    if (task == nullptr) return false;
    // GHC tells each attempt, by messages between capabilities too: one that finds the thread
    // running has woken nobody.
    if (task->phase == Task::Phase::running) return true;
    return timeline_.wake(cap, ns, *task, target);
}

bool RuntimeLog::label(const NamedValues& values) {
    Task* const task = thread(values.number("thread"));
    if (task == nullptr) return false;
    std::string text;
    append_as_utf8(text, values.first_text());
    text.resize(utf8_prefix(text, Timeline::kLabelBytesMax).size());
    timeline_.relabel(*task, std::move(text));
    return true;
}

CapNo RuntimeLog::cap_of(uint64_t ns, model::ThreadIndex runner, const NamedValues& values) {
    const CapNo named = capability(ns, values.number("capability"));
    return named != kNoCapability ? named : cap_of_runner(runner);
}

CapNo RuntimeLog::cap_of_runner(model::ThreadIndex runner) const {
    const auto running = running_.find(static_cast<uint32_t>(runner));
    return running == running_.end() ? kNoCapability : running->second.cap;
}

void RuntimeLog::break_all(uint64_t ns) {
    timeline_.break_all(ns);
    running_.clear();
    collections_.clear();
}

}  // namespace tracer::eventlog
