/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Fuchsia trace, record by record, for programs in C; Perfetto opens it. What readers would choke
 * on is refused by name, and nothing of it is written. tracer/write/fxt/stream.h says more about
 * each record.
 *
 *     tracer_sink *sink = tracer_sink_open_file("app.fxt", &error);
 *     tracer_fxt_options options = {.provider_name = "app"};
 *     tracer_fxt *trace = tracer_fxt_open(sink, &options, &error);
 *     tracer_fxt_string net = tracer_fxt_intern(trace, "net");
 *     tracer_fxt_thread worker = tracer_fxt_thread_of(trace, getpid(), gettid());
 *     tracer_fxt_argument bytes = {tracer_fxt_text("bytes"), tracer_fxt_u32(512)};
 *
 *     tracer_fxt_write(trace, &(tracer_fxt_event){.type = TRACER_FXT_INSTANT, .thread = worker,
 *                      .category = net, .name = tracer_fxt_text("retry"), .time = now_ns()},
 *                      &bytes, 1);
 *     tracer_fxt_close(trace, &error);
 *     tracer_sink_close(sink, &error);
 */
#ifndef TRACER_C_FXT_H
#define TRACER_C_FXT_H

#include "tracer/c/sink.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a record. */
typedef enum tracer_fxt_outcome {
    TRACER_FXT_WRITTEN = 0,
    TRACER_FXT_WRITTEN_CUT, /* with a string shortened: option cut_long_strings */
    /* Not written; nothing of the record is in the trace. */
    TRACER_FXT_NO_ROOM,            /* the sink takes no more now */
    TRACER_FXT_TOO_MANY_ARGUMENTS, /* more than 15 */
    TRACER_FXT_STRING_TOO_LONG,    /* over 32,000 bytes; a provider's name over 255 */
    TRACER_FXT_INDEX_OUT_OF_RANGE, /* a string index, a slot, a CPU */
    TRACER_FXT_NOT_DEFINED,        /* an index, slot or provider that nothing was written for */
    TRACER_FXT_STALE_REFERENCE,    /* a cached string that had to make place for another since */
    TRACER_FXT_NEEDS_INDEX,        /* a name of a template that has none */
    TRACER_FXT_END_BEFORE_START,
    TRACER_FXT_BLOB_TOO_LONG,
    TRACER_FXT_RECORD_TOO_LONG, /* over 32,760 bytes */
    TRACER_FXT_WRONG_TYPE,      /* not the template's, or not a number in a counter */
    TRACER_FXT_WRONG_COUNT,     /* not as many values as the template has */
    TRACER_FXT_TABLE_FULL,      /* no index or slot is left that may be taken */
} tracer_fxt_outcome;

/* The enumerator in lower case, for messages. Static. */
const char* tracer_fxt_outcome_name(tracer_fxt_outcome outcome);

/* One trace. One thread at a time. */
typedef struct tracer_fxt tracer_fxt;

/* All zeros but the name is a good choice. */
typedef struct tracer_fxt_options {
    const char* provider_name; /* at most 255 bytes; NULL: none */
    uint32_t provider_id;      /* 0: 1 */
    uint64_t ticks_per_second; /* of all times; 0: nanoseconds, of CLOCK_BOOTTIME for Perfetto */
    /* The initialization record with four words: a tick and the wall time at it. Perfetto ignores
     * it, some readers refuse it. */
    bool has_clock_base;
    uint64_t base_tick;
    int64_t base_wall_ns;    /* since the Unix epoch */
    uint16_t string_slots;   /* for tracer_fxt_define_string */
    uint16_t cached_strings; /* for tracer_fxt_cached; 0: 256 */
    uint8_t thread_slots;    /* for tracer_fxt_define_thread */
    bool cut_long_strings;   /* between characters, instead of refusing them */
    uint64_t refresh_ticks;  /* for tracer_fxt_refresh_if_due; 0: never */
} tracer_fxt_options;

/* A string: text that the record carries, borrowed during the call, or an index of the trace's. */
typedef struct tracer_fxt_string {
    const char* text; /* NULL: an index */
    uint64_t bytes_or_index;
} tracer_fxt_string;

static inline tracer_fxt_string tracer_fxt_text(const char* text) {
    tracer_fxt_string string = {text, strlen(text)};
    return string;
}

