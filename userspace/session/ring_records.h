// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/record_batch.h"
#include "session/ring_recording.h"
#include "tracer/ring/cursor.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tracer {

// The names of all producers' events, as records define them.
class RingPoints {
public:
    // The number of the point, whose definition is added to the batch at that time if it is new.
    // Beyond what a recording may have, names are kMoreNames.
    [[nodiscard]] uint32_t find_or_add(const ring::Event& event,
                                       std::string_view name,
                                       uint64_t time_ns,
                                       RecordBatch& definitions);

    static constexpr std::string_view kMoreNames = "(one of too many names)";

private:
    // Kind, value, category, name.
    using Key = std::tuple<uint16_t, uint16_t, std::string_view, std::string>;
    std::map<Key, uint32_t> points_;
};

// A time (CLOCK_BOOTTIME) whose events are not wanted.
struct ClosedTime {
    uint64_t begin_ns = 0;
    uint64_t end_ns = UINT64_MAX;  // of one that is not over
    [[nodiscard]] bool has(uint64_t time_ns) const {
        return time_ns >= begin_ns && time_ns < end_ns;
    }
};

// Where the events of a producer go.
struct RingOutput {
    RingPoints& points;
    // Definitions first: they are older than all that refers to them.
    RecordBatch& definitions;
    RecordBatch& events;
    std::span<const ClosedTime> closed = {};
};

// What was lost is not missed: all of it lies in a time that was not wanted.
[[nodiscard]] bool is_unwanted(const ring::Lost& lost,
                               uint64_t ahead_ns,
                               std::span<const ClosedTime> closed);

// Makes records of the events of one file of rings. Those of our library are on their threads'
// tracks; of OCaml there is a track for each life of a ring. Spans of the
// runtime are of category "gc" ("gc.wait" for those that only wait), the program's own "user".
class RingRecords {
public:
    // `ahead_ns`: of CLOCK_BOOTTIME, before the events' own clock. Borrows the cursor.
    RingRecords(uint32_t producer, uint32_t pid, ring::Cursor& cursor)
        : producer_(producer), pid_(pid), cursor_(cursor) {}

    // Of events in the order of their rings.
    void add(const RingRecording& recording, uint64_t ahead_ns, RingOutput out);
    // Another program writes the file from here on: ids, names and rings are new.
    void restart();
    [[nodiscard]] uint64_t events() const { return events_; }

private:
    struct Ring {
        bool is_named = false;
        bool is_after_loss = false;  // who writes it may be somebody else by now
        uint32_t tid = 0;            // 0: not known, or a domain
        uint32_t lives = 0;
    };

    // A thread's id in the producer's namespace; 0: nobody says whose the event is.
    [[nodiscard]] uint32_t writer_of(const RingItem& item) const;
    // The same thread in the initial namespace.
    [[nodiscard]] uint32_t thread_of(uint32_t tid) const;

    // The first event of whoever writes the ring from then on.
    void add_track(const RingItem& item, uint64_t time_ns, RecordBatch& batch);
    void add_event(const RingItem& item,
                   const RingRecording& recording,
                   uint64_t ahead_ns,
                   RingOutput out);
    void add_loss(const RingItem& item,
                  const ring::Lost& lost,
                  uint64_t ahead_ns,
                  RecordBatch& batch);

    uint32_t producer_;
    uint32_t pid_;
    ring::Cursor& cursor_;
    [[nodiscard]] uint32_t point_of(const RingItem& item, uint64_t time_ns, RingOutput& out);

    std::vector<Ring> rings_;
    std::unordered_map<uint64_t, uint32_t> known_points_;  // of ids whose name is certain
    uint64_t events_ = 0;
};

}  // namespace tracer
