// SPDX-License-Identifier: Apache-2.0
//
// Every event that GHC 9.0 to 9.14 may write: number, name and the fields of its payload, for the
// reader of tests. Written down from the format a second time, on purpose: the writer has a table
// of its own, and a mistake in one of the two shows when they meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tracer::test {

// Named as GHC's EventLogFormat.h names them, without EVENT_.
enum class EventlogId : uint16_t {
    create_thread = 0,
    run_thread = 1,
    stop_thread = 2,
    thread_runnable = 3,
    migrate_thread = 4,
    run_spark = 5,
    steal_spark = 6,
    shutdown = 7,
    thread_wakeup = 8,
    gc_start = 9,
    gc_end = 10,
    request_seq_gc = 11,
    request_par_gc = 12,
    create_spark = 13,
    spark_to_thread = 14,
    create_spark_thread = 15,
    log_msg = 16,
    startup = 17,
    block_marker = 18,
    user_msg = 19,
    gc_idle = 20,
    gc_work = 21,
    gc_done = 22,
    version = 23,
    program_invocation = 24,
    capset_create = 25,
    capset_delete = 26,
    capset_assign_cap = 27,
    capset_remove_cap = 28,
    rts_identifier = 29,
    program_args = 30,
    program_env = 31,
    osprocess_pid = 32,
    osprocess_ppid = 33,
    spark_counters = 34,
    spark_create = 35,
    spark_dud = 36,
    spark_overflow = 37,
    spark_run = 38,
    spark_steal = 39,
    spark_fizzle = 40,
    spark_gc = 41,
    intern_string = 42,
    wall_clock_time = 43,
    thread_label = 44,
    cap_create = 45,
    cap_delete = 46,
    cap_disable = 47,
    cap_enable = 48,
    heap_allocated = 49,
    heap_size = 50,
    heap_live = 51,
    heap_info_ghc = 52,
    gc_stats_ghc = 53,
    gc_global_sync = 54,
    task_create = 55,
    task_migrate = 56,
    task_delete = 57,
    user_marker = 58,
    hack_bug_t9003 = 59,
    eden_start_receive = 60,
    eden_end_receive = 61,
    create_process = 62,
    kill_process = 63,
    assign_thread_to_process = 64,
    create_machine = 65,
    kill_machine = 66,
    send_message = 67,
    receive_message = 68,
    send_receive_local_message = 69,
    mem_return = 90,
    blocks_size = 91,
    perf_name = 140,
    perf_counter = 141,
    perf_tracepoint = 142,
    heap_prof_begin = 160,
    heap_prof_cost_centre = 161,
    heap_prof_sample_begin = 162,
    heap_prof_sample_cost_centre = 163,
    heap_prof_sample_string = 164,
    heap_prof_sample_end = 165,
    heap_bio_prof_sample_begin = 166,
    prof_sample_cost_centre = 167,
    prof_begin = 168,
    ipe = 169,
    user_binary_msg = 181,
    conc_mark_begin = 200,
    conc_mark_end = 201,
    conc_sync_begin = 202,
    conc_sync_end = 203,
    conc_sweep_begin = 204,
    conc_sweep_end = 205,
    conc_upd_rem_set_flush = 206,
    nonmoving_heap_census = 207,
    nonmoving_pruned_segments = 208,
    ticky_counter_def = 210,
    ticky_counter_sample = 211,
    ticky_counter_begin_sample = 212,
};

enum class EventlogFieldKind : uint8_t {
    u8,
    u16,
    u32,
    u64,
    power_of_two,   // u8, of which 2 to its power is meant
    text,           // UTF-8 up to the end of the payload, or up to the fixed fields behind it
    strings,        // as text; each of its parts ends in a NUL, the last one may do without
    bytes,          // anything up to the end of the payload
    c_text,         // ends in a NUL
    stack,          // u8 depth, then as many u32
    optional_u64,   // absent where the payload ends before it; so are all that follow
    optional_text,  // c_text, likewise
};

struct EventlogFieldShape {
    std::string_view name;
    EventlogFieldKind kind = EventlogFieldKind::u8;
};

constexpr size_t kEventlogFieldsMax = 10;
constexpr uint16_t kEventlogVariableSize = 0xFFFF;

// One form of an event. Where GHC changed it there are several, of different sizes.
struct EventlogShape {
    std::string_view name;
    std::array<EventlogFieldShape, kEventlogFieldsMax> fields;  // up to the first without a name
    EventlogId id{};
    uint16_t size = 0;  // bytes of the payload, or kEventlogVariableSize

    [[nodiscard]] constexpr bool is_variable() const { return size == kEventlogVariableSize; }
};

// The form that an id declared with that size has: the largest that fits, since GHC only adds
// fields at the end. nullptr: none (unknown id, a size smaller than any we know, fixed for
// variable).
[[nodiscard]] const EventlogShape* find_eventlog_shape(uint16_t id, uint16_t declared_size);

// As it is without a declaration: the form of the newest GHC. nullptr: unknown.
[[nodiscard]] const EventlogShape* newest_eventlog_shape(uint16_t id);

// What compilers of today (GHC 9.0 to 9.14, perf's converter) may declare, in ascending order.
[[nodiscard]] std::vector<EventlogId> ghc_eventlog_ids();

// Of a kind with a fixed size, else 0.
[[nodiscard]] constexpr uint16_t eventlog_field_bytes(EventlogFieldKind kind) {
    switch (kind) {
        case EventlogFieldKind::u8:
        case EventlogFieldKind::power_of_two:
            return 1;
        case EventlogFieldKind::u16:
            return 2;
        case EventlogFieldKind::u32:
            return 4;
        case EventlogFieldKind::u64:
            return 8;
        case EventlogFieldKind::text:
        case EventlogFieldKind::strings:
        case EventlogFieldKind::bytes:
        case EventlogFieldKind::c_text:
        case EventlogFieldKind::stack:
        case EventlogFieldKind::optional_u64:
        case EventlogFieldKind::optional_text:
            return 0;
    }
    return 0;
}

}  // namespace tracer::test
