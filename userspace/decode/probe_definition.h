// SPDX-License-Identifier: Apache-2.0
//
// What the records of a probe mean: made when a probe is compiled, stored in captures, used by the
// decoder. The kernel's counterpart (how the record is filled) is struct tr_probe.
#pragma once

#include "tracer/model/definition.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

enum class HitRole : uint8_t {
    instant,
    span_begin,  // slot 0 holds the stack pointer at entry, arguments follow
    span_end,    // slot 0 holds the stack pointer after return, arguments follow
};

// One per probe id (one per site: sites of one probe differ in where their arguments lie).
struct ProbeDefinition {
    uint32_t probe_id = 0;
    HitRole role = HitRole::instant;
    model::PointIndex point{};
    // Type of each slot after the stack pointer, if the role has one; same order and count as the
    // point's arguments (span_end: its end_arguments). ValueType::none: never readable here.
    std::vector<model::ValueType> slots;
    std::string spec;  // the -e text or list line it came from, for the summary
};

// All that a stream of records needs to be understood.
struct RecordingDefinitions {
    std::vector<model::Point> points;     // points[i].index == i
    std::vector<ProbeDefinition> probes;  // any order; ids unique
    // Threads and processes that are recorded; empty with record_all. Others' switches are idle.
    bool record_all = false;
    uint32_t own_pid = 0;  // the recorder's process, marked in the trace; 0: none
    std::string host_name;
    std::string command_line;  // of the recorder
};

}  // namespace tracer