/* A thread: two ids, and perhaps a slot of the trace's. Plain ids are allowed: slot 0. */
typedef struct tracer_fxt_thread {
    uint64_t process;
    uint64_t thread;
    uint32_t generation;
    uint8_t slot;
} tracer_fxt_thread;

typedef enum tracer_fxt_type {
    TRACER_FXT_NULL = 0,
    TRACER_FXT_INT32,
    TRACER_FXT_UINT32,
    TRACER_FXT_INT64,
    TRACER_FXT_UINT64,
    TRACER_FXT_DOUBLE,
    TRACER_FXT_STRING,
    TRACER_FXT_POINTER,
    TRACER_FXT_KOID, /* the id of a kernel object */
    TRACER_FXT_BOOL,
    TRACER_FXT_BLOB, /* Perfetto shows "unknown" */
} tracer_fxt_type;

typedef struct tracer_fxt_value {
    tracer_fxt_type type;
    union {
        uint64_t bits; /* integers, sign-extended; pointers, koids, bool */
        double real;
        tracer_fxt_string string;
        struct {
            const void* data;
            size_t bytes;
        } blob;
    } as;
} tracer_fxt_value;

typedef struct tracer_fxt_argument {
    tracer_fxt_string name; /* best without '.' and '[': Perfetto takes them for paths */
    tracer_fxt_value value;
} tracer_fxt_argument;

static inline tracer_fxt_value tracer_fxt_number(tracer_fxt_type type, uint64_t bits) {
    tracer_fxt_value value;
    value.type = type;
    value.as.bits = bits;
    return value;
}
static inline tracer_fxt_value tracer_fxt_null(void) {
    return tracer_fxt_number(TRACER_FXT_NULL, 0);
}
static inline tracer_fxt_value tracer_fxt_s32(int32_t number) {
    return tracer_fxt_number(TRACER_FXT_INT32, (uint64_t)(int64_t)number);
}
static inline tracer_fxt_value tracer_fxt_u32(uint32_t number) {
    return tracer_fxt_number(TRACER_FXT_UINT32, number);
}
static inline tracer_fxt_value tracer_fxt_s64(int64_t number) {
    return tracer_fxt_number(TRACER_FXT_INT64, (uint64_t)number);
}
static inline tracer_fxt_value tracer_fxt_u64(uint64_t number) {
    return tracer_fxt_number(TRACER_FXT_UINT64, number);
}
static inline tracer_fxt_value tracer_fxt_pointer(const void* pointer) {
    return tracer_fxt_number(TRACER_FXT_POINTER, (uint64_t)(uintptr_t)pointer);
}
static inline tracer_fxt_value tracer_fxt_koid(uint64_t id) {
    return tracer_fxt_number(TRACER_FXT_KOID, id);
}
static inline tracer_fxt_value tracer_fxt_bool(bool truth) {
    return tracer_fxt_number(TRACER_FXT_BOOL, truth ? 1 : 0);
}
static inline tracer_fxt_value tracer_fxt_double(double real) {
    tracer_fxt_value value;
    value.type = TRACER_FXT_DOUBLE;
    value.as.real = real;
    return value;
}
static inline tracer_fxt_value tracer_fxt_string_value(tracer_fxt_string string) {
    tracer_fxt_value value;
    value.type = TRACER_FXT_STRING;
    value.as.string = string;
    return value;
}
static inline tracer_fxt_value tracer_fxt_blob_value(const void* data, size_t bytes) {
    tracer_fxt_value value;
    value.type = TRACER_FXT_BLOB;
    value.as.blob.data = data;
    value.as.blob.bytes = bytes;
    return value;
}

/* --- The life of a trace --- */

/*
 * Writes the magic number, the provider and the clock. Borrows the sink until tracer_fxt_close() or
 * a switch to another. NULL: the options cannot be, or there is no memory.
 */
tracer_fxt* tracer_fxt_open(tracer_sink* sink,
                            const tracer_fxt_options* options,
                            tracer_error* error);
/* Hands everything to the sink and frees the trace, also on failure. NULL is allowed. */
bool tracer_fxt_close(tracer_fxt* trace, tracer_error* error);

/* Writes the header and everything live again, so that what follows reads alone. */
bool tracer_fxt_begin_chunk(tracer_fxt* trace, tracer_error* error);
/* From here on into another sink, beginning a chunk there or going on as it is. The old sink has
 * every record until now and stays the caller's. */
