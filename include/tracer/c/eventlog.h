/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live GHC eventlog for programs in C: any thread posts, any thread controls, and where the log
 * goes can be changed while it is written. tracer/write/eventlog/log.h says more about each call.
 *
 *     tracer_eventlog *log = tracer_eventlog_new(NULL, &error);
 *     tracer_sink *file = tracer_sink_open_file("app.eventlog", &error);
 *     tracer_eventlog_start(log, file, &error);
 *     tracer_eventlog_create_thread(log, 0, tracer_eventlog_now(log), 1);
 *     tracer_eventlog_run_thread(log, 0, tracer_eventlog_now(log), 1);
 *     tracer_eventlog_user_message(log, 0, tracer_eventlog_now(log), "loaded");
 *     tracer_eventlog_end(log, &error);
 *     tracer_sink_close(file, &error);
 *     tracer_eventlog_free(log);
 */
#ifndef TRACER_C_EVENTLOG_H
#define TRACER_C_EVENTLOG_H

#include "tracer/c/sink.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of an event. Each refusal is counted in the log, so it may be ignored. */
typedef enum tracer_eventlog_outcome {
    TRACER_EVENTLOG_POSTED = 0,
    TRACER_EVENTLOG_CLOSED,         /* the log does not run */
    TRACER_EVENTLOG_NO_CAPABILITY,  /* the log has none of this number */
    TRACER_EVENTLOG_BEFORE_START,   /* the time lies before the log's start */
    TRACER_EVENTLOG_BACKWARD_TIME,  /* earlier than the capability's last event, refuse_invalid */
    TRACER_EVENTLOG_UNDECLARED,     /* no such event in the log's header */
    TRACER_EVENTLOG_BAD_VALUE,      /* a number that readers refuse: a stop status, a breakdown */
    TRACER_EVENTLOG_TOO_LARGE,      /* over 65,535 bytes, or over the buffer */
    TRACER_EVENTLOG_NOT_UTF8,       /* refuse_invalid */
    TRACER_EVENTLOG_NUL_INSIDE,     /* refuse_invalid */
    TRACER_EVENTLOG_STACK_TOO_DEEP, /* refuse_invalid: more than 255 cost centres */
    TRACER_EVENTLOG_WRONG_FIELDS,   /* not the fields of this event */
} tracer_eventlog_outcome;

/* The enumerator in lower case, for messages. Static. */
const char* tracer_eventlog_outcome_name(tracer_eventlog_outcome outcome);

/* Thread safe, but for making and freeing it. */
typedef struct tracer_eventlog tracer_eventlog;

/* All zeros is a good choice. */
typedef struct tracer_eventlog_options {
    size_t buffer_bytes;       /* of each capability; 0: 2 MiB, as GHC */
    uint16_t capabilities;     /* at the start; 0: 1 */
    uint16_t capabilities_max; /* at most; 0: 1024 */
    bool has_base_ns;          /* base_ns is the log's time 0, else its start */
    uint64_t base_ns;
    uint64_t (*clock)(void); /* nanoseconds; NULL: CLOCK_MONOTONIC, as GHC */
    bool refuse_invalid;     /* text and times that cannot be, instead of mending and counting */
    bool open_ended_blocks;  /* for streams that are read as they come */
} tracer_eventlog_options;

/* NULL options are all zeros. */
tracer_eventlog* tracer_eventlog_new(const tracer_eventlog_options* options, tracer_error* error);
/* Ends the log if it runs. NULL is allowed. Sinks stay the caller's. */
void tracer_eventlog_free(tracer_eventlog* log);

/* --- The life of a log. It borrows its sink until end or a replacement; close that after. --- */

/* Writes the header. Fails if the log runs, or if the sink has no room. */
bool tracer_eventlog_start(tracer_eventlog* log, tracer_sink* sink, tracer_error* error);
bool tracer_eventlog_is_running(const tracer_eventlog* log);
/* What was posted before is in the sink after. */
void tracer_eventlog_flush(tracer_eventlog* log);
/* Flushes and writes the mark of the end. No error when the log does not run. */
bool tracer_eventlog_end(tracer_eventlog* log, tracer_error* error);
/* In a child of fork(), before any other call: forgets what the parent has buffered and its sink,
 * and starts anew with a header. */
bool tracer_eventlog_restart_after_fork(tracer_eventlog* log,
                                        tracer_sink* sink,
                                        tracer_error* error);

