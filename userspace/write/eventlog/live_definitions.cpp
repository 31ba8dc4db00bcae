// SPDX-License-Identifier: Apache-2.0
//
// Follows definitions and their ends through the blocks that a log writes, and writes what is live
// into another. Relies on blocks being our own: whole, declared, spelled by BlockBuffer. Called by
// the log with its output locked.
#include "write/eventlog/live_definitions.h"

#include "tracer/write/eventlog/values.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tracer::eventlog {
namespace {

// Threads that ended before their begin came by are kept until it does. Begins that never come
// (threads older than the log) must not fill the memory.
constexpr size_t kEarlyEndsMax = 4096;

constexpr size_t kBlockBytes = 256 * 1024;  // holds any event
constexpr uint64_t kNsPerSecond = 1'000'000'000;

// The events that learn() is for, a bit each.
constexpr std::array<uint64_t, 4> defining_events() {
    using enum EventId;
    std::array<uint64_t, 4> bits{};
    for (const EventId id : {create_thread,
                             thread_label,
                             task_create,
                             task_migrate,
                             task_delete,
                             capset_create,
                             capset_delete,
                             capset_assign_cap,
                             capset_remove_cap,
                             cap_create,
                             cap_delete,
                             cap_disable,
                             cap_enable,
                             rts_identifier,
                             program_args,
                             program_env,
                             osprocess_pid,
                             osprocess_ppid,
                             wall_clock_time,
                             heap_info_ghc,
                             startup,
                             intern_string,
                             perf_name,
                             heap_prof_cost_centre,
                             ipe,
                             ticky_counter_def,
                             heap_prof_begin,
                             prof_begin}) {
        const auto number = static_cast<size_t>(id);
        bits.at(number / 64) |= uint64_t{1} << (number % 64);
    }
    return bits;
}
constexpr std::array<uint64_t, 4> kDefining = defining_events();

// Whether a STOP_THREAD is the thread's last event.
bool is_finish(const std::byte* payload) {
    return load_big<uint16_t>(payload + sizeof(ThreadId)) ==
           static_cast<uint16_t>(StopStatus::finished);
}

template <typename T>
T field(std::span<const std::byte> payload, size_t at) {
    return at + sizeof(T) <= payload.size() ? load_big<T>(payload.data() + at) : T{0};
}

// The wall clock `ns` later: payload is u32 set, u64 seconds, u32 nanoseconds.
void advance_wall_clock(std::vector<std::byte>& payload, uint64_t ns) {
    constexpr size_t kSecondsAt = 4;
    constexpr size_t kNanosecondsAt = 12;
    const uint64_t sum = field<uint32_t>(payload, kNanosecondsAt) + ns % kNsPerSecond;
    const uint64_t seconds =
        field<uint64_t>(payload, kSecondsAt) + ns / kNsPerSecond + sum / kNsPerSecond;
    store_big(payload.data() + kSecondsAt, seconds);
    store_big(payload.data() + kNanosecondsAt, static_cast<uint32_t>(sum % kNsPerSecond));
}

}  // namespace

LiveDefinitions::LiveDefinitions(const Dialect& dialect) : dialect_(dialect) {
    for (const EventType& type : kEventTypes) {
        sizes_.at(static_cast<size_t>(type.id)) = form_of(type, dialect).size;
    }
}

