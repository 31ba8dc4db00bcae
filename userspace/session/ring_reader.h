// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/record_batch.h"
#include "session/ring_records.h"
#include "tracer/ring/cursor.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace tracer {

// A program whose rings are read beside the kernel's events.
struct RingProducer {
    uint32_t pid = 0;  // in the initial namespace
    ring::Cursor cursor;
};

// What one of them came to.
struct RingTally {
    uint32_t pid = 0;
    std::string runtime;  // "OCaml 5.4", "tracer_ring 0.1"
    uint64_t events = 0;
    uint64_t lost_events = 0;
    uint64_t lost_words = 0;
    uint64_t malformed_events = 0;  // of lost_events
    bool is_exact = true;           // lost_events; else some of it is an estimate
    // Never in a ring, so not lost from one: of signal handlers within a write, and of threads that
    // found none of ring_count free, or no room on the disk.
    uint64_t dropped = 0;
    uint64_t missing = 0;
    uint32_t ring_count = 0;
    std::string problem;  // why reading ended early; empty: it did not

    void add(const ring::Lost& lost);
    void note(const ring::Producer& producer);
};

[[nodiscard]] std::string runtime_of(const ring::Producer& producer);

// Reads the rings of programs (OCaml 5, our library) into the stream of records. add() may be
// called by any thread; all else belongs to whom the recorder's consuming side belongs to.
class RingReader {
public:
    void add(RingProducer producer);

    // What is written from the time returned on is left out, and is no loss; and no longer. Any
    // thread.
    uint64_t close();
    uint64_t open();

    // Takes all that is in the rings now. What a program writes later has a later time, but for
    // what it was just writing: hence the slack of the drain.
    void poll();
    // After the last poll: losses that no later event made certain.
    void finish();
    // How long to wait until the next; `longest` without producers.
    [[nodiscard]] std::chrono::milliseconds wait(std::chrono::milliseconds longest) const;

    [[nodiscard]] bool is_empty() const { return definitions_.is_empty() && events_.is_empty(); }
    [[nodiscard]] RecordBatch& events() { return events_; }
    // Names, which all events refer to.
    void write_definitions(RecordHandler& handler) {
        definitions_.write_up_to(UINT64_MAX, handler);
    }

    [[nodiscard]] const std::vector<RingTally>& tallies() const { return tallies_; }
    // tr_ring_event records made.
    [[nodiscard]] uint64_t records() const { return records_; }

private:
    struct Source {
        Source(uint32_t tally_number, RingProducer from)
            : producer(std::move(from)),
              records(tally_number, producer.pid, producer.cursor),
              number(tally_number) {}
        RingProducer producer;
        RingRecords records;
        uint32_t number;  // of its tally
        ring::PollPace pace;
        uint64_t wait_ns = 0;
    };

    void take_new();
    // False: it has ended, or cannot be read any more.
    bool read(Source& source, uint64_t ahead_ns);
    void finish(Source& source, uint64_t ahead_ns);
    void take(Source& source, RingRecording& recording, uint64_t ahead_ns);

    std::mutex mutex_;
    std::vector<RingProducer> new_;
    std::atomic<bool> has_new_ = false;

    // Held while rings are read: what was read before is older than what is closed then.
    std::mutex closed_mutex_;
    std::vector<ClosedTime> closed_;  // the newest at the end

    std::list<Source> sources_;
    RingPoints points_;
    RecordBatch definitions_;
    RecordBatch events_;
    std::vector<RingTally> tallies_;
    uint64_t records_ = 0;
};

}  // namespace tracer
