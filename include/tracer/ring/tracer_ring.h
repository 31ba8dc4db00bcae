/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's own events, in rings that others read while it runs: no kernel, no root, and some ten
 * nanoseconds beside the clock's an event. Written for C11; links with tracer::ring (CMake) or
 * `pkg-config tracer_ring` and needs libc alone. C++ has tracer/ring/typed_events.h on top.
 *
 *     const tracer_ring_event *request;
 *     tracer_ring_register("http.request", TRACER_RING_SPAN, 0, &request);
 *     tracer_ring_start(NULL);              // or run the program with TRACER_RING_START=1
 *     tracer_ring_write_begin(request);
 *     ...
 *     tracer_ring_write_end(request);
 *
 * The file is <pid>.events, bit for bit what OCaml 5.1 to 5.5 programs write (tracer/abi/
 * ring_layout.h), so their tools read it too. Each thread has a ring of its own from its first
 * event to its end; the oldest events are overwritten, and a reader learns exactly how many it
 * missed.
 *
 * Results are 0 or a negative errno. Any thread may call anything at any time, with two exceptions:
 * in signal handlers only the functions that write are allowed (within a write of the same thread
 * they drop the event, count it, and return -EBUSY), and so are tracer_ring_is_active() and
 * tracer_ring_remove_file().
 *
 * While off or paused, writing is one relaxed load and returns 0.
 */
#ifndef TRACER_RING_TRACER_RING_H
#define TRACER_RING_TRACER_RING_H

#include "tracer/abi/ring_layout.h"
#include "tracer/ring/ocaml_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACER_RING_API __attribute__((visibility("default")))

/* ---- start and stop ------------------------------------------------------------------------- */

/*
 * All zeros: as the environment says, else the defaults. The environment: TRACER_RING_START (any
 * value but 0 starts the rings before main), TRACER_RING_DIR, TRACER_RING_PRESERVE (any value but
 * 0), TRACER_RING_WORDS_LOG2, TRACER_RING_COUNT, TRACER_RING_CLOCK. Where one is not set,
 * OCaml's is looked at: OCAML_RUNTIME_EVENTS_START, _DIR, _PRESERVE (presence alone counts there),
 * and e= and d= of OCAMLRUNPARAM, unless an OCaml runtime is in the process and takes them for
 * itself. Set-user-id programs ignore all of them.
 */
typedef struct tracer_ring_options {
    /*
     * Where the file is made. "memfd": without a name, found through the process alone. NULL and
     * nothing in the environment: $XDG_RUNTIME_DIR, /dev/shm, or memfd, the first that works; never
     * the working directory.
     */
    const char* directory;
    unsigned ring_words_log2; /* of 8 bytes, a ring: 5 to 24; 0: 16, which is 512 KiB */
    unsigned ring_count;      /* threads at a time: 1 to 4096; 0: 128 */
    bool preserve;            /* keep the file when the program ends or stops */
    /*
     * Remove the file also where a signal's default action ends the program (abort() and with it
     * an uncaught C++ exception too): handlers for the signals whose action is the default when
     * the rings start; they remove the file and let the default action happen. Without it the
     * library never touches a handler, and such an end leaves the file (memfd leaves nothing ever);
     * the next producer with the same pid and directory replaces it.
     */
    bool remove_on_signals;
    /*
     * Times are CLOCK_MONOTONIC's. Where the kernel keeps its own time by the processor's counter
     * (x86-64, clock source tsc), a thread carries its last reading of the clock on by that counter
     * for a tenth of a millisecond: an event costs much less, its time is off by some ten
     * nanoseconds, and a thread's times never go back. TRACER_RING_CLOCK=monotonic or
     * `exact_clock`: the clock itself for each event, always; then times also never go back from
     * one thread's event to another's that it caused. TRACER_RING_CLOCK=tsc or `fast_clock`: the
     * counter wherever the processor says that it is invariant.
     */
    bool fast_clock;
    bool exact_clock; /* wins over all others */
} tracer_ring_options;

/*
 * 0 also when it has begun already. Else -EEXIST: a live process of another pid namespace, or
 * something that is no old file of ours, has the name; -ENOSPC: no room for the file and one ring;
 * -EFBIG: larger than the process may write; -EINVAL: an option out of its range; or what the
 * system says. The options may be NULL.
 */