/* The next capability; its number is in *cap. */
bool tracer_eventlog_add_capability(tracer_eventlog* log, uint16_t* cap, tracer_error* error);
uint16_t tracer_eventlog_capability_count(const tracer_eventlog* log);

/*
 * Puts `next` in the place of the sink, between two blocks: nothing is in both or in none. With
 * begin_anew `next` gets a header and every live definition, so that it reads alone; without, it
 * goes on where its content ends. With end_previous the sink before gets the mark of the end: close
 * it; without, it can be put back later. *previous (NULL is allowed) is that sink.
 */
bool tracer_eventlog_replace_sink(tracer_eventlog* log,
                                  tracer_sink* next,
                                  bool begin_anew,
                                  bool end_previous,
                                  tracer_sink** previous,
                                  tracer_error* error);
/* The sink the log writes to; NULL: it does not run. */
tracer_sink* tracer_eventlog_sink(const tracer_eventlog* log);

/* Of every buffer, at once; each is flushed first. */
bool tracer_eventlog_set_buffer_bytes(tracer_eventlog* log, size_t bytes, tracer_error* error);
size_t tracer_eventlog_buffer_bytes(const tracer_eventlog* log);

/* The clock of the options. */
uint64_t tracer_eventlog_now(const tracer_eventlog* log);

typedef struct tracer_eventlog_counters {
    uint64_t events; /* in blocks that the sink took */
    uint64_t blocks;
    uint64_t bytes;
    uint64_t lost;    /* events of blocks that it did not take */
    uint64_t refused; /* posts of any other outcome than POSTED */
    uint64_t mended;  /* texts cut or repaired, times raised */
} tracer_eventlog_counters;
tracer_eventlog_counters tracer_eventlog_count(const tracer_eventlog* log);

/* --- A log in memory that the program takes away in chunks --- */

/* Chunks one after the other are the log. Thread safe. Past bytes_max blocks are lost and counted.
 */
typedef struct tracer_chunk_queue tracer_chunk_queue;
typedef struct tracer_chunk {
    const void* data;
    size_t bytes;
    void* owner; /* for tracer_chunk_free */
} tracer_chunk;

/* 0: 1 MiB a chunk, 64 MiB in all. */
tracer_chunk_queue* tracer_chunk_queue_new(size_t chunk_bytes,
                                           size_t bytes_max,
                                           tracer_error* error);
/* A sink that fills the queue, and may outlive it. */
tracer_sink* tracer_chunk_queue_sink(tracer_chunk_queue* queue, tracer_error* error);
/* The oldest full chunk, which is the caller's from now on; false: there is none. */
bool tracer_chunk_queue_pop(tracer_chunk_queue* queue, tracer_chunk* chunk);
size_t tracer_chunk_queue_bytes(const tracer_chunk_queue* queue);
void tracer_chunk_free(tracer_chunk* chunk);
void tracer_chunk_queue_free(tracer_chunk_queue* queue);

/* --- Events --- */

#define TRACER_EVENTLOG_GLOBAL 0xffff /* in place of a capability: the block of none */

/*
 * Events by number; tracer/write/eventlog/event_types.h has the fields of each. Blocks, and ids of
 * compilers before 9.0 that the log does not declare, are refused.
 */