bool tracer_fxt_switch_sink(tracer_fxt* trace,
                            tracer_sink* sink,
                            bool reads_alone,
                            tracer_error* error);
void tracer_fxt_flush(tracer_fxt* trace);
/* A flush and a new clock record, if options.refresh_ticks have passed since the last. */
bool tracer_fxt_refresh_if_due(tracer_fxt* trace, uint64_t tick, int64_t wall_ns);

typedef struct tracer_fxt_counters {
    uint64_t no_room;     /* records not written: sink full */
    uint64_t refused;     /* records not written: any other fault */
    uint64_t strings_cut; /* strings shortened */
} tracer_fxt_counters;
tracer_fxt_counters tracer_fxt_count(const tracer_fxt* trace);

/* --- Names --- */

/* An index for the life of the trace; the text itself when all 32,767 are taken, so keep it. */
tracer_fxt_string tracer_fxt_intern(tracer_fxt* trace, const char* text);
/* An index until other names push it out; the text itself when there can be none. */
tracer_fxt_string tracer_fxt_cached(tracer_fxt* trace, const char* text);
/* Slot 0 .. string_slots - 1 names the text from here on. */
tracer_fxt_outcome tracer_fxt_define_string(tracer_fxt* trace, unsigned slot, const char* text);
tracer_fxt_string tracer_fxt_string_slot(const tracer_fxt* trace, unsigned slot);

/* A thread with a slot, as long as it is among those used last; always a good name. */
tracer_fxt_thread tracer_fxt_thread_of(tracer_fxt* trace, uint64_t process, uint64_t thread);
/* Slot 1 .. thread_slots is this thread from here on. */
tracer_fxt_outcome tracer_fxt_define_thread(tracer_fxt* trace,
                                            uint8_t slot,
                                            uint64_t process,
                                            uint64_t thread);

/* --- Metadata --- */

tracer_fxt_outcome tracer_fxt_provider_info(tracer_fxt* trace, uint32_t id, const char* name);
tracer_fxt_outcome tracer_fxt_provider_section(tracer_fxt* trace, uint32_t id);
tracer_fxt_outcome tracer_fxt_provider_buffer_full(tracer_fxt* trace, uint32_t id);
tracer_fxt_outcome tracer_fxt_initialization(tracer_fxt* trace, uint64_t tick, int64_t wall_ns);

/* --- Events --- */

typedef enum tracer_fxt_event_type {
    TRACER_FXT_INSTANT = 0,
    TRACER_FXT_COUNTER,
    TRACER_FXT_DURATION_BEGIN,
    TRACER_FXT_DURATION_END,
    TRACER_FXT_DURATION_COMPLETE,
    TRACER_FXT_ASYNC_BEGIN,
    TRACER_FXT_ASYNC_INSTANT,
    TRACER_FXT_ASYNC_END,
    TRACER_FXT_FLOW_BEGIN,
    TRACER_FXT_FLOW_STEP,
    TRACER_FXT_FLOW_END,
} tracer_fxt_event_type;

typedef struct tracer_fxt_event {
    tracer_fxt_event_type type;
    tracer_fxt_thread thread;
    tracer_fxt_string category;
    tracer_fxt_string name;
    uint64_t time;
    uint64_t end_or_id; /* complete: its end; counter, async, flow: the id; else left out */
} tracer_fxt_event;

tracer_fxt_outcome tracer_fxt_write(tracer_fxt* trace,
                                    const tracer_fxt_event* event,
                                    const tracer_fxt_argument* arguments,
                                    size_t count);

/*
 * The same event very often: all but time and values is computed once. Names are interned, or in
 * slots; values are numbers, or strings that have an index. `event` gives all but time and
 * end_or_id, `shape` the arguments' names and types. NULL: `outcome` says why. Borrows the trace.
 */
typedef struct tracer_fxt_template tracer_fxt_template;
tracer_fxt_template* tracer_fxt_template_make(tracer_fxt* trace,
                                              const tracer_fxt_event* event,
                                              const tracer_fxt_argument* shape,
                                              size_t count,
                                              tracer_fxt_outcome* outcome);
