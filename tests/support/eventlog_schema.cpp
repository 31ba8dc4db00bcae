// SPDX-License-Identifier: Apache-2.0
//
// The table of events: numbers and payloads from GHC's EventLogFormat.h and EventLog.c, 9.0 to
// 9.14, and what older compilers and Eden wrote. Not in it, and so skipped by the reader by their
// declared size, is the range of the Mercury system (100 to 139). Sizes are summed up from the
// fields.
#include "support/eventlog_schema.h"

namespace tracer::test {
namespace {

using Id = EventlogId;
using Fields = std::array<EventlogFieldShape, kEventlogFieldsMax>;

constexpr auto kU8 = EventlogFieldKind::u8;
constexpr auto kU16 = EventlogFieldKind::u16;
constexpr auto kU32 = EventlogFieldKind::u32;
constexpr auto kU64 = EventlogFieldKind::u64;
constexpr auto kPower = EventlogFieldKind::power_of_two;
constexpr auto kText = EventlogFieldKind::text;
constexpr auto kStrings = EventlogFieldKind::strings;
constexpr auto kBytes = EventlogFieldKind::bytes;
constexpr auto kCText = EventlogFieldKind::c_text;
constexpr auto kStack = EventlogFieldKind::stack;
constexpr auto kOptionalU64 = EventlogFieldKind::optional_u64;
constexpr auto kOptionalText = EventlogFieldKind::optional_text;

// Variable as soon as one field is.
constexpr EventlogShape shape(Id id, std::string_view name, const Fields& fields = {}) {
    EventlogShape result{name, fields, id, 0};
    for (const auto& field : fields) {
        if (field.name.empty()) break;
        const uint16_t bytes = eventlog_field_bytes(field.kind);
        if (bytes == 0) {
            result.size = kEventlogVariableSize;
            return result;
        }
        result.size = static_cast<uint16_t>(result.size + bytes);
    }
    return result;
}

// In ascending order; forms of one event from the smallest to the largest.
constexpr EventlogShape kShapes[] = {
    shape(Id::create_thread, "CREATE_THREAD", {{{"thread", kU32}}}),
    shape(Id::run_thread, "RUN_THREAD", {{{"thread", kU32}}}),
    shape(Id::stop_thread, "STOP_THREAD", {{{"thread", kU32}, {"status", kU16}, {"info", kU32}}}),
    shape(Id::thread_runnable, "THREAD_RUNNABLE", {{{"thread", kU32}}}),
    shape(Id::migrate_thread, "MIGRATE_THREAD", {{{"thread", kU32}, {"new_cap", kU16}}}),
    // 5, 6, 13 and 14 are GHC 6.12's and 7.0's.
    shape(Id::run_spark, "RUN_SPARK", {{{"thread", kU32}}}),
    shape(Id::steal_spark, "STEAL_SPARK", {{{"thread", kU32}, {"victim_cap", kU16}}}),
    shape(Id::shutdown, "SHUTDOWN"),
    shape(Id::thread_wakeup, "THREAD_WAKEUP", {{{"thread", kU32}, {"other_cap", kU16}}}),
    shape(Id::gc_start, "GC_START"),
    shape(Id::gc_end, "GC_END"),
    shape(Id::request_seq_gc, "REQUEST_SEQ_GC"),
    shape(Id::request_par_gc, "REQUEST_PAR_GC"),
    shape(Id::create_spark, "CREATE_SPARK", {{{"thread", kU32}}}),
    shape(Id::spark_to_thread, "SPARK_TO_THREAD", {{{"thread", kU32}}}),
    shape(Id::create_spark_thread, "CREATE_SPARK_THREAD", {{{"thread", kU32}}}),
    shape(Id::log_msg, "LOG_MSG", {{{"text", kText}}}),
    shape(Id::startup, "STARTUP", {{{"caps", kU16}}}),
    shape(Id::block_marker, "BLOCK_MARKER", {{{"size", kU32}, {"end_time", kU64}, {"cap", kU16}}}),
    shape(Id::user_msg, "USER_MSG", {{{"text", kText}}}),
    shape(Id::gc_idle, "GC_IDLE"),
    shape(Id::gc_work, "GC_WORK"),
    shape(Id::gc_done, "GC_DONE"),
    shape(Id::version, "VERSION", {{{"text", kText}}}),
    shape(Id::program_invocation, "PROGRAM_INVOCATION", {{{"text", kText}}}),
    shape(Id::capset_create, "CAPSET_CREATE", {{{"capset", kU32}, {"type", kU16}}}),
    shape(Id::capset_delete, "CAPSET_DELETE", {{{"capset", kU32}}}),
    shape(Id::capset_assign_cap, "CAPSET_ASSIGN_CAP", {{{"capset", kU32}, {"cap", kU16}}}),
    shape(Id::capset_remove_cap, "CAPSET_REMOVE_CAP", {{{"capset", kU32}, {"cap", kU16}}}),
    shape(Id::rts_identifier, "RTS_IDENTIFIER", {{{"capset", kU32}, {"text", kText}}}),
    shape(Id::program_args, "PROGRAM_ARGS", {{{"capset", kU32}, {"strings", kStrings}}}),
    shape(Id::program_env, "PROGRAM_ENV", {{{"capset", kU32}, {"strings", kStrings}}}),
    shape(Id::osprocess_pid, "OSPROCESS_PID", {{{"capset", kU32}, {"pid", kU32}}}),
    shape(Id::osprocess_ppid, "OSPROCESS_PPID", {{{"capset", kU32}, {"pid", kU32}}}),
    shape(Id::spark_counters,
          "SPARK_COUNTERS",
          {{{"created", kU64},
            {"dud", kU64},
            {"overflowed", kU64},
            {"converted", kU64},
            {"gcd", kU64},
            {"fizzled", kU64},
            {"remaining", kU64}}}),
    shape(Id::spark_create, "SPARK_CREATE"),
    shape(Id::spark_dud, "SPARK_DUD"),
    shape(Id::spark_overflow, "SPARK_OVERFLOW"),
    shape(Id::spark_run, "SPARK_RUN"),
    shape(Id::spark_steal, "SPARK_STEAL", {{{"victim_cap", kU16}}}),
    shape(Id::spark_fizzle, "SPARK_FIZZLE"),
    shape(Id::spark_gc, "SPARK_GC"),
    shape(Id::intern_string, "INTERN_STRING", {{{"text", kText}, {"string", kU32}}}),
    shape(Id::wall_clock_time,
          "WALL_CLOCK_TIME",
          {{{"capset", kU32}, {"seconds", kU64}, {"nanoseconds", kU32}}}),
    shape(Id::thread_label, "THREAD_LABEL", {{{"thread", kU32}, {"text", kText}}}),
    shape(Id::cap_create, "CAP_CREATE", {{{"cap", kU16}}}),
    shape(Id::cap_delete, "CAP_DELETE", {{{"cap", kU16}}}),
    shape(Id::cap_disable, "CAP_DISABLE", {{{"cap", kU16}}}),
    shape(Id::cap_enable, "CAP_ENABLE", {{{"cap", kU16}}}),
    shape(Id::heap_allocated, "HEAP_ALLOCATED", {{{"heap_capset", kU32}, {"bytes", kU64}}}),
    shape(Id::heap_size, "HEAP_SIZE", {{{"heap_capset", kU32}, {"bytes", kU64}}}),
    shape(Id::heap_live, "HEAP_LIVE", {{{"heap_capset", kU32}, {"bytes", kU64}}}),
    shape(Id::heap_info_ghc,
          "HEAP_INFO_GHC",
          {{{"heap_capset", kU32},
            {"generations", kU16},
            {"max_heap_bytes", kU64},
            {"alloc_area_bytes", kU64},
            {"mblock_bytes", kU64},
            {"block_bytes", kU64}}}),
    // Before GHC 8.6 without the last field.
    shape(Id::gc_stats_ghc,
          "GC_STATS_GHC",
          {{{"heap_capset", kU32},
            {"generation", kU16},
            {"copied", kU64},
            {"slop", kU64},
            {"fragmentation", kU64},
            {"par_threads", kU32},
            {"par_max_copied", kU64},
            {"par_total_copied", kU64}}}),
    shape(Id::gc_stats_ghc,
          "GC_STATS_GHC",
          {{{"heap_capset", kU32},
            {"generation", kU16},
            {"copied", kU64},
            {"slop", kU64},
            {"fragmentation", kU64},
            {"par_threads", kU32},
            {"par_max_copied", kU64},
            {"par_total_copied", kU64},
            {"par_balanced_copied", kU64}}}),
    shape(Id::gc_global_sync, "GC_GLOBAL_SYNC"),
    shape(Id::task_create, "TASK_CREATE", {{{"task", kU64}, {"cap", kU16}, {"kernel_tid", kU64}}}),
    shape(Id::task_migrate, "TASK_MIGRATE", {{{"task", kU64}, {"cap", kU16}, {"new_cap", kU16}}}),
    shape(Id::task_delete, "TASK_DELETE", {{{"task", kU64}}}),
    shape(Id::user_marker, "USER_MARKER", {{{"text", kText}}}),
    shape(Id::hack_bug_t9003, "HACK_BUG_T9003"),
    shape(Id::eden_start_receive, "EDEN_START_RECEIVE"),
    shape(Id::eden_end_receive, "EDEN_END_RECEIVE"),
    shape(Id::create_process, "CREATE_PROCESS", {{{"process", kU32}}}),
    shape(Id::kill_process, "KILL_PROCESS", {{{"process", kU32}}}),
    shape(Id::assign_thread_to_process,
          "ASSIGN_THREAD_TO_PROCESS",
          {{{"thread", kU32}, {"process", kU32}}}),
    shape(Id::create_machine, "CREATE_MACHINE", {{{"machine", kU16}, {"real_time", kU64}}}),
    shape(Id::kill_machine, "KILL_MACHINE", {{{"machine", kU16}}}),
    shape(Id::send_message,
          "SEND_MESSAGE",
          {{{"tag", kU8},
            {"sender_process", kU32},
            {"sender_thread", kU32},
            {"receiver_machine", kU16},
            {"receiver_process", kU32},
            {"receiver_inport", kU32}}}),
    shape(Id::receive_message,
          "RECEIVE_MESSAGE",
          {{{"tag", kU8},
            {"receiver_process", kU32},
            {"receiver_inport", kU32},
            {"sender_machine", kU16},
            {"sender_process", kU32},
            {"sender_thread", kU32},
            {"size", kU32}}}),
    shape(Id::send_receive_local_message,
          "SEND_RECEIVE_LOCAL_MESSAGE",
          {{{"tag", kU8},
            {"sender_process", kU32},
            {"sender_thread", kU32},
            {"receiver_process", kU32},
            {"receiver_inport", kU32}}}),
    shape(Id::mem_return,
          "MEM_RETURN",
          {{{"heap_capset", kU32}, {"current", kU32}, {"needed", kU32}, {"returned", kU32}}}),
    shape(Id::blocks_size, "BLOCKS_SIZE", {{{"heap_capset", kU32}, {"bytes", kU64}}}),
    shape(Id::perf_name, "PERF_NAME", {{{"perf", kU32}, {"text", kText}}}),
    shape(Id::perf_counter,
          "PERF_COUNTER",
          {{{"perf", kU32}, {"kernel_tid", kU64}, {"period", kU64}}}),
    shape(Id::perf_tracepoint, "PERF_TRACEPOINT", {{{"perf", kU32}, {"kernel_tid", kU64}}}),
    shape(Id::heap_prof_begin,
          "HEAP_PROF_BEGIN",
          {{{"profile", kU8},
            {"period_ns", kU64},
            {"breakdown", kU32},
            {"module", kCText},
            {"closure", kCText},
            {"type", kCText},
            {"cost_centre", kCText},
            {"cost_centre_stack", kCText},
            {"retainer", kCText},
            {"biography", kCText}}}),
    shape(Id::heap_prof_cost_centre,
          "HEAP_PROF_COST_CENTRE",
          {{{"cost_centre", kU32},
            {"label", kCText},
            {"module", kCText},
            {"source", kCText},
            {"flags", kU8}}}),
    shape(Id::heap_prof_sample_begin, "HEAP_PROF_SAMPLE_BEGIN", {{{"era", kU64}}}),
    shape(Id::heap_prof_sample_cost_centre,
          "HEAP_PROF_SAMPLE_COST_CENTRE",
          {{{"profile", kU8}, {"residency", kU64}, {"stack", kStack}}}),
    shape(Id::heap_prof_sample_string,
          "HEAP_PROF_SAMPLE_STRING",
          {{{"profile", kU8}, {"residency", kU64}, {"label", kCText}}}),
    shape(Id::heap_prof_sample_end, "HEAP_PROF_SAMPLE_END", {{{"era", kU64}}}),
    shape(Id::heap_bio_prof_sample_begin,
          "HEAP_BIO_PROF_SAMPLE_BEGIN",
          {{{"era", kU64}, {"time", kU64}}}),
    shape(Id::prof_sample_cost_centre,
          "PROF_SAMPLE_COST_CENTRE",
          {{{"cap", kU32}, {"tick", kU64}, {"stack", kStack}}}),
    shape(Id::prof_begin, "PROF_BEGIN", {{{"tick_interval_ns", kU64}}}),
    shape(Id::ipe,
          "IPE",
          {{{"info", kU64},
            {"table", kCText},
            {"closure_type", kCText},
            {"type", kCText},
            {"label", kCText},
            {"module", kCText},
            {"source", kCText}}}),
    shape(Id::user_binary_msg, "USER_BINARY_MSG", {{{"bytes", kBytes}}}),
    shape(Id::conc_mark_begin, "CONC_MARK_BEGIN"),
    shape(Id::conc_mark_end, "CONC_MARK_END", {{{"objects", kU32}}}),
    shape(Id::conc_sync_begin, "CONC_SYNC_BEGIN"),
    shape(Id::conc_sync_end, "CONC_SYNC_END"),
    shape(Id::conc_sweep_begin, "CONC_SWEEP_BEGIN"),
    shape(Id::conc_sweep_end, "CONC_SWEEP_END"),
    shape(Id::conc_upd_rem_set_flush, "CONC_UPD_REM_SET_FLUSH", {{{"cap", kU16}}}),
    // The block size is an exponent up to GHC 9.8.
    shape(Id::nonmoving_heap_census,
          "NONMOVING_HEAP_CENSUS",
          {{{"block_bytes", kPower},
            {"active_segments", kU32},
            {"filled_segments", kU32},
            {"live_blocks", kU32}}}),
    shape(Id::nonmoving_heap_census,
          "NONMOVING_HEAP_CENSUS",
          {{{"block_bytes", kU16},
            {"active_segments", kU32},
            {"filled_segments", kU32},
            {"live_blocks", kU32}}}),
    shape(Id::nonmoving_pruned_segments,
          "NONMOVING_PRUNED_SEGMENTS",
          {{{"pruned", kU32}, {"free", kU32}}}),
    // The address came with GHC 9.4, the description in JSON with 9.6.
    shape(Id::ticky_counter_def,
          "TICKY_COUNTER_DEF",
          {{{"counter", kU64},
            {"arity", kU16},
            {"kinds", kCText},
            {"name", kCText},
            {"info", kOptionalU64},
            {"json", kOptionalText}}}),
    shape(Id::ticky_counter_sample,
          "TICKY_COUNTER_SAMPLE",
          {{{"counter", kU64}, {"entries", kU64}, {"allocs", kU64}, {"allocd", kU64}}}),
    shape(Id::ticky_counter_begin_sample, "TICKY_COUNTER_BEGIN_SAMPLE"),
};

// Of compilers before GHC 9, and of Eden.
bool is_obsolete(Id id) {
    switch (id) {
        case Id::run_spark:
        case Id::steal_spark:
        case Id::shutdown:
        case Id::create_spark:
        case Id::spark_to_thread:
        case Id::startup:
        case Id::version:
        case Id::program_invocation:
            return true;
        default:
            return id >= Id::eden_start_receive && id <= Id::send_receive_local_message;
    }
}

}  // namespace

std::vector<EventlogId> ghc_eventlog_ids() {
    std::vector<EventlogId> ids;
    for (const auto& candidate : kShapes) {
        const bool is_another_form = !ids.empty() && ids.back() == candidate.id;
        if (!is_another_form && !is_obsolete(candidate.id)) ids.push_back(candidate.id);
    }
    return ids;
}

const EventlogShape* find_eventlog_shape(uint16_t id, uint16_t declared_size) {
    const bool is_variable = declared_size == kEventlogVariableSize;
    const EventlogShape* best = nullptr;
    for (const auto& candidate : kShapes) {
        if (static_cast<uint16_t>(candidate.id) != id) continue;
        if (candidate.is_variable() != is_variable) continue;
        if (candidate.size <= declared_size) best = &candidate;
    }
    return best;
}

const EventlogShape* newest_eventlog_shape(uint16_t id) {
    const EventlogShape* newest = nullptr;
    for (const auto& candidate : kShapes) {
        if (static_cast<uint16_t>(candidate.id) == id) newest = &candidate;
    }
    return newest;
}

}  // namespace tracer::test