typedef enum tracer_eventlog_id {
    TRACER_EVENTLOG_ID_CREATE_THREAD = 0,
    TRACER_EVENTLOG_ID_RUN_THREAD = 1,
    TRACER_EVENTLOG_ID_STOP_THREAD = 2,
    TRACER_EVENTLOG_ID_THREAD_RUNNABLE = 3,
    TRACER_EVENTLOG_ID_MIGRATE_THREAD = 4,
    TRACER_EVENTLOG_ID_RUN_SPARK = 5,
    TRACER_EVENTLOG_ID_STEAL_SPARK = 6,
    TRACER_EVENTLOG_ID_SHUTDOWN = 7,
    TRACER_EVENTLOG_ID_THREAD_WAKEUP = 8,
    TRACER_EVENTLOG_ID_GC_START = 9,
    TRACER_EVENTLOG_ID_GC_END = 10,
    TRACER_EVENTLOG_ID_REQUEST_SEQ_GC = 11,
    TRACER_EVENTLOG_ID_REQUEST_PAR_GC = 12,
    TRACER_EVENTLOG_ID_CREATE_SPARK = 13,
    TRACER_EVENTLOG_ID_SPARK_TO_THREAD = 14,
    TRACER_EVENTLOG_ID_CREATE_SPARK_THREAD = 15,
    TRACER_EVENTLOG_ID_LOG_MESSAGE = 16,
    TRACER_EVENTLOG_ID_STARTUP = 17,
    TRACER_EVENTLOG_ID_USER_MESSAGE = 19,
    TRACER_EVENTLOG_ID_GC_IDLE = 20,
    TRACER_EVENTLOG_ID_GC_WORK = 21,
    TRACER_EVENTLOG_ID_GC_DONE = 22,
    TRACER_EVENTLOG_ID_VERSION = 23,
    TRACER_EVENTLOG_ID_PROGRAM_INVOCATION = 24,
    TRACER_EVENTLOG_ID_CAPSET_CREATE = 25,
    TRACER_EVENTLOG_ID_CAPSET_DELETE = 26,
    TRACER_EVENTLOG_ID_CAPSET_ASSIGN_CAP = 27,
    TRACER_EVENTLOG_ID_CAPSET_REMOVE_CAP = 28,
    TRACER_EVENTLOG_ID_RTS_IDENTIFIER = 29,
    TRACER_EVENTLOG_ID_PROGRAM_ARGS = 30,
    TRACER_EVENTLOG_ID_PROGRAM_ENV = 31,
    TRACER_EVENTLOG_ID_OSPROCESS_PID = 32,
    TRACER_EVENTLOG_ID_OSPROCESS_PPID = 33,
    TRACER_EVENTLOG_ID_SPARK_COUNTERS = 34,
    TRACER_EVENTLOG_ID_SPARK_CREATE = 35,
    TRACER_EVENTLOG_ID_SPARK_DUD = 36,
    TRACER_EVENTLOG_ID_SPARK_OVERFLOW = 37,
    TRACER_EVENTLOG_ID_SPARK_RUN = 38,
    TRACER_EVENTLOG_ID_SPARK_STEAL = 39,
    TRACER_EVENTLOG_ID_SPARK_FIZZLE = 40,
    TRACER_EVENTLOG_ID_SPARK_GC = 41,
    TRACER_EVENTLOG_ID_INTERN_STRING = 42,
    TRACER_EVENTLOG_ID_WALL_CLOCK_TIME = 43,
    TRACER_EVENTLOG_ID_THREAD_LABEL = 44,
    TRACER_EVENTLOG_ID_CAP_CREATE = 45,
    TRACER_EVENTLOG_ID_CAP_DELETE = 46,
    TRACER_EVENTLOG_ID_CAP_DISABLE = 47,
    TRACER_EVENTLOG_ID_CAP_ENABLE = 48,
    TRACER_EVENTLOG_ID_HEAP_ALLOCATED = 49,
    TRACER_EVENTLOG_ID_HEAP_SIZE = 50,
    TRACER_EVENTLOG_ID_HEAP_LIVE = 51,
    TRACER_EVENTLOG_ID_HEAP_INFO_GHC = 52,
    TRACER_EVENTLOG_ID_GC_STATS_GHC = 53,
    TRACER_EVENTLOG_ID_GC_GLOBAL_SYNC = 54,
    TRACER_EVENTLOG_ID_TASK_CREATE = 55,
    TRACER_EVENTLOG_ID_TASK_MIGRATE = 56,
    TRACER_EVENTLOG_ID_TASK_DELETE = 57,
    TRACER_EVENTLOG_ID_USER_MARKER = 58,
    TRACER_EVENTLOG_ID_HACK_BUG_T9003 = 59,
    TRACER_EVENTLOG_ID_EDEN_START_RECEIVE = 60,
    TRACER_EVENTLOG_ID_EDEN_END_RECEIVE = 61,
    TRACER_EVENTLOG_ID_CREATE_PROCESS = 62,
    TRACER_EVENTLOG_ID_KILL_PROCESS = 63,
    TRACER_EVENTLOG_ID_ASSIGN_THREAD_TO_PROCESS = 64,
    TRACER_EVENTLOG_ID_CREATE_MACHINE = 65,
    TRACER_EVENTLOG_ID_KILL_MACHINE = 66,
    TRACER_EVENTLOG_ID_SEND_MESSAGE = 67,
    TRACER_EVENTLOG_ID_RECEIVE_MESSAGE = 68,
    TRACER_EVENTLOG_ID_SEND_RECEIVE_LOCAL_MESSAGE = 69,
    TRACER_EVENTLOG_ID_MEM_RETURN = 90,
    TRACER_EVENTLOG_ID_BLOCKS_SIZE = 91,
    TRACER_EVENTLOG_ID_PERF_NAME = 140,
    TRACER_EVENTLOG_ID_PERF_COUNTER = 141,
    TRACER_EVENTLOG_ID_PERF_TRACEPOINT = 142,
    TRACER_EVENTLOG_ID_HEAP_PROF_BEGIN = 160,
    TRACER_EVENTLOG_ID_HEAP_PROF_COST_CENTRE = 161,
    TRACER_EVENTLOG_ID_HEAP_PROF_SAMPLE_BEGIN = 162,
    TRACER_EVENTLOG_ID_HEAP_PROF_SAMPLE_COST_CENTRE = 163,
    TRACER_EVENTLOG_ID_HEAP_PROF_SAMPLE_STRING = 164,
    TRACER_EVENTLOG_ID_HEAP_PROF_SAMPLE_END = 165,
    TRACER_EVENTLOG_ID_HEAP_BIO_PROF_SAMPLE_BEGIN = 166,
    TRACER_EVENTLOG_ID_PROF_SAMPLE_COST_CENTRE = 167,
    TRACER_EVENTLOG_ID_PROF_BEGIN = 168,
    TRACER_EVENTLOG_ID_IPE = 169,
    TRACER_EVENTLOG_ID_USER_BINARY_MESSAGE = 181,
    TRACER_EVENTLOG_ID_CONC_MARK_BEGIN = 200,
    TRACER_EVENTLOG_ID_CONC_MARK_END = 201,
    TRACER_EVENTLOG_ID_CONC_SYNC_BEGIN = 202,
    TRACER_EVENTLOG_ID_CONC_SYNC_END = 203,
    TRACER_EVENTLOG_ID_CONC_SWEEP_BEGIN = 204,
    TRACER_EVENTLOG_ID_CONC_SWEEP_END = 205,
    TRACER_EVENTLOG_ID_CONC_UPD_REM_SET_FLUSH = 206,
    TRACER_EVENTLOG_ID_NONMOVING_HEAP_CENSUS = 207,
    TRACER_EVENTLOG_ID_NONMOVING_PRUNED_SEGMENTS = 208,
    TRACER_EVENTLOG_ID_TICKY_COUNTER_DEF = 210,
    TRACER_EVENTLOG_ID_TICKY_COUNTER_SAMPLE = 211,
    TRACER_EVENTLOG_ID_TICKY_COUNTER_BEGIN_SAMPLE = 212,
} tracer_eventlog_id;

