/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody else's, in C: writes app.fxt, app.eventlog and, after a switch of the
 * running log, later.eventlog and memory.eventlog with the installed library.
 */
#include "tracer/c/eventlog.h"
#include "tracer/c/fxt.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int complain(const tracer_error* error) {
    fprintf(stderr, "%s\n%s\n", error->what, error->hint);
    return 1;
}

static int refused(const char* what, tracer_fxt_outcome outcome) {
    fprintf(stderr, "%s: %s\n", what, tracer_fxt_outcome_name(outcome));
    return 1;
}

/* The same event very often: a template. */
static tracer_fxt_outcome write_reads(tracer_fxt* trace, tracer_fxt_thread worker) {
    const tracer_fxt_event read = {.type = TRACER_FXT_INSTANT,
                                   .thread = worker,
                                   .category = tracer_fxt_intern(trace, "io"),
                                   .name = tracer_fxt_intern(trace, "read")};
    const tracer_fxt_argument shape[] = {{tracer_fxt_intern(trace, "bytes"), tracer_fxt_u32(0)},
                                         {tracer_fxt_intern(trace, "fd"), tracer_fxt_s32(0)}};
    tracer_fxt_outcome outcome;
    tracer_fxt_template* ready = tracer_fxt_template_make(trace, &read, shape, 2, &outcome);
    if (ready == NULL) return outcome;
    for (int i = 0; i < 100 && outcome == TRACER_FXT_WRITTEN; ++i) {
        const tracer_fxt_value values[] = {tracer_fxt_u32((uint32_t)i * 512), tracer_fxt_s32(3)};
        outcome = tracer_fxt_template_write(ready, now_ns(), 0, values, 2);
    }
    tracer_fxt_template_free(ready);
    return outcome;
}

static int write_fxt(void) {
    tracer_error error;
    tracer_sink* sink = tracer_sink_open_file("app.fxt", &error);
    if (sink == NULL) return complain(&error);
    const tracer_fxt_options options = {.provider_name = "app"};
    tracer_fxt* trace = tracer_fxt_open(sink, &options, &error);
    if (trace == NULL) return complain(&error);

    const uint64_t pid = (uint64_t)getpid();
    const tracer_fxt_thread worker = tracer_fxt_thread_of(trace, pid, pid);
    tracer_fxt_outcome outcome = tracer_fxt_name_process(trace, pid, "app");
    if (outcome == TRACER_FXT_WRITTEN) {
        outcome = tracer_fxt_name_thread(trace, pid, pid, "worker 1");
    }
    if (outcome != TRACER_FXT_WRITTEN) return refused("names", outcome);

    tracer_fxt_event event = {.type = TRACER_FXT_DURATION_BEGIN,
                              .thread = worker,
                              .category = tracer_fxt_intern(trace, "net"),
                              .name = tracer_fxt_intern(trace, "request"),
                              .time = now_ns()};
    outcome = tracer_fxt_write(trace, &event, NULL, 0);
    if (outcome != TRACER_FXT_WRITTEN) return refused("request", outcome);

    const tracer_fxt_event retry = {.type = TRACER_FXT_INSTANT,
                                    .thread = worker,
                                    .category = event.category,
                                    .name = tracer_fxt_text("retry"),
                                    .time = now_ns()};
    const tracer_fxt_argument after = {tracer_fxt_text("after_ms"), tracer_fxt_s32(20)};
    outcome = tracer_fxt_write(trace, &retry, &after, 1);
    if (outcome != TRACER_FXT_WRITTEN) return refused("retry", outcome);

    outcome = write_reads(trace, worker);
    if (outcome != TRACER_FXT_WRITTEN) return refused("read", outcome);

    event.type = TRACER_FXT_DURATION_END;
    event.time = now_ns();
    outcome = tracer_fxt_write(trace, &event, NULL, 0);
    if (outcome != TRACER_FXT_WRITTEN) return refused("end of request", outcome);

    /* What cannot be said is refused by name. */
    const tracer_fxt_event backwards = {
        .type = TRACER_FXT_DURATION_COMPLETE, .thread = worker, .time = 2, .end_or_id = 1};
    outcome = tracer_fxt_write(trace, &backwards, NULL, 0);
    if (outcome != TRACER_FXT_END_BEFORE_START) return refused("an end before its start", outcome);

    if (!tracer_fxt_close(trace, &error)) return complain(&error);
    if (!tracer_sink_close(sink, &error)) return complain(&error);
    return 0;
}

/* A thread that runs, says something, and stops. */
static tracer_eventlog_outcome run_thread(tracer_eventlog* log, uint16_t cap, uint32_t thread) {
    tracer_eventlog_outcome outcome =
        tracer_eventlog_create_thread(log, cap, tracer_eventlog_now(log), thread);
    if (outcome != TRACER_EVENTLOG_POSTED) return outcome;
    outcome = tracer_eventlog_thread_label(log, cap, tracer_eventlog_now(log), thread, "worker");
    if (outcome != TRACER_EVENTLOG_POSTED) return outcome;
    outcome = tracer_eventlog_run_thread(log, cap, tracer_eventlog_now(log), thread);
    if (outcome != TRACER_EVENTLOG_POSTED) return outcome;
    outcome = tracer_eventlog_user_message(log, cap, tracer_eventlog_now(log), "request served");
    if (outcome != TRACER_EVENTLOG_POSTED) return outcome;
    return tracer_eventlog_stop_thread(log, cap, tracer_eventlog_now(log), thread,
                                       TRACER_EVENTLOG_FINISHED, 0);
}

