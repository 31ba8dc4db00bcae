/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where traces go, for programs in C. Links with tracer::c (CMake: find_package(tracer)). The C++
 * headers under tracer/write/ have all the choices; these calls have their defaults.
 */
#ifndef TRACER_C_SINK_H
#define TRACER_C_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call failed: one line, and the cure where there is one. Texts end in a NUL, cut to fit. */
typedef struct tracer_error {
    int sys_errno; /* 0: not from a system call */
    char what[256];
    char hint[256];
} tracer_error;

/*
 * A destination of bytes. One thread at a time; nothing waits for a slow disk or reader, which
 * loses records instead, counted by who writes them. Calls that make one return NULL on failure and
 * then fill `error`, which may be NULL everywhere.
 */
typedef struct tracer_sink tracer_sink;

/* A new file, 0600, in place of one that is there. */
tracer_sink* tracer_sink_open_file(const char* path, tracer_error* error);
/* An open descriptor, such as a pipe's, which the sink closes. */
tracer_sink* tracer_sink_open_fd(int fd, tracer_error* error);
/* A stream socket: by its path ("@NAME": an abstract name), or by "HOST:PORT". */
tracer_sink* tracer_sink_connect_unix(const char* path, tracer_error* error);
tracer_sink* tracer_sink_connect_tcp(const char* host_and_port, tracer_error* error);
/*
 * Functions of the program's own, as GHC's EventLogWriter has them. Called one at a time, from
 * whichever thread writes or flushes; none may call back into what writes. NULL ones are left out,
 * but for `write`, which says false when it takes nothing now.
 */
typedef struct tracer_hooks {
    void* context;               /* handed to each */
    void (*init)(void* context); /* before the first write */
    bool (*write)(void* context, const void* data, size_t bytes);
    void (*flush)(void* context);
    void (*stop)(void* context); /* after the last */
} tracer_hooks;
tracer_sink* tracer_sink_open_hooks(const tracer_hooks* hooks, tracer_error* error);

/* Memory, up to bytes_max. */
tracer_sink* tracer_sink_open_memory(size_t bytes_max, tracer_error* error);

/*
 * What a memory sink holds. Owned by the sink; good until something is written to it again. NULL
 * and 0 for other sinks.
 */
const void* tracer_sink_memory(const tracer_sink* sink, size_t* bytes);

/* Bytes handed to the sink so far; may lag a few KiB behind until a flush. Any thread. */
uint64_t tracer_sink_bytes(const tracer_sink* sink);
/* Hands what is written so far to the destination without waiting for it. */
void tracer_sink_flush(tracer_sink* sink);
/* Whether nothing has failed so far. Any thread. */
bool tracer_sink_is_healthy(const tracer_sink* sink, tracer_error* error);

/*
 * Writes everything out and frees the sink, also when it returns false: then with the first error
 * of its whole life. After whoever writes to it was closed. NULL is allowed.
 */
bool tracer_sink_close(tracer_sink* sink, tracer_error* error);

#ifdef __cplusplus
}
#endif

#endif
