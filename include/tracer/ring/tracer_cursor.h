/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors of tracer/ring/cursor.h for programs in C: reads the rings that a process writes its
 * events to, OCaml 5's and those of our own library. cursor.h says more.
 *
 *     char problem[200];
 *     tracer_cursor *cursor = tracer_cursor_open_process(pid, NULL, problem, sizeof(problem));
 *     tracer_cursor_callbacks callbacks = {.event = on_event, .lost = on_lost};
 *     long count = tracer_cursor_read_poll(cursor, &callbacks, mine, 1000);
 *     tracer_cursor_close(cursor);
 */
#ifndef TRACER_RING_TRACER_CURSOR_H
#define TRACER_RING_TRACER_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One file's rings. One thread at a time. */
typedef struct tracer_cursor tracer_cursor;

typedef enum tracer_cursor_kind {
    TRACER_CURSOR_LIFECYCLE = 0,
    TRACER_CURSOR_BEGIN,
    TRACER_CURSOR_END,
    TRACER_CURSOR_COUNTER,
    TRACER_CURSOR_ALLOC,
    TRACER_CURSOR_USER_UNIT,
    TRACER_CURSOR_USER_INT,
    TRACER_CURSOR_USER_BEGIN,
    TRACER_CURSOR_USER_END,
    TRACER_CURSOR_USER_CUSTOM,
    TRACER_CURSOR_UNKNOWN,
} tracer_cursor_kind;

typedef struct tracer_cursor_event {
    tracer_cursor_kind kind;
    uint32_t ring;
    uint32_t id;
    bool has_value;
    int64_t value;
    uint64_t time_ns;  /* CLOCK_MONOTONIC */
    uint64_t sequence; /* 0: an OCaml producer */
    const char* name;  /* "minor", or "phase#57" where none is known */
    /* Of custom events; of allocations the words, of 8 bytes each. */
    const void* bytes;
    size_t byte_count;
} tracer_cursor_event;

typedef struct tracer_cursor_lost {
    uint32_t ring;
    bool is_exact;     /* else `events` is an estimate */
    bool is_malformed; /* some of it made no sense */
    uint64_t words;
    uint64_t events;
    uint64_t begin_ns; /* time of the last event before; 0: none */
    uint64_t end_ns;   /* of the next one; 0: none */
} tracer_cursor_lost;

/* NULL ones are not called. What they get is borrowed. False stops the poll; what was told is not
 * told again. */
typedef struct tracer_cursor_callbacks {
    bool (*event)(void* context, const tracer_cursor_event* event);
    bool (*lost)(void* context, const tracer_cursor_lost* lost);
    bool (*restart)(void* context); /* another program writes the file from here on */
} tracer_cursor_callbacks;

/* All zeros: from the oldest event, the OCaml version from what the events tell. */
typedef struct tracer_cursor_options {
    bool from_now;
    const char* ocaml_version; /* "5.4"; NULL: not known */
} tracer_cursor_options;

/* NULL with a line in `problem` (which may be NULL): no such file or process, or no rings. The
 * options may be NULL. */
tracer_cursor* tracer_cursor_open_file(const char* path,
                                       const tracer_cursor_options* options,
                                       char* problem,
                                       size_t problem_bytes);
tracer_cursor* tracer_cursor_open_process(int pid,
                                          const tracer_cursor_options* options,
                                          char* problem,
                                          size_t problem_bytes);

typedef enum tracer_cursor_user_type {
    TRACER_CURSOR_TYPE_UNKNOWN = 0, /* an OCaml producer: its file does not tell */
    TRACER_CURSOR_TYPE_UNIT,
    TRACER_CURSOR_TYPE_INT,
    TRACER_CURSOR_TYPE_SPAN,
    TRACER_CURSOR_TYPE_CUSTOM,
} tracer_cursor_user_type;

/* Tells all user events that are registered by now, written or not; false ends the telling. How
 * many were told; -1: memory is out. */
long tracer_cursor_user_events(
    tracer_cursor* cursor,
    bool (*tell)(void* context, uint32_t id, tracer_cursor_user_type type, const char* name),
    void* context);

/* How many events were delivered, at most events_max; -1: the file is no longer valid, memory is
 * out, or a callback polls its own cursor. */
long tracer_cursor_read_poll(tracer_cursor* cursor,
                             const tracer_cursor_callbacks* callbacks,
                             void* context,
                             size_t events_max);

/* NULL is allowed. */
void tracer_cursor_close(tracer_cursor* cursor);

#ifdef __cplusplus
}
#endif

#endif /* TRACER_RING_TRACER_CURSOR_H */
