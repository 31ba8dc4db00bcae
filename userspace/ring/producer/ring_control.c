// SPDX-License-Identifier: Apache-2.0
//
// Starting, pausing and stopping: tracer_ring.h's first part. A file is opened with everything in
// it, then tracer_ring_on lets writers in; to take it away, the flag is cleared and those within a
// write are waited for (ring_thread.h). The constructor and the destructor of the library are here,
// beside the flag that every user refers to, so that a static link has them too.
#include "ring/producer/ring_control.h"

#include "ring/producer/ring_events.h"
#include "ring/producer/ring_record.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIESCE_NS 1000000000u
#define QUIESCE_AT_EXIT_NS 200000000u

uint32_t tracer_ring_on = 0;
uint32_t tr_needs_fence = 0;
_Thread_local struct tr_thread tr_self;
struct tr_control tr_control = {.lock = PTHREAD_MUTEX_INITIALIZER, .state = TR_RING_STOPPED};

bool tr_control_lock(void) {
    struct tr_thread* self = &tr_self;
    if (__atomic_load_n(&self->busy, __ATOMIC_RELAXED) != TR_IDLE) return false;
    __atomic_store_n(&self->busy, TR_WAITING, __ATOMIC_RELAXED);
    if (tr_fork_is_unnoticed()) tr_fork_notice(self);
    pthread_mutex_lock(&tr_control.lock);
    return true;
}

void tr_control_unlock(void) {
    pthread_mutex_unlock(&tr_control.lock);
    tr_thread_leave(&tr_self);
}

struct tr_ring_file* tr_control_file(void) {
    return tr_control.state != TR_RING_STOPPED && !tr_control.is_child ? &tr_control.file : NULL;
}

static void set_on(uint32_t on) {
    __atomic_store_n(&tr_home->gate, on, __ATOMIC_SEQ_CST);
    __atomic_store_n(&tracer_ring_on, on, __ATOMIC_SEQ_CST);
}

static int membarrier(int command) {
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

static int make_rings(const struct tr_ring_file* file) {
    const size_t bytes = file->ring_count * sizeof(struct tr_ring);
    struct tr_ring* rings = aligned_alloc(_Alignof(struct tr_ring), bytes);
    if (rings == NULL) return -ENOMEM;
    memset(rings, 0, bytes);
    for (uint32_t i = 0; i < file->ring_count; ++i) {
        rings[i].data = (uint64_t*)(file->base + tr_ring_file_ring_offset(file, i));
        rings[i].header = tr_ring_file_header(file, i);
        rings[i].words = file->ring_words;
        rings[i].clock.is_counted = tr_control.settings.is_clock_counted;
    }
    rings[0].is_reserved = true;
    tr_control.rings = rings;
    __atomic_store_n(&tr_control.free_rings, file->ring_count, __ATOMIC_RELAXED);
    return 0;
}

int tr_control_open(pid_t parent) {
    int error = tr_ring_file_open(&tr_control.file, &tr_control.settings, parent);
    if (error != 0) return error;
    error = tr_ring_events_write_names(&tr_control.file);
    if (error == 0) error = make_rings(&tr_control.file);
    if (error != 0) {
        tr_ring_file_close(&tr_control.file, false);
        return error;
    }
    tr_fork_take_home();
    tr_control.retry_ns = 0;
    __atomic_store_n(&tr_control.missing, 0, __ATOMIC_RELAXED);
    // Since Linux 4.14, where a sandbox lets it; asked again after fork and exec.
    const bool is_registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    __atomic_store_n(&tr_needs_fence, is_registered ? 0 : 1, __ATOMIC_RELAXED);
    tr_ring_file_set_state(&tr_control.file,
                           tr_control.state == TR_RING_PAUSED ? TR_RING_PAUSED : TR_RING_RUNNING);
    return 0;
}

// The end of the file in this process, with or without its name.
static void close_rings(bool is_preserved) {
    tr_ring_file_close(&tr_control.file, is_preserved);
    free(tr_control.rings);
    tr_control.rings = NULL;
}

int tr_control_replace(void) {
    if (!tr_control.is_child) return 0;
    if (!tr_control.is_pinned) close_rings(true);
    tr_control.is_child = tr_control.is_pinned = false;
    const int error = tr_control_open(tr_control.parent);
    if (error != 0) {
        set_on(0);
        tr_control.state = TR_RING_STOPPED;
    }
    return error;
}

bool tr_control_quiesce(uint64_t wait_ns) {
    set_on(0);
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) tr_full_fence();
    const uint64_t end_ns = tr_ring_clock_ns(CLOCK_MONOTONIC) + wait_ns;
    const struct timespec pause = {.tv_nsec = 20000};
    for (uint32_t i = 0; i < tr_control.file.ring_count; ++i) {
        const struct tr_thread* owner = tr_control.rings[i].owner;
        while (owner != NULL && __atomic_load_n(&owner->busy, __ATOMIC_ACQUIRE) == TR_WRITING) {
            if (tr_ring_clock_ns(CLOCK_MONOTONIC) > end_ns) return false;
            nanosleep(&pause, NULL);
        }
    }
    return true;
}

