// SPDX-License-Identifier: Apache-2.0
//
// What the records of a probe mean: made when a probe is compiled, stored in captures, used by the
// decoder. The kernel's counterpart (how the record is filled) is struct tr_probe. It lives in the
// capture layer because a capture stores it and decode, one layer up, reads captures.
#pragma once

#include "tracer/model/definition.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

enum class HitRole : uint8_t {
    instant,     // or a counter's values, as the point says
    span_begin,  // slot 0 holds the stack pointer at entry, arguments follow
    span_end,    // slot 0 holds the stack pointer after return, arguments follow
    // On a fiber: a thread of the program's own, which many of the kernel's run and whose stack may
    // move. Slot 0 as above, slot 1 what tells fibers of a process apart, slot 2 the end of the
    // stack, arguments follow. The distance from the stack pointer to that end is the frame's,
    // wherever the stack is.
    fiber_span_begin,
    fiber_span_end,
    pair_begin,  // one of several probes that make a span: see ProbeDefinition::key
    pair_end,
    pair_until,  // ends it too
    // From here on the thread is in the state that `name` says, on the line `line`; an empty name
    // ends the one that it was in.
    state,
    thread_name,  // the thread, its process, is called what `name` says; there is no event
    process_name,
};

[[nodiscard]] constexpr bool is_span_end(HitRole role) {
    return role == HitRole::span_end || role == HitRole::fiber_span_end;
}

// How many slots of a record stand before the arguments.
[[nodiscard]] constexpr size_t hidden_slots(HitRole role) {
    switch (role) {
        case HitRole::instant:
        case HitRole::pair_begin:
        case HitRole::pair_end:
        case HitRole::pair_until:
        case HitRole::state:
        case HitRole::thread_name:
        case HitRole::process_name:
            return 0;
        case HitRole::span_begin:
        case HitRole::span_end:
            return 1;
        case HitRole::fiber_span_begin:
        case HitRole::fiber_span_end:
            return 3;
    }
    return 0;
}

// A part of the name that each hit of a probe is shown under.
struct NamePiece {
    static constexpr uint8_t kText = 0xff;
    std::string text;      // as it is
    uint8_t slot = kText;  // or the value of this slot of ProbeDefinition::slots
    bool operator==(const NamePiece&) const = default;
};

// What a hit's end is found by. With a key, slot 0 holds it, and slot 1 its second value if it has
// one.
enum class PairKey : uint8_t {
    none,     // the thread: the innermost open span of the point
    process,  // the key, among those of the process
    shared,   // the key, among those of all processes
    frame,    // the key, among those of the thread: the innermost; what is inside of it was left
};

[[nodiscard]] constexpr bool is_pair_role(HitRole role) {
    return role == HitRole::pair_begin || role == HitRole::pair_end || role == HitRole::pair_until;
}

[[nodiscard]] constexpr bool is_naming_role(HitRole role) {
    return role == HitRole::thread_name || role == HitRole::process_name;
}

// Probe ids index arrays: no id is larger than this (captures that say so are refused).
inline constexpr uint32_t kProbeIdMax = (1U << 20) - 1;

// One per probe id (one per site: sites of one probe differ in where their arguments lie).
struct ProbeDefinition {
    uint32_t probe_id = 0;
    HitRole role = HitRole::instant;
    model::PointIndex point{};
    // Type of each slot behind the role's own (hidden_slots); same order and count as the
    // point's arguments (span_end, pair_end: its end_arguments). ValueType::none: never readable
    // here. The key of a pair comes first: of a pair_begin it is among the point's arguments, of a
    // pair_end besides the end_arguments, and of a pair_until, which has no others, alone.
    std::vector<model::ValueType> slots;
    PairKey key = PairKey::none;  // of pair roles; all of a point have the same, but that a
                                  // pair_until without one ends all spans that its thread began
    bool has_second_key = false;  // the key is two values, of which the second is an integer
    // Bit i: slots[i] is f64, but the record holds the raw bits of a 4-byte float.
    uint16_t f32_slots = 0;
    // Bit i: slots[i] is a text that names a C++ type as its type_info does.
    uint16_t cxx_type_slots = 0;
    // Of begins of function spans: those with one number lie at one place. 0: alone.
    uint32_t place = 0;
    std::string spec;             // its text as -e takes it, for the summary
    uint32_t sample_every = 0;    // each recorded hit stands for so many; 0: for itself
    bool may_lack_begin = false;  // pair_end: its begin's clauses keep some out, not their ends
    std::vector<NamePiece> name;  // of instants and begins; empty: the point's
    // Of instants, begins and states (which have one): the line beside the thread on which the
    // event is shown, one for each name. Empty: the thread's own track.
    std::vector<NamePiece> line;
    // The line is one of the process. A pair_end has it too, made of its own shown values.
    bool is_line_of_process = false;
    bool yields_to_ring = false;  // left out in processes whose ring of events is read

    [[nodiscard]] size_t key_slots() const {
        if (key == PairKey::none) return 0;
        return has_second_key ? 2 : 1;
    }
};

// What a process, or one of its threads, that was alive at the start is called, until it runs
// another program or a probe names it.
struct KnownName {
    uint32_t pid = 0;
    uint32_t tid = 0;  // 0: the process
    std::string name;
    bool operator==(const KnownName&) const = default;
};

// All that a stream of records needs to be understood.
struct RecordingDefinitions {
    std::vector<model::Point> points;     // points[i].index == i
    std::vector<ProbeDefinition> probes;  // any order; ids unique
    // Processes and threads that are recorded; both empty with record_all. Others' switches are
    // idle. The numbers name those alive at the start, never a later user of the same number.
    bool record_all = false;
    std::vector<uint32_t> pids;
    std::vector<uint32_t> tids;
    std::vector<KnownName> names;  // instead of the kernel's
    bool follow_children = false;  // processes born of recorded ones are recorded too
    uint32_t own_pid = 0;          // the recorder's process, marked in the trace; 0: none
    std::string host_name;
    std::string command_line;    // of the recorder
    model::Recording recording;  // the same for writers, in the model's words
};

}  // namespace tracer