void LiveDefinitions::observe(std::span<const std::byte> block, CapNo cap) {
    // Running and stopping is most of what a block says: only where it last did is kept, and the
    // step over it is a constant, so that the next event need not wait for the lookup of a size.
    BlockActivity activity;
    size_t at = kBlockMarkerBytes;
    while (at < block.size()) {
        const EventId id{load_big<uint16_t>(&block[at])};
        if (id == EventId::run_thread) {
            activity.run_at = at;
            at += kEventHeaderBytes + kTypeOf<EventId::run_thread>.size;
        } else if (id == EventId::stop_thread) {
            activity.run_at = BlockActivity::kOver;
            if (is_finish(&block[at + kEventHeaderBytes])) end_thread(block, at);
            at += kEventHeaderBytes + kTypeOf<EventId::stop_thread>.size;
        } else {
            if (id == EventId::gc_start) activity.collect_at = at;
            if (id == EventId::gc_end) activity.collect_at = BlockActivity::kOver;
            at = observe_other(block, cap, at);
        }
    }
    // Outside a capability's block readers do not know whose activity it would be.
    if (cap != kNoCapability) learn_activity(block, cap, activity);
}

// Returns where the next event begins.
size_t LiveDefinitions::observe_other(std::span<const std::byte> block, CapNo cap, size_t at) {
    const EventId id{load_big<uint16_t>(&block[at])};
    const auto number = static_cast<size_t>(id);
    size_t bytes = sizes_[number];
    size_t payload_at = at + kEventHeaderBytes;
    if (bytes == kVariableSize) {
        bytes = load_big<uint16_t>(&block[payload_at]);
        payload_at += sizeof(uint16_t);
    }
    if ((kDefining[number / 64] >> (number % 64) & 1) != 0) {
        const auto time_ns = load_big<uint64_t>(&block[at + sizeof(EventId)]);
        learn({id, cap, time_ns, block.subspan(payload_at, bytes)});
    }
    return payload_at + bytes;
}

void LiveDefinitions::end_thread(std::span<const std::byte> block, size_t at) {
    const auto time_ns = load_big<uint64_t>(&block[at + sizeof(EventId)]);
    const auto thread = load_big<ThreadId>(&block[at + kEventHeaderBytes]);
    end({Kind::thread, thread}, time_ns);
    end({Kind::thread_label, thread}, time_ns);
}

void LiveDefinitions::learn_activity(std::span<const std::byte> block,
                                     CapNo cap,
                                     const BlockActivity& activity) {
    if (cap >= activity_.size()) activity_.resize(cap + size_t{1});
    Activity& now = activity_[cap];
    if (activity.run_at != BlockActivity::kUnchanged) {
        now.is_running = activity.run_at != BlockActivity::kOver;
        if (now.is_running) {
            now.running_since_ns = load_big<uint64_t>(&block[activity.run_at + sizeof(EventId)]);
            const auto thread =
                block.subspan(activity.run_at + kEventHeaderBytes, now.thread.size());
            std::copy(thread.begin(), thread.end(), now.thread.begin());
        }
    }
    if (activity.collect_at != BlockActivity::kUnchanged) {
        now.is_collecting = activity.collect_at != BlockActivity::kOver;
        if (now.is_collecting) {
            now.collecting_since_ns =
                load_big<uint64_t>(&block[activity.collect_at + sizeof(EventId)]);
        }
    }
}

void LiveDefinitions::learn(const Event& event) {
    switch (event.id) {
        case EventId::create_thread:
        case EventId::thread_label:
        case EventId::task_create:
        case EventId::task_migrate:
        case EventId::task_delete:
            learn_threads(event);
            break;
        case EventId::capset_create:
        case EventId::capset_delete:
        case EventId::capset_assign_cap:
        case EventId::capset_remove_cap:
        case EventId::cap_create:
        case EventId::cap_delete:
        case EventId::cap_disable:
        case EventId::cap_enable:
        case EventId::rts_identifier:
        case EventId::program_args:
        case EventId::program_env:
        case EventId::osprocess_pid:
        case EventId::osprocess_ppid:
        case EventId::wall_clock_time:
        case EventId::heap_info_ghc:
            learn_capsets(event);
            break;
        case EventId::startup:
            begin({Kind::startup}, event);
            break;
        case EventId::intern_string:
            // The id stands at the end.
            begin({Kind::name, static_cast<uint64_t>(event.id),
                   field<uint32_t>(event.payload, event.payload.size() - sizeof(uint32_t))},
                  event);
            break;
        case EventId::perf_name:
        case EventId::heap_prof_cost_centre:
            begin({Kind::name, static_cast<uint64_t>(event.id), field<uint32_t>(event.payload, 0)},
                  event);
            break;
        case EventId::ipe:
        case EventId::ticky_counter_def:
            begin({Kind::name, static_cast<uint64_t>(event.id), field<uint64_t>(event.payload, 0)},
                  event);
            break;
        case EventId::heap_prof_begin:
            begin({Kind::name, static_cast<uint64_t>(event.id), field<uint8_t>(event.payload, 0)},
                  event);
            break;
        case EventId::prof_begin:
            begin({Kind::name, static_cast<uint64_t>(event.id)}, event);
            break;
        default:
            break;  // leaves nothing behind that a later event would need
    }
}