typedef enum tracer_eventlog_field_type {
    TRACER_EVENTLOG_U8 = 0,
    TRACER_EVENTLOG_U16,
    TRACER_EVENTLOG_U32,
    TRACER_EVENTLOG_U64,
    TRACER_EVENTLOG_TEXT,     /* UTF-8, as long as the event allows */
    TRACER_EVENTLOG_C_STRING, /* UTF-8 and a NUL */
    TRACER_EVENTLOG_STRINGS,  /* C strings to the event's end: data is const char *const * */
    TRACER_EVENTLOG_BYTES,
    TRACER_EVENTLOG_STACK, /* data is const uint32_t *, count of them */
} tracer_eventlog_field_type;

/* Borrowed for the call. */
typedef struct tracer_eventlog_field {
    tracer_eventlog_field_type type;
    uint64_t number;  /* of the integers */
    const void* data; /* of the others */
    size_t count;     /* bytes; strings; cost centres */
} tracer_eventlog_field;

/*
 * Any event of the table (tracer/write/eventlog/event_types.h) by its number, with its fields in
 * order, at `ns` of the log's clock, in the block of `cap`. Times of one capability do not go back.
 */
tracer_eventlog_outcome tracer_eventlog_post(tracer_eventlog* log,
                                             uint16_t cap,
                                             uint64_t ns,
                                             uint16_t id,
                                             const tracer_eventlog_field* fields,
                                             size_t count);

static inline tracer_eventlog_field tracer_eventlog_number(tracer_eventlog_field_type type,
                                                           uint64_t number) {
    tracer_eventlog_field field = {type, number, NULL, 0};
    return field;
}
static inline tracer_eventlog_field tracer_eventlog_text(tracer_eventlog_field_type type,
                                                         const char* text) {
    tracer_eventlog_field field = {type, 0, text, strlen(text)};
    return field;
}

