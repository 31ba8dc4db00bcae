// SPDX-License-Identifier: Apache-2.0
//
// What events say beyond plain numbers: enumerations with the values that every reader takes, and
// the events whose many fields are better named than counted. Views are borrowed for the call.
#pragma once

#include "tracer/write/eventlog/event_types.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tracer::eventlog {

// Why a thread stopped: the statuses that ghc-events 0.17 to 0.21 read alike. Left out: 4, 14 to 17
// and 19, which some readers refuse or take for something else. A blocked thread's number is GHC's
// why_blocked plus 6.
enum class StopStatus : uint16_t {
    none = 0,
    heap_overflow = 1,
    stack_overflow = 2,  // info: the stack's size in words
    yielding = 3,
    finished = 5,  // the thread's last event
    foreign_call = 6,
    blocked_on_mvar = 7,
    blocked_on_black_hole = 8,  // info: the thread that owns it
    blocked_on_read = 9,
    blocked_on_write = 10,
    blocked_on_delay = 11,
    blocked_on_stm = 12,
    blocked_on_do_proc = 13,
    blocked_on_throw_to = 18,
    blocked_on_mvar_read = 20,
};

constexpr bool is_portable(StopStatus status) {
    constexpr uint32_t kPortable = 0b1'0100'0011'1111'1110'1111;
    const auto number = static_cast<uint16_t>(status);
    return number <= 20 && ((kPortable >> number) & 1) != 0;
}

enum class CapsetType : uint16_t { custom = 1, os_process = 2, clock_domain = 3 };

// All in sparks since the program's start.
struct SparkCounters {
    uint64_t created = 0;
    uint64_t dud = 0;
    uint64_t overflowed = 0;
    uint64_t converted = 0;
    uint64_t collected = 0;
    uint64_t fizzled = 0;
    uint64_t remaining = 0;
};

struct HeapInfo {
    uint16_t generations = 0;
    uint64_t heap_bytes_max = 0;  // 0: no limit
    uint64_t allocation_area_bytes = 0;
    uint64_t megablock_bytes = 0;
    uint64_t block_bytes = 0;
};

struct GcStats {
    uint16_t generation = 0;
    uint64_t copied_bytes = 0;
    uint64_t slop_bytes = 0;
    uint64_t fragmentation_bytes = 0;
    uint32_t threads = 1;
    uint64_t thread_copied_bytes_max = 0;
    uint64_t threads_copied_bytes = 0;
    uint64_t threads_balanced_bytes = 0;
};

// All in megablocks.
struct MemoryReturn {
    uint32_t current = 0;
    uint32_t needed = 0;
    uint32_t returned = 0;
};

enum class HeapBreakdown : uint32_t {
    cost_centre = 1,
    module_name = 2,
    closure_description = 3,
    type_description = 4,
    retainer = 5,
    biography = 6,
    closure_type = 7,
    info_table = 8,  // GHC 9.2
    era = 9,         // GHC 9.10; ghc-events before 0.20 refuses it
};

// Readers stop at any other number.
constexpr bool is_known(HeapBreakdown breakdown) {
    return breakdown >= HeapBreakdown::cost_centre && breakdown <= HeapBreakdown::era;
}

struct HeapProfile {
    uint8_t id = 0;
    uint64_t period_ns = 0;
    HeapBreakdown breakdown = HeapBreakdown::closure_type;
    // What the profile was restricted to; empty: nothing.
    std::string_view module_filter;
    std::string_view closure_filter;
    std::string_view type_filter;
    std::string_view cost_centre_filter;
    std::string_view cost_centre_stack_filter;
    std::string_view retainer_filter;
    std::string_view biography_filter;
};

struct CostCentre {
    uint32_t id = 0;
    std::string_view label;
    std::string_view module_name;
    std::string_view source;
    bool is_caf = false;
};

inline constexpr size_t kCostCentreDepthMax = 255;

struct InfoTable {
    uint64_t address = 0;
    std::string_view table_name;
    uint32_t closure_type = 0;
    std::string_view type_description;
    std::string_view label;
    std::string_view module_name;
    std::string_view source;
};

// ghc-events 0.17 (Debian 12) knows GHC 9.2's form alone and loses its place after a later one: a
// log for it takes Release::ghc_9_2. The same goes for NonmovingCensus, which it misreads.
struct TickyCounter {
    uint64_t id = 0;
    uint16_t arity = 0;
    std::string_view kinds;  // one letter an argument
    std::string_view name;
    uint64_t info_table = 0;  // in logs like GHC 9.4's or later
    std::string_view json;    // in logs like GHC 9.6's or later; `{}` where there is nothing to say
};

struct TickySample {
    uint64_t id = 0;
    uint64_t entries = 0;
    uint64_t allocations = 0;
    uint64_t allocated_bytes = 0;
};

// Of one size class of the non-moving heap.
struct NonmovingCensus {
    uint16_t block_bytes = 0;  // logs like GHC 9.8's or older: a power of two
    uint32_t active_segments = 0;
    uint32_t filled_segments = 0;
    uint32_t live_blocks = 0;
};

}  // namespace tracer::eventlog