void tr_control_publish_missing(void) {
    const uint64_t missing = __atomic_exchange_n(&tr_control.missing, 0, __ATOMIC_RELAXED);
    if (missing == 0) return;
    struct tr_ring_trailer* trailer = tr_ring_file_trailer(&tr_control.file);
    tr_word_store(&trailer->rings_missing, trailer->rings_missing + missing);
}

// ---- start, pause, resume, stop ---------------------------------------------------------------

static int start_locked(const tracer_ring_options* options) {
    if (tr_control.state != TR_RING_STOPPED) return 0;
    int error = tr_environment_settings(options, &tr_control.settings);
    if (error == 0) error = tr_fork_prepare_process();
    tr_control.parent = 0;
    if (error == 0) error = tr_control_open(0);
    if (error != 0) return error;
    // This thread's ring is the first, and begins with the record of the start.
    error = tr_thread_claim_locked(&tr_self);
    if (error != 0) {
        close_rings(false);
        return error;
    }
    if (tr_control.settings.is_removed_on_signals) tr_signals_install();
    tr_control.state = TR_RING_RUNNING;
    set_on(1);
    return 0;
}

int tracer_ring_start(const tracer_ring_options* options) {
    if (!tr_control_lock()) return -EBUSY;
    const int error = start_locked(options);
    tr_control_unlock();
    return error;
}

int tracer_ring_pause(void) {
    // First the record: later there would be no writing it.
    const int written = tracer_ring_lifecycle(TR_RING_PAUSE, 0);
    if (written == -EBUSY || !tr_control_lock()) return -EBUSY;
    int result = 0;
    if (tr_control.state == TR_RING_RUNNING) {
        if (tr_control.is_child) {
            set_on(0);
        } else {
            if (!tr_control_quiesce(QUIESCE_NS)) result = -ETIMEDOUT;
            tr_control_publish_missing();
            tr_ring_file_set_state(&tr_control.file, TR_RING_PAUSED);
        }
        tr_control.state = TR_RING_PAUSED;
    }
    tr_control_unlock();
    return result;
}

int tracer_ring_resume(void) {
    if (!tr_control_lock()) return -EBUSY;
    const bool is_paused = tr_control.state == TR_RING_PAUSED;
    if (is_paused) {
        tr_control.state = TR_RING_RUNNING;
        if (!tr_control.is_child) tr_ring_file_set_state(&tr_control.file, TR_RING_RUNNING);
        set_on(1);
    }
    tr_control_unlock();
    if (is_paused) tracer_ring_lifecycle(TR_RING_RESUME, 0);
    return 0;
}

// Each thread's ring ends with a record, and its thread has none any more.
static void end_rings(void) {
    for (uint32_t i = 0; i < tr_control.file.ring_count; ++i) {
        struct tr_ring* ring = &tr_control.rings[i];
        struct tr_thread* owner = ring->owner;
        if (owner == NULL || __atomic_load_n(&owner->busy, __ATOMIC_ACQUIRE) == TR_WRITING)
            continue;
        tr_record_put(ring, tracer_ring_bits(TR_RING_LIFECYCLE, TR_RING_STOP));
        owner->ring = NULL;
        ring->owner = NULL;
    }
}

