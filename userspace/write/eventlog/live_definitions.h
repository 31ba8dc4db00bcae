// SPDX-License-Identifier: Apache-2.0
//
// What a reader that comes late must be told: which capabilities, sets, threads, labels, names,
// cost centres there are, and what runs where. Learned from the blocks on their way out, so that
// posting an event costs nothing for it.
#pragma once

#include "tracer/write/eventlog/block_buffer.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tracer::eventlog {

// Not thread safe.
class LiveDefinitions {
public:
    explicit LiveDefinitions(const Dialect& dialect);

    // Learns from a block of ours, marker first. Blocks of one capability come in order; those of
    // different ones in any, so what happened last is told by the times.
    void observe(std::span<const std::byte> block, CapNo cap);

    // Writes everything live as blocks, each event at the time and in the capability it had: what
    // follows in a new log then means what it would have in the old. False: not all found room.
    [[nodiscard]] bool write(BlockDestination& destination) const;

    // Threads, tasks and what runs: all that a pause of the log makes stale.
    void forget_activity();
    // A log's time 0 moves on by `ns`: what was before is at 0 then, wall clocks corrected.
    void advance_start(uint64_t ns);

    [[nodiscard]] size_t size() const { return entries_.size(); }

private:
    // In the order in which equal times are written: what is named before what names it.
    enum class Kind : uint8_t {
        startup,
        capset,
        capability,
        capset_member,  // a: set, b: capability
        capset_fact,    // a: set, b: event id
        disabled_capability,
        name,  // a: event id, b: the id that it defines
        task,
        thread,
        thread_label,
        collection,
        run,
    };
    struct Key {
        Kind kind;
        uint64_t a = 0;
        uint64_t b = 0;
        auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): not ours
    };
    struct Entry {
        uint64_t time_ns = 0;
        EventId id{};
        CapNo cap = kNoCapability;
        bool is_alive = true;  // false: an end that came before its begin was seen
        std::vector<std::byte> payload;
    };
    // What a capability is at; these come with every other event, so they have their own place.
    struct Activity {
        bool is_collecting = false;
        bool is_running = false;
        uint64_t collecting_since_ns = 0;
        uint64_t running_since_ns = 0;
        std::array<std::byte, sizeof(ThreadId)> thread{};  // as in RUN_THREAD
    };
    // Where in a block it last began to run and to collect.
    struct BlockActivity {
        static constexpr size_t kUnchanged = SIZE_MAX;
        static constexpr size_t kOver = SIZE_MAX - 1;
        size_t run_at = kUnchanged;
        size_t collect_at = kUnchanged;
    };
    struct Row;
    struct Event {
        EventId id;
        CapNo cap;
        uint64_t time_ns;
        std::span<const std::byte> payload;
    };

    void learn(const Event& event);
    size_t observe_other(std::span<const std::byte> block, CapNo cap, size_t at);
    void end_thread(std::span<const std::byte> block, size_t at);
    void learn_activity(std::span<const std::byte> block, CapNo cap, const BlockActivity& activity);
    void learn_threads(const Event& event);
    void learn_capsets(const Event& event);
    void begin(const Key& key, const Event& event);
    void end(const Key& key, uint64_t time_ns);
    void end_all(Kind kind, uint64_t a, uint64_t time_ns);
    void move_task(const Event& event);
    [[nodiscard]] std::vector<Row> live_rows() const;

    Dialect dialect_;
    std::array<uint16_t, 256> sizes_{};  // payload bytes by id
    std::map<Key, Entry> entries_;
    size_t early_ends_ = 0;
    std::vector<Activity> activity_;  // by capability
};

}  // namespace tracer::eventlog