TRACER_RING_API int tracer_ring_start(const tracer_ring_options* options);
/*
 * When pause and stop return, no thread is within a write any more. Both, and resume, are 0 too
 * where there is nothing to do; -EBUSY: called within a write. Stop removes the file unless it is
 * to be preserved; a start may follow.
 */
TRACER_RING_API int tracer_ring_pause(void);
TRACER_RING_API int tracer_ring_resume(void);
TRACER_RING_API int tracer_ring_stop(void);
/*
 * The file's absolute path; of memfd one under /proc. Its length, or that and no more when `path`
 * (which may be NULL) is too short for it and the NUL; -ENOENT: not started.
 */
TRACER_RING_API int tracer_ring_path(char* path, size_t path_bytes);
/* Only unlinks the file, for a program's own handlers of signals that end it. Async-signal-safe. */
TRACER_RING_API void tracer_ring_remove_file(void);

typedef struct tracer_ring_counts {
    uint64_t written;
    uint64_t dropped; /* by signal handlers within a write */
    uint64_t missing; /* no ring was free, or there was no room for another one */
    uint32_t rings;   /* that threads have now */
} tracer_ring_counts;

/* -ENOENT: not started. */
TRACER_RING_API int tracer_ring_get_counts(tracer_ring_counts* counts);
/* The file as it is mapped, for a reader in the same process, until stop or fork; NULL: none. */
TRACER_RING_API const void* tracer_ring_memory(size_t* bytes);

/* Whether events are written: for the functions here, not for use by name. */
TRACER_RING_API extern uint32_t tracer_ring_on;

static inline bool tracer_ring_is_active(void) {
    return __builtin_expect(__atomic_load_n(&tracer_ring_on, __ATOMIC_RELAXED) != 0, 0);
}

/* ---- user events ---------------------------------------------------------------------------- */

typedef enum tracer_ring_event_type {
    TRACER_RING_UNIT = 0, /* something happened */
    TRACER_RING_INT = 1,  /* with a number; OCaml's readers show its low 63 bits */
    TRACER_RING_SPAN = 2, /* begins and ends on one thread */
    TRACER_RING_CUSTOM = 3,
} tracer_ring_event_type;

/* How values become bytes and come back. Both functions may be called by any thread. */
typedef struct tracer_ring_codec {
    /* How many of at most `buffer_bytes` it has filled; negative: nothing is written, and that is
     * the result of the write. It may write events itself. */
    long (*encode)(void* buffer, size_t buffer_bytes, const void* value);
    /* NULL: tracer_ring_decode() refuses. */
    bool (*decode)(const void* bytes, size_t byte_count, void* value);
} tracer_ring_codec;

/* Registered once and for all: good until the program ends, across stop, start and fork. */
typedef struct tracer_ring_event tracer_ring_event;

/*
 * Before or after the start. `name`: 1 to 127 bytes, copied; `tag` is the caller's, for
 * tracer_ring_event_tag(). On failure *event is NULL, which the writing functions refuse.
 * -EINVAL: the name; -EEXIST: another one has it; -ENOSPC: there are 8192, or no room for its name
 * in the file; -ENOMEM.
 */
TRACER_RING_API int tracer_ring_register(const char* name,
                                         tracer_ring_event_type type,
                                         uint64_t tag,
                                         const tracer_ring_event** event);
/* The codec is borrowed for the program's life. */
TRACER_RING_API int tracer_ring_register_custom(const char* name,
                                                const tracer_ring_codec* codec,
                                                uint64_t tag,
                                                const tracer_ring_event** event);
/* NULL: none. */
TRACER_RING_API const tracer_ring_event* tracer_ring_find(const char* name);
TRACER_RING_API const char* tracer_ring_event_name(const tracer_ring_event* event);
TRACER_RING_API uint64_t tracer_ring_event_tag(const tracer_ring_event* event);
TRACER_RING_API tracer_ring_event_type tracer_ring_event_type_of(const tracer_ring_event* event);
/* What a reader has got becomes a value again; -EINVAL: not custom, or the codec refuses. */
TRACER_RING_API int tracer_ring_decode(const tracer_ring_event* event,
                                       const void* bytes,
                                       size_t byte_count,
                                       void* value);

/* ---- writing -------------------------------------------------------------------------------- */