static int stop_locked(uint64_t wait_ns) {
    if (tr_control.state == TR_RING_STOPPED) return 0;
    int result = 0;
    if (tr_control.is_child) {
        set_on(0);
        tr_control.is_child = false;
        if (!tr_control.is_pinned) close_rings(true);
    } else {
        const bool is_quiet = tr_control_quiesce(wait_ns);
        end_rings();
        tr_control_publish_missing();
        tr_ring_file_set_state(&tr_control.file, TR_RING_STOPPED);
        if (is_quiet) {
            close_rings(tr_control.settings.is_preserved);
        } else {
            // A thread was stopped within a write, and may go on with it: what it writes to stays.
            if (!tr_control.settings.is_preserved) tr_ring_file_unlink(&tr_control.file);
            result = -ETIMEDOUT;
        }
    }
    if (tr_control.settings.is_removed_on_signals) tr_signals_remove();
    tr_control.is_pinned = false;
    tr_control.rings = NULL;
    tr_control.state = TR_RING_STOPPED;
    tr_fork_leave_home();
    return result;
}

static int stop(uint64_t wait_ns) {
    if (!tr_control_lock()) return -EBUSY;
    const int result = stop_locked(wait_ns);
    tr_control_unlock();
    return result;
}

int tracer_ring_stop(void) {
    return stop(QUIESCE_NS);
}

// ---- what it is and has -----------------------------------------------------------------------

int tracer_ring_path(char* path, size_t path_bytes) {
    if (!tr_control_lock()) return -EBUSY;
    int result = tr_control_replace();
    if (result == 0 && tr_control_file() == NULL) result = -ENOENT;
    if (result == 0) {
        const size_t length = strlen(tr_control.file.path);
        if (length < path_bytes) memcpy(path, tr_control.file.path, length + 1);
        result = (int)length;
    }
    tr_control_unlock();
    return result;
}

void tracer_ring_remove_file(void) {
    // Without the lock: a handler cannot wait for it, and the name is the same all the time.
    if (__atomic_load_n(&tr_control.state, __ATOMIC_RELAXED) != TR_RING_STOPPED &&
        !tr_control.settings.is_preserved) {
        tr_ring_file_unlink(&tr_control.file);
    }
}

int tracer_ring_get_counts(tracer_ring_counts* counts) {
    *counts = (tracer_ring_counts){0};
    if (!tr_control_lock()) return -EBUSY;
    const struct tr_ring_file* file = tr_control_file();
    if (file != NULL) {
        tr_control_publish_missing();
        counts->missing = tr_ring_file_trailer(file)->rings_missing;
        for (uint32_t i = 0; i < file->ring_count; ++i) {
            const struct tr_ring_header* header = tr_ring_file_header(file, i);
            counts->written += __atomic_load_n(&header->events, __ATOMIC_RELAXED);
            counts->dropped += __atomic_load_n(&header->dropped, __ATOMIC_RELAXED);
            counts->rings += tr_control.rings[i].owner != NULL;
        }
    }
    tr_control_unlock();
    return file != NULL ? 0 : -ENOENT;
}

const void* tracer_ring_memory(size_t* bytes) {
    if (!tr_control_lock()) return NULL;
    const struct tr_ring_file* file = tr_control_file();
    const void* memory = file != NULL ? file->base : NULL;
    *bytes = file != NULL ? file->bytes : 0;
    tr_control_unlock();
    return memory;
}

// ---- the process's beginning and end ------------------------------------------------------------

static void at_exit(void) {
    // Within a write when exit() was called by a handler that interrupted one.
    if (stop(QUIESCE_AT_EXIT_NS) == -EBUSY) tracer_ring_remove_file();
}

__attribute__((constructor)) static void at_load(void) {
    at_quick_exit(at_exit);
    if (!tr_environment_asks()) return;
    const int error = tracer_ring_start(NULL);
    if (error != 0) fprintf(stderr, "tracer_ring: not started: %s\n", strerror(-error));
}

__attribute__((destructor)) static void at_unload(void) {
    at_exit();
}