void LiveDefinitions::learn_threads(const Event& event) {
    const auto thread = field<ThreadId>(event.payload, 0);
    const auto task = field<TaskId>(event.payload, 0);
    switch (event.id) {
        case EventId::create_thread:
            begin({Kind::thread, thread}, event);
            break;
        case EventId::thread_label:
            begin({Kind::thread_label, thread}, event);
            break;
        case EventId::task_create:
            begin({Kind::task, task}, event);
            break;
        case EventId::task_migrate:
            move_task(event);
            break;
        default:
            end({Kind::task, task}, event.time_ns);
            break;
    }
}

void LiveDefinitions::learn_capsets(const Event& event) {
    const auto capset = field<uint32_t>(event.payload, 0);
    const auto member = field<uint16_t>(event.payload, 4);
    const auto cap = field<uint16_t>(event.payload, 0);
    switch (event.id) {
        case EventId::capset_create:
            begin({Kind::capset, capset}, event);
            break;
        case EventId::capset_delete:
            end({Kind::capset, capset}, event.time_ns);
            end_all(Kind::capset_member, capset, event.time_ns);
            end_all(Kind::capset_fact, capset, event.time_ns);
            break;
        case EventId::capset_assign_cap:
            begin({Kind::capset_member, capset, member}, event);
            break;
        case EventId::capset_remove_cap:
            end({Kind::capset_member, capset, member}, event.time_ns);
            break;
        case EventId::cap_create:
            begin({Kind::capability, cap}, event);
            break;
        case EventId::cap_delete:
            end({Kind::capability, cap}, event.time_ns);
            end({Kind::disabled_capability, cap}, event.time_ns);
            break;
        case EventId::cap_disable:
            begin({Kind::disabled_capability, cap}, event);
            break;
        case EventId::cap_enable:
            end({Kind::disabled_capability, cap}, event.time_ns);
            break;
        default:
            begin({Kind::capset_fact, capset, static_cast<uint64_t>(event.id)}, event);
            break;
    }
}

void LiveDefinitions::begin(const Key& key, const Event& event) {
    const auto [found, is_new] = entries_.try_emplace(key);
    Entry& entry = found->second;
    if (!is_new && !entry.is_alive) {
        early_ends_ -= 1;
        if (entry.time_ns >= event.time_ns) {
            entries_.erase(found);
            return;
        }
    }
    if (!is_new && entry.is_alive && entry.time_ns > event.time_ns) return;
    entry.time_ns = event.time_ns;
    entry.id = event.id;
    entry.cap = event.cap;
    entry.is_alive = true;
    entry.payload.assign(event.payload.begin(), event.payload.end());
}

void LiveDefinitions::end(const Key& key, uint64_t time_ns) {
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
        if (found->second.is_alive && found->second.time_ns <= time_ns) entries_.erase(found);
        return;
    }
    // Only threads begin in one capability's block and end in another's.
    if (key.kind != Kind::thread) return;
    if (early_ends_ >= kEarlyEndsMax) {
        std::erase_if(entries_, [](const auto& pair) { return !pair.second.is_alive; });
        early_ends_ = 0;
    }
    Entry& entry = entries_[key];
    entry.time_ns = time_ns;
    entry.is_alive = false;
    early_ends_ += 1;
}

