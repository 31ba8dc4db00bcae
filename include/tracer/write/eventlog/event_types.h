// SPDX-License-Identifier: Apache-2.0
//
// Every event of the GHC eventlog, once: number, size, fields, and the words that GHC itself puts
// in a log's header. The header, the sizes and the typed posts (poster.h) all come from this table;
// what disagrees with it does not compile.
//
// Numbers and sizes: GHC 9.0 to 9.14, rts/include/rts/EventLogFormat.h. Descriptions: byte for byte
// those of GHC 9.10.3, because `ghc-events merge` refuses two logs that describe one id
// differently; those of 140-142 are perf's converter's, those of ids without a compiler of today
// their last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracer::eventlog {

// Ids that mean something in one log only. All but tasks are dense from 0 by custom.
using ThreadId = uint32_t;        // of a Haskell thread, or of a task
using CapNo = uint16_t;           // a capability: what runs one thread at a time
using CapsetId = uint32_t;        // a set of capabilities, such as a process
using TaskId = uint64_t;          // an operating system thread, by the program's own name
using KernelThreadId = uint64_t;  // an operating system thread, by the kernel's
using PerfId = uint32_t;          // a counter or tracepoint named by perf_name

inline constexpr CapNo kNoCapability = 0xffff;  // in a block marker: events of no capability
inline constexpr CapNo kCapabilityMax = 0xfffe;

inline constexpr size_t kEventHeaderBytes = 10;          // u16 id, u64 time
inline constexpr size_t kVariableEventHeaderBytes = 12;  // and u16 payload length
inline constexpr size_t kPayloadBytesMax = 0xffff;       // of one event
inline constexpr size_t kBlockMarkerBytes = 24;
inline constexpr uint16_t kVariableSize = 0xffff;  // in place of a size: each event has its own
inline constexpr uint16_t kEndOfData = 0xffff;     // in place of an id: nothing follows

enum class EventId : uint16_t {
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
    log_message = 16,
    startup = 17,
    block_marker = 18,
    user_message = 19,
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
    // 100-139 belong to Mercury, 140-159 to perf.
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
    user_binary_message = 181,
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

// What a payload is made of, in order. All integers are big-endian.
enum class Field : uint8_t {
    u8,
    u16,
    u32,
    u64,
    text,       // UTF-8, as many bytes as the other fields leave
    c_string,   // UTF-8 and a NUL
    strings,    // c_strings to the end
    bytes,      // anything, to the end
    u32_stack,  // u8 count, then that many u32
};

constexpr size_t bytes_of(Field field) {
    switch (field) {
        case Field::u8:
            return 1;
        case Field::u16:
            return 2;
        case Field::u32:
            return 4;
        case Field::u64:
            return 8;
        // What is there even when empty.
        case Field::c_string:
        case Field::u32_stack:
            return 1;
        case Field::text:
        case Field::strings:
        case Field::bytes:
            return 0;
    }
    return 0;
}

constexpr bool is_integer(Field field) {
    return field <= Field::u64;
}

class Shape {
public:
    template <typename... Fields>
    constexpr Shape(Fields... fields)  // NOLINT(google-explicit-constructor): a list in a table
        : fields_{fields...}, count_(sizeof...(fields)) {}

    [[nodiscard]] constexpr const Field* begin() const { return fields_.data(); }
    [[nodiscard]] constexpr const Field* end() const { return fields_.data() + count_; }
    [[nodiscard]] constexpr size_t size() const { return count_; }
    constexpr Field operator[](size_t index) const { return fields_[index]; }