tracer_fxt_outcome tracer_fxt_template_write(const tracer_fxt_template* event,
                                             uint64_t time,
                                             uint64_t end_or_id,
                                             const tracer_fxt_value* values,
                                             size_t count);
void tracer_fxt_template_free(tracer_fxt_template* event);

/* --- Objects, scheduling, and the rest --- */

/* Each chunk says the names again, until they are forgotten. */
tracer_fxt_outcome tracer_fxt_name_process(tracer_fxt* trace, uint64_t process, const char* name);
tracer_fxt_outcome tracer_fxt_name_thread(tracer_fxt* trace,
                                          uint64_t process,
                                          uint64_t thread,
                                          const char* name);
/* It has ended: later chunks need its name no more. */
void tracer_fxt_forget_process(tracer_fxt* trace, uint64_t process);
void tracer_fxt_forget_thread(tracer_fxt* trace, uint64_t thread);
/* Types are Zircon's: 1 process, 2 thread, 3 VMO, 4 channel, ... */
tracer_fxt_outcome tracer_fxt_kernel_object(tracer_fxt* trace,
                                            uint8_t type,
                                            uint64_t id,
                                            tracer_fxt_string name,
                                            const tracer_fxt_argument* arguments,
                                            size_t count);
tracer_fxt_outcome tracer_fxt_userspace_object(tracer_fxt* trace,
                                               tracer_fxt_thread process,
                                               uint64_t address,
                                               tracer_fxt_string name,
                                               const tracer_fxt_argument* arguments,
                                               size_t count);

/* What the outgoing thread of a switch is then. */
typedef enum tracer_fxt_state {
    TRACER_FXT_CREATED = 0,
    TRACER_FXT_RUNNING, /* could go on: preempted */
    TRACER_FXT_SUSPENDED,
    TRACER_FXT_BLOCKED,
    TRACER_FXT_DYING,
    TRACER_FXT_DEAD,
} tracer_fxt_state;

/* Thread 0 with the int32 argument "incoming_weight" or "outgoing_weight" INT32_MIN is idle. */
typedef struct tracer_fxt_switch {
    uint16_t cpu; /* at most 4,095 */
    uint64_t time;
    uint64_t out_thread;
    tracer_fxt_state out_state;
    uint64_t in_thread;
} tracer_fxt_switch;
tracer_fxt_outcome tracer_fxt_context_switch(tracer_fxt* trace,
                                             const tracer_fxt_switch* event,
                                             const tracer_fxt_argument* arguments,
                                             size_t count);
/* Arguments "weight" (int32) and "waker" (koid). Not of a thread that runs or could. */
tracer_fxt_outcome tracer_fxt_wakeup(tracer_fxt* trace,
                                     uint16_t cpu,
                                     uint64_t time,
                                     uint64_t thread,
                                     const tracer_fxt_argument* arguments,
                                     size_t count);
typedef struct tracer_fxt_old_switch {
    uint8_t cpu;
    uint64_t time;
    tracer_fxt_thread out;
    tracer_fxt_state out_state;
    uint8_t out_priority;
    tracer_fxt_thread in;
    uint8_t in_priority;
} tracer_fxt_old_switch;
tracer_fxt_outcome tracer_fxt_legacy_switch(tracer_fxt* trace, const tracer_fxt_old_switch* event);

/* Perfetto skips log records. */
tracer_fxt_outcome tracer_fxt_log(tracer_fxt* trace,
                                  tracer_fxt_thread thread,
                                  uint64_t time,
                                  const char* message);

typedef enum tracer_fxt_blob_type {
    TRACER_FXT_BLOB_RAW = 1,
    TRACER_FXT_BLOB_LAST_BRANCH = 2,
    TRACER_FXT_BLOB_PERFETTO = 3, /* part of a serialized perfetto Trace */
} tracer_fxt_blob_type;
/* At most 32,752 bytes under an interned name. */
tracer_fxt_outcome tracer_fxt_blob(tracer_fxt* trace,
                                   tracer_fxt_blob_type type,
                                   tracer_fxt_string name,
                                   const void* data,
                                   size_t bytes);
/* Records that Perfetto cannot read and loses its place at: for other readers only. */
tracer_fxt_outcome tracer_fxt_large_blob(tracer_fxt* trace,
                                         tracer_fxt_string category,
                                         tracer_fxt_string name,
                                         const void* data,
                                         size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