/*
 * All of them: 0: written, or off; -EINVAL: not an event of that type; -EMSGSIZE: more than half a
 * ring, or more than 1024 bytes; -EBUSY: within a write, dropped and counted; -EAGAIN: no ring was
 * free, counted; -ENOSPC: no room for another ring, counted.
 *
 * Those that begin with tracer_ring_put are what the inline ones below call while it is on.
 */
TRACER_RING_API int tracer_ring_put(uint64_t bits);
TRACER_RING_API int tracer_ring_put_value(uint64_t bits, int64_t value);
TRACER_RING_API int tracer_ring_put_words(uint64_t bits, const uint64_t* words, uint32_t count);
TRACER_RING_API int tracer_ring_put_event(const tracer_ring_event* event, uint32_t type);
TRACER_RING_API int tracer_ring_put_int(const tracer_ring_event* event, int64_t value);
TRACER_RING_API int tracer_ring_put_custom(const tracer_ring_event* event, const void* value);
TRACER_RING_API int tracer_ring_put_bytes(const tracer_ring_event* event,
                                          const void* bytes,
                                          size_t byte_count);

static inline uint64_t tracer_ring_bits(uint32_t type, uint32_t id) {
    return (uint64_t)type << TR_RING_TYPE_SHIFT | ((uint64_t)id & TR_RING_ID_MASK)
                                                      << TR_RING_ID_SHIFT;
}

static inline int tracer_ring_write_unit(const tracer_ring_event* event) {
    return tracer_ring_is_active() ? tracer_ring_put_event(event, TR_RING_USER_UNIT) : 0;
}

static inline int tracer_ring_write_int(const tracer_ring_event* event, int64_t value) {
    return tracer_ring_is_active() ? tracer_ring_put_int(event, value) : 0;
}

static inline int tracer_ring_write_begin(const tracer_ring_event* event) {
    return tracer_ring_is_active() ? tracer_ring_put_event(event, TR_RING_USER_BEGIN) : 0;
}

static inline int tracer_ring_write_end(const tracer_ring_event* event) {
    return tracer_ring_is_active() ? tracer_ring_put_event(event, TR_RING_USER_END) : 0;
}

/* By the event's codec. */
static inline int tracer_ring_write_custom(const tracer_ring_event* event, const void* value) {
    return tracer_ring_is_active() ? tracer_ring_put_custom(event, value) : 0;
}

/* The same event's bytes as they are. */
static inline int tracer_ring_write_bytes(const tracer_ring_event* event,
                                          const void* bytes,
                                          size_t byte_count) {
    return tracer_ring_is_active() ? tracer_ring_put_bytes(event, bytes, byte_count) : 0;
}

/* A runtime's own: phases and counters of ocaml_ids.h. */
static inline int tracer_ring_begin(tracer_ring_phase phase) {
    return tracer_ring_is_active()
               ? tracer_ring_put(tracer_ring_bits(TR_RING_BEGIN, (uint32_t)phase))
               : 0;
}

static inline int tracer_ring_end(tracer_ring_phase phase) {
    return tracer_ring_is_active() ? tracer_ring_put(tracer_ring_bits(TR_RING_END, (uint32_t)phase))
                                   : 0;
}

static inline int tracer_ring_counter(tracer_ring_counter_id counter, int64_t value) {
    return tracer_ring_is_active()
               ? tracer_ring_put_value(tracer_ring_bits(TR_RING_COUNTER, (uint32_t)counter), value)
               : 0;
}

/* Those that the library does not write itself, if there are any: enum tr_ring_lifecycle. */
static inline int tracer_ring_lifecycle(enum tr_ring_lifecycle id, int64_t value) {
    return tracer_ring_is_active()
               ? tracer_ring_put_value(tracer_ring_bits(TR_RING_LIFECYCLE, (uint32_t)id), value)
               : 0;
}

/*
 * How many blocks were allocated by size: buckets 1 to 9 of that many words, 10 to 18 of 10 to 19,
 * 20 to 29, ... 90 to 99, 19 of 100 and more; 0 is not used.
 */
static inline int tracer_ring_alloc(const uint64_t buckets[TR_RING_ALLOC_BUCKETS]) {
    return tracer_ring_is_active() ? tracer_ring_put_words(tracer_ring_bits(TR_RING_ALLOC, 0),
                                                           buckets, TR_RING_ALLOC_BUCKETS)
                                   : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* TRACER_RING_TRACER_RING_H */