void LiveDefinitions::end_all(Kind kind, uint64_t a, uint64_t time_ns) {
    auto entry = entries_.lower_bound({kind, a});
    while (entry != entries_.end() && entry->first.kind == kind && entry->first.a == a) {
        const bool ends = entry->second.time_ns <= time_ns;
        entry = ends ? entries_.erase(entry) : std::next(entry);
    }
}

// A task stands where it moved to; that it was elsewhere before no longer matters.
void LiveDefinitions::move_task(const Event& event) {
    constexpr size_t kCapAt = 8;  // in TASK_CREATE
    const auto found = entries_.find({Kind::task, field<uint64_t>(event.payload, 0)});
    if (found == entries_.end()) return;
    store_big(found->second.payload.data() + kCapAt, field<uint16_t>(event.payload, 10));
}

struct LiveDefinitions::Row {
    CapNo cap;
    uint64_t time_ns;
    Key key;
    EventId id;
    std::span<const std::byte> payload;

    // The global block first, then by capability; within one by time, then by kind.
    [[nodiscard]] auto order() const {
        return std::tuple(cap == kNoCapability ? 0U : cap + 1U, time_ns, key);
    }
};

std::vector<LiveDefinitions::Row> LiveDefinitions::live_rows() const {
    std::vector<Row> rows;
    for (const auto& [key, entry] : entries_) {
        if (entry.is_alive)
            rows.push_back({entry.cap, entry.time_ns, key, entry.id, entry.payload});
    }
    for (size_t index = 0; index < activity_.size(); ++index) {
        const Activity& now = activity_[index];
        const auto cap = static_cast<CapNo>(index);
        if (now.is_collecting) {
            rows.push_back(
                {cap, now.collecting_since_ns, {Kind::collection}, EventId::gc_start, {}});
        }
        if (now.is_running) {
            rows.push_back(
                {cap, now.running_since_ns, {Kind::run}, EventId::run_thread, now.thread});
        }
    }
    std::sort(rows.begin(), rows.end(),
              [](const Row& left, const Row& right) { return left.order() < right.order(); });
    return rows;
}

bool LiveDefinitions::write(BlockDestination& destination) const {
    const std::vector<Row> rows = live_rows();
    bool is_whole = true;
    for (auto row = rows.begin(); row != rows.end();) {
        const CapNo cap = row->cap;
        BlockBuffer buffer(cap, destination, {.capacity_bytes = kBlockBytes, .dialect = dialect_});
        if (!buffer.open(0)) return false;
        for (; row != rows.end() && row->cap == cap; ++row) {
            const EventType& type = kEventTypes[table::row_of(row->id)];
            const Fault fault =
                buffer.post_encoded(form_of(type, dialect_), row->time_ns, row->payload);
            TR_CHECK(fault == Fault::none);
        }
        buffer.close();
        is_whole = is_whole && buffer.counters().lost_no_room == 0 &&
                   buffer.counters().lost_sink_failed == 0;
    }
    return is_whole;
}

void LiveDefinitions::forget_activity() {
    std::erase_if(entries_, [](const auto& pair) {
        return pair.first.kind >= Kind::task || !pair.second.is_alive;
    });
    early_ends_ = 0;
    activity_.clear();
}

void LiveDefinitions::advance_start(uint64_t ns) {
    for (auto& [key, entry] : entries_) {
        if (entry.id == EventId::wall_clock_time && entry.time_ns < ns) {
            advance_wall_clock(entry.payload, ns - entry.time_ns);
        }
        entry.time_ns = entry.time_ns > ns ? entry.time_ns - ns : 0;
    }
}

}  // namespace tracer::eventlog