/* Why a thread stopped: the statuses that all readers take alike. */
typedef enum tracer_eventlog_stop {
    TRACER_EVENTLOG_STOP_NONE = 0,
    TRACER_EVENTLOG_HEAP_OVERFLOW = 1,
    TRACER_EVENTLOG_STACK_OVERFLOW = 2,
    TRACER_EVENTLOG_YIELDING = 3,
    TRACER_EVENTLOG_FINISHED = 5, /* the thread's last event */
    TRACER_EVENTLOG_FOREIGN_CALL = 6,
    TRACER_EVENTLOG_BLOCKED_ON_MVAR = 7,
    TRACER_EVENTLOG_BLOCKED_ON_BLACK_HOLE = 8,
    TRACER_EVENTLOG_BLOCKED_ON_READ = 9,
    TRACER_EVENTLOG_BLOCKED_ON_WRITE = 10,
    TRACER_EVENTLOG_BLOCKED_ON_DELAY = 11,
    TRACER_EVENTLOG_BLOCKED_ON_STM = 12,
    TRACER_EVENTLOG_BLOCKED_ON_DO_PROC = 13,
    TRACER_EVENTLOG_BLOCKED_ON_THROW_TO = 18,
    TRACER_EVENTLOG_BLOCKED_ON_MVAR_READ = 20,
} tracer_eventlog_stop;

/* The commonest, in the block of the capability that they happen on. */
static inline tracer_eventlog_outcome tracer_eventlog_create_thread(tracer_eventlog* log,
                                                                    uint16_t cap,
                                                                    uint64_t ns,
                                                                    uint32_t thread) {
    const tracer_eventlog_field field = tracer_eventlog_number(TRACER_EVENTLOG_U32, thread);
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_CREATE_THREAD, &field, 1);
}
static inline tracer_eventlog_outcome tracer_eventlog_run_thread(tracer_eventlog* log,
                                                                 uint16_t cap,
                                                                 uint64_t ns,
                                                                 uint32_t thread) {
    const tracer_eventlog_field field = tracer_eventlog_number(TRACER_EVENTLOG_U32, thread);
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_RUN_THREAD, &field, 1);
}
/* `info`: of a stack overflow the stack's words, of a black hole its owner, else 0. */
static inline tracer_eventlog_outcome tracer_eventlog_stop_thread(tracer_eventlog* log,
                                                                  uint16_t cap,
                                                                  uint64_t ns,
                                                                  uint32_t thread,
                                                                  tracer_eventlog_stop status,
                                                                  uint32_t info) {
    const tracer_eventlog_field fields[] = {
        tracer_eventlog_number(TRACER_EVENTLOG_U32, thread),
        tracer_eventlog_number(TRACER_EVENTLOG_U16, (uint64_t)status),
        tracer_eventlog_number(TRACER_EVENTLOG_U32, info)};
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_STOP_THREAD, fields, 3);
}
/* In the block of the waker's capability. */
static inline tracer_eventlog_outcome tracer_eventlog_thread_wakeup(
    tracer_eventlog* log, uint16_t cap, uint64_t ns, uint32_t thread, uint16_t other_cap) {
    const tracer_eventlog_field fields[] = {tracer_eventlog_number(TRACER_EVENTLOG_U32, thread),
                                            tracer_eventlog_number(TRACER_EVENTLOG_U16, other_cap)};
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_THREAD_WAKEUP, fields, 2);
}
static inline tracer_eventlog_outcome tracer_eventlog_thread_label(
    tracer_eventlog* log, uint16_t cap, uint64_t ns, uint32_t thread, const char* label) {
    const tracer_eventlog_field fields[] = {tracer_eventlog_number(TRACER_EVENTLOG_U32, thread),
                                            tracer_eventlog_text(TRACER_EVENTLOG_TEXT, label)};
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_THREAD_LABEL, fields, 2);
}
/* traceEvent and traceMarker. */
static inline tracer_eventlog_outcome tracer_eventlog_user_message(tracer_eventlog* log,
                                                                   uint16_t cap,
                                                                   uint64_t ns,
                                                                   const char* text) {
    const tracer_eventlog_field field = tracer_eventlog_text(TRACER_EVENTLOG_TEXT, text);
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_USER_MESSAGE, &field, 1);
}
static inline tracer_eventlog_outcome tracer_eventlog_user_marker(tracer_eventlog* log,
                                                                  uint16_t cap,
                                                                  uint64_t ns,
                                                                  const char* text) {
    const tracer_eventlog_field field = tracer_eventlog_text(TRACER_EVENTLOG_TEXT, text);
    return tracer_eventlog_post(log, cap, ns, TRACER_EVENTLOG_ID_USER_MARKER, &field, 1);
}

#ifdef __cplusplus
}
#endif

#endif