static int posts_refused(const char* what, tracer_eventlog_outcome outcome) {
    fprintf(stderr, "%s: %s\n", what, tracer_eventlog_outcome_name(outcome));
    return 1;
}

/* What the log has put into memory goes to a file of this program's own making. */
static int save_chunks(tracer_chunk_queue* queue) {
    FILE* file = fopen("memory.eventlog", "wb");
    if (file == NULL) return 1;
    tracer_chunk chunk;
    int failed = 0;
    while (tracer_chunk_queue_pop(queue, &chunk)) {
        failed |= fwrite(chunk.data, 1, chunk.bytes, file) != chunk.bytes;
        tracer_chunk_free(&chunk);
    }
    return fclose(file) != 0 || failed;
}

static int write_eventlog(void) {
    tracer_error error;
    const tracer_eventlog_options options = {.capabilities = 2};
    tracer_eventlog* log = tracer_eventlog_new(&options, &error);
    tracer_sink* first = tracer_sink_open_file("app.eventlog", &error);
    tracer_sink* later = tracer_sink_open_file("later.eventlog", &error);
    tracer_chunk_queue* queue = tracer_chunk_queue_new(0, 0, &error);
    if (log == NULL || first == NULL || later == NULL || queue == NULL) return complain(&error);
    tracer_sink* memory = tracer_chunk_queue_sink(queue, &error);
    if (memory == NULL) return complain(&error);

    if (!tracer_eventlog_start(log, first, &error)) return complain(&error);
    if (tracer_eventlog_start(log, later, &error)) return 1; /* it runs */
    tracer_eventlog_outcome outcome = run_thread(log, 0, 1);
    if (outcome != TRACER_EVENTLOG_POSTED) return posts_refused("app.eventlog", outcome);

    /* Into memory for a while, and on to another file. */
    tracer_sink* before = NULL;
    if (!tracer_eventlog_replace_sink(log, memory, true, true, &before, &error) ||
        before != first) {
        return complain(&error);
    }
    if (!tracer_sink_close(first, &error)) return complain(&error);
    outcome = run_thread(log, 1, 2);
    if (outcome != TRACER_EVENTLOG_POSTED) return posts_refused("memory.eventlog", outcome);
    if (!tracer_eventlog_replace_sink(log, later, true, true, NULL, &error)) {
        return complain(&error);
    }
    if (!tracer_sink_close(memory, &error)) return complain(&error);
    if (save_chunks(queue) != 0) return 1;
    tracer_chunk_queue_free(queue);

    if (!tracer_eventlog_set_buffer_bytes(log, 64 * 1024, &error)) return complain(&error);
    if (tracer_eventlog_buffer_bytes(log) != 64 * 1024) return 1;
    outcome = run_thread(log, 0, 3);
    if (outcome != TRACER_EVENTLOG_POSTED) return posts_refused("later.eventlog", outcome);

    /* Any event by its number: a perf name and tracepoint. What cannot be said is refused. */
    const tracer_eventlog_field name[] = {tracer_eventlog_number(TRACER_EVENTLOG_U32, 1),
                                          tracer_eventlog_text(TRACER_EVENTLOG_TEXT, "cache miss")};
    outcome = tracer_eventlog_post(log, TRACER_EVENTLOG_GLOBAL, tracer_eventlog_now(log),
                                   TRACER_EVENTLOG_ID_PERF_NAME, name, 2);
    if (outcome != TRACER_EVENTLOG_POSTED) return posts_refused("perf name", outcome);
    outcome = tracer_eventlog_post(log, 0, tracer_eventlog_now(log), 1, name, 2);
    if (outcome != TRACER_EVENTLOG_WRONG_FIELDS) return posts_refused("wrong fields", outcome);
    outcome = tracer_eventlog_stop_thread(log, 0, tracer_eventlog_now(log), 3,
                                          (tracer_eventlog_stop)4, 0);
    if (outcome != TRACER_EVENTLOG_BAD_VALUE) return posts_refused("stop status 4", outcome);

    if (!tracer_eventlog_end(log, &error)) return complain(&error);
    if (!tracer_sink_close(later, &error)) return complain(&error);
    const tracer_eventlog_counters counters = tracer_eventlog_count(log);
    tracer_eventlog_free(log);
    return counters.lost == 0 ? 0 : 1;
}

static bool write_to_file(void* context, const void* data, size_t bytes) {
    return fwrite(data, 1, bytes, (FILE*)context) == bytes;
}

static void close_file(void* context) {
    fclose((FILE*)context);
}

/* Where the bytes go is this program's own business. */
static int write_through_hooks(void) {
    tracer_error error;
    const tracer_hooks hooks = {
        .context = fopen("hooks.eventlog", "wb"), .write = write_to_file, .stop = close_file};
    if (hooks.context == NULL) return 1;
    tracer_eventlog* log = tracer_eventlog_new(NULL, &error);
    tracer_sink* sink = tracer_sink_open_hooks(&hooks, &error);
    if (log == NULL || sink == NULL) return complain(&error);
    if (!tracer_eventlog_start(log, sink, &error)) return complain(&error);
    const tracer_eventlog_outcome outcome = run_thread(log, 0, 4);
    if (outcome != TRACER_EVENTLOG_POSTED) return posts_refused("hooks.eventlog", outcome);
    if (!tracer_eventlog_end(log, &error)) return complain(&error);
    tracer_eventlog_free(log);
    return tracer_sink_close(sink, &error) ? 0 : complain(&error);
}

int main(void) {
    int failed = write_fxt();
    if (failed == 0) failed = write_eventlog();
    return failed != 0 ? failed : write_through_hooks();
}
