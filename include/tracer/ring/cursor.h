// SPDX-License-Identifier: Apache-2.0
//
// Reads the rings that a process writes its events to: of OCaml 5.0 to 5.5 programs and of programs
// with tracer/ring/tracer_ring.h (the layout is tracer/abi/ring_layout.h). Needs neither root nor
// the producer's help, and the producer never notices: it overwrites what is not read in time,
// which is then told as a number.
//
//     TR_ASSIGN(auto cursor, ring::Cursor::open_process(pid));
//     ring::PollPace pace;
//     for (;;) {
//         TR_ASSIGN(const auto polled, cursor.poll(visitor));
//         sleep_ns(pace.next_ns(polled));
//     }
//
// What is read is untrusted: nothing in it makes a cursor crash, loop or allocate without bound.
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"
#include "tracer/ring/ocaml_versions.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tracer::ring {

enum class EventKind : uint8_t {
    lifecycle,
    begin,    // a phase of the runtime
    end,      // the same
    counter,  // of the runtime
    alloc,    // histogram of allocations by size
    user_unit,
    user_int,
    user_begin,
    user_end,
    user_custom,
    unknown,  // of a type of no known version, or too short for its type
};

struct Event {
    EventKind kind = EventKind::unknown;
    uint32_t ring = 0;
    uint32_t id = 0;   // of the phase, counter, lifecycle event, or user event
    uint8_t type = 0;  // as the record has it: tells custom events and unknown ones apart
    bool is_user = false;
    bool has_value = false;
    int64_t value = 0;      // lifecycle (may be without), counter, user_int
    uint64_t time_ns = 0;   // CLOCK_MONOTONIC, on Linux; never earlier than the ring's event before
    uint64_t sequence = 0;  // in the ring, from 1, modulo 2^36; 0: an OCaml producer
    std::span<const uint64_t> words = {};   // payload; borrowed during the call
    std::span<const std::byte> bytes = {};  // user_custom: the payload's own; the same
};

// Records of one ring that nobody will read any more. Told before the event behind the gap.
struct Lost {
    uint32_t ring = 0;
    uint64_t words = 0;  // fillers included
    uint64_t events = 0;
    bool is_exact = false;  // `events` follows from sequences; else from the mean record's length
    bool is_malformed = false;  // some of it was there but made no sense
    uint64_t begin_ns = 0;      // time of the last event before; 0: none was read
    uint64_t end_ns = 0;        // of the next one; 0: there is none
};

enum class Flow : uint8_t { go_on, stop };

// Who is told. Callbacks may throw: what was told is not told again.
class Visitor {
public:
    virtual ~Visitor() = default;
    virtual Flow on_event(const Event& event) = 0;
    virtual Flow on_lost(const Lost& /*lost*/) { return Flow::go_on; }
    // Another program writes the same file from here on (exec): ids, names and rings are new.
    virtual Flow on_restart() { return Flow::go_on; }
};

struct PollResult {
    size_t events = 0;   // on_event calls, at most the maximum
    size_t losses = 0;   // on_lost calls
    uint64_t words = 0;  // read, fillers included: with lost_words what tails have grown by
    uint64_t lost_words = 0;
    bool is_stopped = false;  // by a callback
    bool is_ready = false;    // the producer has written its metadata
    // Of the ring with the most unread words when the poll began, how full it was: 0 to 1.
    double fill = 0;
};

// Where a cursor begins.
enum class Start : uint8_t {
    oldest,  // what is still there; what is not counts as lost
    now,     // what is written from here on
};

struct CursorOptions {
    Start start = Start::oldest;
    // If it is known: from the program's file, or from the user.
    OcamlVersions versions = {};
};