    // Bytes of the payload with nothing in its texts and lists.
    [[nodiscard]] constexpr size_t bytes_min() const {
        size_t sum = 0;
        for (const Field field : *this) sum += bytes_of(field);
        return sum;
    }
    [[nodiscard]] constexpr bool is_fixed() const {
        for (const Field field : *this) {
            if (!is_integer(field)) return false;
        }
        return true;
    }

private:
    std::array<Field, 10> fields_;
    size_t count_;
};

// The first compiler of 9.0 or later that declares an id, or whose it is otherwise.
enum class Since : uint16_t {
    obsolete = 1,  // a compiler before 9.0, or Eden
    perf = 2,      // the converter of perf's records; drawn by ThreadScope
    ghc_9_0 = 900,
    ghc_9_2 = 902,
    ghc_9_10 = 910,
};

struct EventType {
    EventId id;
    std::string_view name;  // as in GHC's sources, without EVENT_
    uint16_t size;          // payload bytes, or kVariableSize
    Since since;
    Shape shape;
    std::string_view description;  // as in the header
};

// NOLINTBEGIN(readability-identifier-naming): one row a line
namespace table {
using enum Field;
using enum Since;
inline constexpr uint16_t V = kVariableSize;
using Id = EventId;

// clang-format off
inline constexpr std::array kRows{
    EventType{Id::create_thread, "CREATE_THREAD", 4, ghc_9_0, {u32}, "Create thread"},
    EventType{Id::run_thread, "RUN_THREAD", 4, ghc_9_0, {u32}, "Run thread"},
    EventType{Id::stop_thread, "STOP_THREAD", 10, ghc_9_0, {u32, u16, u32}, "Stop thread"},
    EventType{Id::thread_runnable, "THREAD_RUNNABLE", 4, ghc_9_0, {u32}, "Thread runnable"},
    EventType{Id::migrate_thread, "MIGRATE_THREAD", 6, ghc_9_0, {u32, u16}, "Migrate thread"},
    EventType{Id::run_spark, "RUN_SPARK", 4, obsolete, {u32}, "Run spark"},
    EventType{Id::steal_spark, "STEAL_SPARK", 6, obsolete, {u32, u16}, "Steal spark"},
    EventType{Id::shutdown, "SHUTDOWN", 0, obsolete, {}, "Shutdown"},
    EventType{Id::thread_wakeup, "THREAD_WAKEUP", 6, ghc_9_0, {u32, u16}, "Wakeup thread"},
    EventType{Id::gc_start, "GC_START", 0, ghc_9_0, {}, "Starting GC"},
    EventType{Id::gc_end, "GC_END", 0, ghc_9_0, {}, "Finished GC"},
    EventType{Id::request_seq_gc, "REQUEST_SEQ_GC", 0, ghc_9_0, {}, "Request sequential GC"},
    EventType{Id::request_par_gc, "REQUEST_PAR_GC", 0, ghc_9_0, {}, "Request parallel GC"},
    EventType{Id::create_spark, "CREATE_SPARK", 4, obsolete, {u32}, "Create spark"},
    EventType{Id::spark_to_thread, "SPARK_TO_THREAD", 4, obsolete, {u32}, "Spark to thread"},
    EventType{Id::create_spark_thread, "CREATE_SPARK_THREAD", 4, ghc_9_0, {u32}, "Create spark thread"},
    EventType{Id::log_message, "LOG_MSG", V, ghc_9_0, {text}, "Log message"},
    EventType{Id::startup, "STARTUP", 2, obsolete, {u16}, "Startup"},
    EventType{Id::block_marker, "BLOCK_MARKER", 14, ghc_9_0, {u32, u64, u16}, "Block marker"},
    EventType{Id::user_message, "USER_MSG", V, ghc_9_0, {text}, "User message"},
    EventType{Id::gc_idle, "GC_IDLE", 0, ghc_9_0, {}, "GC idle"},
    EventType{Id::gc_work, "GC_WORK", 0, ghc_9_0, {}, "GC working"},
    EventType{Id::gc_done, "GC_DONE", 0, ghc_9_0, {}, "GC done"},
    EventType{Id::version, "VERSION", V, obsolete, {text}, "Version"},
    EventType{Id::program_invocation, "PROGRAM_INVOCATION", V, obsolete, {text}, "Program invocation"},
    EventType{Id::capset_create, "CAPSET_CREATE", 6, ghc_9_0, {u32, u16}, "Create capability set"},
    EventType{Id::capset_delete, "CAPSET_DELETE", 4, ghc_9_0, {u32}, "Delete capability set"},
    EventType{Id::capset_assign_cap, "CAPSET_ASSIGN_CAP", 6, ghc_9_0, {u32, u16}, "Add capability to capability set"},
    EventType{Id::capset_remove_cap, "CAPSET_REMOVE_CAP", 6, ghc_9_0, {u32, u16}, "Remove capability from capability set"},
    EventType{Id::rts_identifier, "RTS_IDENTIFIER", V, ghc_9_0, {u32, text}, "RTS name and version"},
    EventType{Id::program_args, "PROGRAM_ARGS", V, ghc_9_0, {u32, strings}, "Program arguments"},
    EventType{Id::program_env, "PROGRAM_ENV", V, ghc_9_0, {u32, strings}, "Program environment variables"},
    EventType{Id::osprocess_pid, "OSPROCESS_PID", 8, ghc_9_0, {u32, u32}, "Process ID"},
    EventType{Id::osprocess_ppid, "OSPROCESS_PPID", 8, ghc_9_0, {u32, u32}, "Parent process ID"},
    EventType{Id::spark_counters, "SPARK_COUNTERS", 56, ghc_9_0, {u64, u64, u64, u64, u64, u64, u64}, "Spark counters"},
    EventType{Id::spark_create, "SPARK_CREATE", 0, ghc_9_0, {}, "Spark create"},
    EventType{Id::spark_dud, "SPARK_DUD", 0, ghc_9_0, {}, "Spark dud"},
    EventType{Id::spark_overflow, "SPARK_OVERFLOW", 0, ghc_9_0, {}, "Spark overflow"},
    EventType{Id::spark_run, "SPARK_RUN", 0, ghc_9_0, {}, "Spark run"},
    EventType{Id::spark_steal, "SPARK_STEAL", 2, ghc_9_0, {u16}, "Spark steal"},
    EventType{Id::spark_fizzle, "SPARK_FIZZLE", 0, ghc_9_0, {}, "Spark fizzle"},
    EventType{Id::spark_gc, "SPARK_GC", 0, ghc_9_0, {}, "Spark GC"},
    EventType{Id::intern_string, "INTERN_STRING", V, ghc_9_2, {text, u32}, "Intern string"},
    EventType{Id::wall_clock_time, "WALL_CLOCK_TIME", 16, ghc_9_0, {u32, u64, u32}, "Wall clock time"},
    EventType{Id::thread_label, "THREAD_LABEL", V, ghc_9_0, {u32, text}, "Thread label"},
    EventType{Id::cap_create, "CAP_CREATE", 2, ghc_9_0, {u16}, "Create capability"},
    EventType{Id::cap_delete, "CAP_DELETE", 2, ghc_9_0, {u16}, "Delete capability"},
    EventType{Id::cap_disable, "CAP_DISABLE", 2, ghc_9_0, {u16}, "Disable capability"},
    EventType{Id::cap_enable, "CAP_ENABLE", 2, ghc_9_0, {u16}, "Enable capability"},
    EventType{Id::heap_allocated, "HEAP_ALLOCATED", 12, ghc_9_0, {u32, u64}, "Total heap memory ever allocated"},
    EventType{Id::heap_size, "HEAP_SIZE", 12, ghc_9_0, {u32, u64}, "Current heap size (number of allocated mblocks)"},
    EventType{Id::heap_live, "HEAP_LIVE", 12, ghc_9_0, {u32, u64}, "Current heap live data"},
    EventType{Id::heap_info_ghc, "HEAP_INFO_GHC", 38, ghc_9_0, {u32, u16, u64, u64, u64, u64}, "Heap static parameters"},
    EventType{Id::gc_stats_ghc, "GC_STATS_GHC", 58, ghc_9_0, {u32, u16, u64, u64, u64, u32, u64, u64, u64}, "GC statistics"},
    EventType{Id::gc_global_sync, "GC_GLOBAL_SYNC", 0, ghc_9_0, {}, "Synchronise stop-the-world GC"},
    EventType{Id::task_create, "TASK_CREATE", 18, ghc_9_0, {u64, u16, u64}, "Task create"},
    EventType{Id::task_migrate, "TASK_MIGRATE", 12, ghc_9_0, {u64, u16, u16}, "Task migrate"},
    EventType{Id::task_delete, "TASK_DELETE", 8, ghc_9_0, {u64}, "Task delete"},
    EventType{Id::user_marker, "USER_MARKER", V, ghc_9_0, {text}, "User marker"},
    // Never written; its declaration tells readers that stop statuses are today's.
    EventType{Id::hack_bug_t9003, "HACK_BUG_T9003", 0, ghc_9_0, {}, "Empty event for bug #9003"},
    EventType{Id::eden_start_receive, "EDEN_START_RECEIVE", 0, obsolete, {}, "Starting message receival"},
    EventType{Id::eden_end_receive, "EDEN_END_RECEIVE", 0, obsolete, {}, "Finished message receival"},
    EventType{Id::create_process, "CREATE_PROCESS", 4, obsolete, {u32}, "Creating Process"},
    EventType{Id::kill_process, "KILL_PROCESS", 4, obsolete, {u32}, "Killing Process"},
    EventType{Id::assign_thread_to_process, "ASSIGN_THREAD_TO_PROCESS", 8, obsolete, {u32, u32}, "Assigning thread to process"},
    EventType{Id::create_machine, "CREATE_MACHINE", 10, obsolete, {u16, u64}, "Creating machine"},
    EventType{Id::kill_machine, "KILL_MACHINE", 2, obsolete, {u16}, "Killing machine"},
    EventType{Id::send_message, "SEND_MESSAGE", 19, obsolete, {u8, u32, u32, u16, u32, u32}, "Sending message"},
    EventType{Id::receive_message, "RECEIVE_MESSAGE", 23, obsolete, {u8, u32, u32, u16, u32, u32, u32}, "Receiving message"},
    EventType{Id::send_receive_local_message, "SEND_RECEIVE_LOCAL_MESSAGE", 17, obsolete, {u8, u32, u32, u32, u32}, "Sending/Receiving local message"},
    EventType{Id::mem_return, "MEM_RETURN", 16, ghc_9_2, {u32, u32, u32, u32}, "The RTS attempted to return heap memory to the OS"},
    EventType{Id::blocks_size, "BLOCKS_SIZE", 12, ghc_9_2, {u32, u64}, "Report the size of the heap in blocks"},
    EventType{Id::perf_name, "PERF_NAME", V, perf, {u32, text}, "perf event name"},
    EventType{Id::perf_counter, "PERF_COUNTER", 20, perf, {u32, u64, u64}, "perf event counter"},
    EventType{Id::perf_tracepoint, "PERF_TRACEPOINT", 12, perf, {u32, u64}, "perf event tracepoint"},
    EventType{Id::heap_prof_begin, "HEAP_PROF_BEGIN", V, ghc_9_0, {u8, u64, u32, c_string, c_string, c_string, c_string, c_string, c_string, c_string}, "Start of heap profile"},
    EventType{Id::heap_prof_cost_centre, "HEAP_PROF_COST_CENTRE", V, ghc_9_0, {u32, c_string, c_string, c_string, u8}, "Cost-centre definition"},
    EventType{Id::heap_prof_sample_begin, "HEAP_PROF_SAMPLE_BEGIN", 8, ghc_9_0, {u64}, "Start of heap profile sample"},
    EventType{Id::heap_prof_sample_cost_centre, "HEAP_PROF_SAMPLE_COST_CENTRE", V, ghc_9_0, {u8, u64, u32_stack}, "Heap profile cost-centre sample"},
    EventType{Id::heap_prof_sample_string, "HEAP_PROF_SAMPLE_STRING", V, ghc_9_0, {u8, u64, c_string}, "Heap profile string sample"},
    EventType{Id::heap_prof_sample_end, "HEAP_PROF_SAMPLE_END", 8, ghc_9_0, {u64}, "End of heap profile sample"},
    EventType{Id::heap_bio_prof_sample_begin, "HEAP_BIO_PROF_SAMPLE_BEGIN", 16, ghc_9_0, {u64, u64}, "Start of heap profile (biographical) sample"},
    EventType{Id::prof_sample_cost_centre, "PROF_SAMPLE_COST_CENTRE", V, ghc_9_0, {u32, u64, u32_stack}, "Time profile cost-centre stack"},
    EventType{Id::prof_begin, "PROF_BEGIN", 8, ghc_9_0, {u64}, "Start of a time profile"},
    EventType{Id::ipe, "IPE", V, ghc_9_2, {u64, c_string, c_string, c_string, c_string, c_string, c_string}, "An IPE entry"},
    EventType{Id::user_binary_message, "USER_BINARY_MSG", V, ghc_9_0, {bytes}, "User binary message"},
    EventType{Id::conc_mark_begin, "CONC_MARK_BEGIN", 0, ghc_9_0, {}, "Begin concurrent mark phase"},
    EventType{Id::conc_mark_end, "CONC_MARK_END", 4, ghc_9_0, {u32}, "End concurrent mark phase"},
    EventType{Id::conc_sync_begin, "CONC_SYNC_BEGIN", 0, ghc_9_0, {}, "Begin concurrent GC synchronisation"},
    EventType{Id::conc_sync_end, "CONC_SYNC_END", 0, ghc_9_0, {}, "End concurrent mark synchronisation"},
    EventType{Id::conc_sweep_begin, "CONC_SWEEP_BEGIN", 0, ghc_9_0, {}, "Begin concurrent sweep phase"},
    EventType{Id::conc_sweep_end, "CONC_SWEEP_END", 0, ghc_9_0, {}, "End concurrent sweep phase"},
    EventType{Id::conc_upd_rem_set_flush, "CONC_UPD_REM_SET_FLUSH", 2, ghc_9_0, {u16}, "Update remembered set flushed"},
    EventType{Id::nonmoving_heap_census, "NONMOVING_HEAP_CENSUS", 14, ghc_9_0, {u16, u32, u32, u32}, "Nonmoving heap census"},
    EventType{Id::nonmoving_pruned_segments, "NONMOVING_PRUNED_SEGMENTS", 8, ghc_9_10, {u32, u32}, "Report the amount of segments pruned and remaining on the free list."},
    EventType{Id::ticky_counter_def, "TICKY_COUNTER_DEF", V, ghc_9_2, {u64, u16, c_string, c_string, u64, c_string}, "Ticky-ticky entry counter definition"},
    EventType{Id::ticky_counter_sample, "TICKY_COUNTER_SAMPLE", 32, ghc_9_2, {u64, u64, u64, u64}, "Ticky-ticky entry counter sample"},
    EventType{Id::ticky_counter_begin_sample, "TICKY_COUNTER_BEGIN_SAMPLE", 0, ghc_9_2, {}, "Ticky-ticky entry counter begin sample"},
};

// Forms that compilers before those of the table gave the same ids.
inline constexpr EventType kCensusBefore910{Id::nonmoving_heap_census, "NONMOVING_HEAP_CENSUS", 13, ghc_9_0, {u8, u32, u32, u32}, "Nonmoving heap census"};
inline constexpr EventType kTickyBefore904{Id::ticky_counter_def, "TICKY_COUNTER_DEF", V, ghc_9_2, {u64, u16, c_string, c_string}, "Ticky-ticky entry counter definition"};
inline constexpr EventType kTickyBefore906{Id::ticky_counter_def, "TICKY_COUNTER_DEF", V, ghc_9_2, {u64, u16, c_string, c_string, u64}, "Ticky-ticky entry counter definition"};
// clang-format on

constexpr bool size_fits_shape(const EventType& type) {
    return type.shape.is_fixed() ? type.size == type.shape.bytes_min() : type.size == V;
}

constexpr bool is_sound() {
    for (size_t row = 0; row < kRows.size(); ++row) {
        if (!size_fits_shape(kRows[row])) return false;
        if (row > 0 && kRows[row - 1].id >= kRows[row].id) return false;  // ascending, as in GHC
    }
    return size_fits_shape(kCensusBefore910) && size_fits_shape(kTickyBefore904) &&
           size_fits_shape(kTickyBefore906);
}
static_assert(is_sound(), "a row's size differs from its fields, or ids do not ascend");

constexpr size_t row_of(EventId id) {
    size_t row = 0;
    while (kRows[row].id != id) ++row;  // past the end does not compile
    return row;
}
}  // namespace table
// NOLINTEND(readability-identifier-naming)

inline constexpr const auto& kEventTypes = table::kRows;

// The row of an id known when compiling; a copy, because a template cannot be given an element.
template <EventId id>
inline constexpr EventType kTypeOf = table::kRows[table::row_of(id)];

// Which compiler's log this is to look like. It decides what is declared and the form of the few
// events that changed; the words of the header are 9.10's in every case.
enum class Release : uint16_t {
    ghc_9_0 = 900,
    ghc_9_2 = 902,
    ghc_9_4 = 904,
    ghc_9_6 = 906,
    ghc_9_8 = 908,
    ghc_9_10 = 910,
    ghc_9_12 = 912,
    ghc_9_14 = 914,
};

struct Dialect {
    Release release = Release::ghc_9_14;
    bool has_perf = true;       // declares 140-142
    bool has_obsolete = false;  // declares ids of compilers before 9.0 too
};

constexpr bool is_declared(const EventType& type, const Dialect& dialect) {
    if (type.since == Since::perf) return dialect.has_perf;
    if (type.since == Since::obsolete) return dialect.has_obsolete;
    return static_cast<uint16_t>(type.since) <= static_cast<uint16_t>(dialect.release);
}

// The form that `type` (a row of the table) has in this dialect.
constexpr const EventType& form_of(const EventType& type, const Dialect& dialect) {
    if (type.id == EventId::nonmoving_heap_census && dialect.release < Release::ghc_9_10) {
        return table::kCensusBefore910;
    }
    if (type.id == EventId::ticky_counter_def && dialect.release < Release::ghc_9_4) {
        return table::kTickyBefore904;
    }
    if (type.id == EventId::ticky_counter_def && dialect.release < Release::ghc_9_6) {
        return table::kTickyBefore906;
    }
    return type;
}

}  // namespace tracer::eventlog