// What is known of the producer.
struct Producer {
    bool is_ready = false;
    uint32_t ring_count = 0;
    uint64_t ring_words = 0;
    // Rings of our own library: losses are exact, and what follows is filled in.
    bool has_sequences = false;
    OcamlVersions versions;  // whose numbers of phases it uses; grows more certain by reading
    std::string runtime;     // "tracer_ring 0.1"; empty: OCaml
    bool is_clock_counted = false;  // times are off by some ten nanoseconds: see tracer_ring.h
    uint32_t pid = 0;               // in its own pid namespace
    bool is_stopped = false;        // like the next two as of the last poll
    uint64_t events_dropped = 0;    // never written: by signal handlers within a write
    uint64_t events_missing = 0;    // the same: no ring was free, or there was no room for one more
    uint64_t monotonic_ns = 0;      // one moment by three clocks
    uint64_t realtime_ns = 0;
    uint64_t boottime_ns = 0;
};

// What a producer registered a user event as.
enum class UserType : uint8_t { unknown, unit, number, span, custom };

// "unit", "int", "span", "custom"; "unknown" of OCaml's, whose files do not tell.
[[nodiscard]] std::string_view to_text(UserType type);

// The thread that has a ring of our library.
struct RingOwner {
    uint32_t tid = 0;       // in the producer's own pid namespace; 0: none, or an OCaml producer
    uint64_t since_ns = 0;  // CLOCK_MONOTONIC
};

struct UserEvent {
    uint32_t id = 0;
    UserType type = UserType::unknown;
    std::string name;
};

// A position in each ring of one file. Any number of cursors may read the same file. One thread at
// a time; movable.
class Cursor {
public:
    // not_found: no such file; bad_input: a file, but not of rings. A file whose producer has not
    // written its metadata yet is opened: polls find nothing until then.
    [[nodiscard]] static Result<Cursor> open_file(const std::string& path,
                                                  const CursorOptions& options = {});
    // The rings that the process has mapped, wherever their file is or was: unlinked, in another
    // container, or without a name. Own process included. not_found: it has none.
    [[nodiscard]] static Result<Cursor> open_process(pid_t pid, const CursorOptions& options = {});
    [[nodiscard]] static Result<Cursor> open_fd(UniqueFd fd, const CursorOptions& options = {});
    // Over memory that the caller keeps (a producer's own mapping, a copy of a file); 8-byte
    // aligned, else usage.
    [[nodiscard]] static Result<Cursor> over(std::span<const std::byte> memory,
                                             const CursorOptions& options = {});

    ~Cursor();
    Cursor(Cursor&& other) noexcept;
    Cursor& operator=(Cursor&& other) noexcept;
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;

    // Tells what is new, ring by ring in the order of each, at most events_max events. Begins with
    // the ring after the one it last ended in, so that a busy ring does not starve others. Bounded
    // by what the rings held when it began. bad_input: the file was cut short, or its metadata is
    // no longer valid; usage: called by one of its own callbacks.
    [[nodiscard]] Result<PollResult> poll(Visitor& visitor, size_t events_max = SIZE_MAX);

    // Tells losses that no later event made certain. After the producer's end and a last poll.
    void finish(Visitor& visitor);

    // "minor", "minor_promoted", "ring_start", the user event's own name; "phase#57", "counter#40",
    // "user#12", ... where there is none, or none that is certain yet. Good until the next call of
    // any function.
    [[nodiscard]] std::string_view name_of(const Event& event);

    // All user events that are registered by now, written or not, by id: for who comes late.
    [[nodiscard]] std::vector<UserEvent> user_events() const;

    // Who has the ring now. Its events since then are its own; those before another's.
    [[nodiscard]] RingOwner owner_of(uint32_t ring) const;

    [[nodiscard]] const Producer& producer() const;

private:
    class Impl;
    explicit Cursor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// How long to wait between polls: as long as fills about a tenth of the fullest ring.
class PollPace {
public:
    static constexpr uint64_t kLeastNs = 1'000'000;
    static constexpr uint64_t kMostNs = 100'000'000;

    [[nodiscard]] uint64_t next_ns(const PollResult& polled);

private:
    uint64_t wait_ns_ = 10'000'000;
};

}  // namespace tracer::ring
