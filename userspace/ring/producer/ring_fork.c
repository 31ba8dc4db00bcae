// SPDX-License-Identifier: Apache-2.0
//
// fork: the child must never write to its parent's file, whatever it was in the middle of. Its
// mapping is replaced in place by memory of its own; a write that was interrupted by the handler
// that forked ends there and harms nobody. The child's own file is made at its first event
// (tr_control_replace). _Fork() and a bare clone() run no handlers: their child is told by memory
// that is zeroed in it, and does the same once it calls any of our functions. Only a write that
// such a fork interrupted, from a signal handler, goes on in the parent's file.
#include "ring/producer/ring_control.h"
#include "ring/producer/ring_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOCK_ATTEMPTS 1000

static uint64_t ticks_before_fork;

static uint64_t ticks_now(void) {
    return tr_ring_clock_ns(CLOCK_BOOTTIME) / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

// A thread that forks in a handler may have interrupted itself with the lock in its hands.
static bool take_lock(bool is_within) {
    if (!is_within) return pthread_mutex_lock(&tr_control.lock) == 0;
    const struct timespec pause = {.tv_nsec = 20000};
    for (int i = 0; i < LOCK_ATTEMPTS; ++i) {
        if (pthread_mutex_trylock(&tr_control.lock) == 0) return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void before_fork(void) {
    struct tr_thread* self = &tr_self;
    self->busy_before_fork = __atomic_load_n(&self->busy, __ATOMIC_RELAXED);
    const bool is_within = self->busy_before_fork != TR_IDLE;
    if (!is_within) __atomic_store_n(&self->busy, TR_WAITING, __ATOMIC_RELAXED);
    self->is_forking = true;
    self->has_fork_lock = take_lock(is_within);
    if (self->has_fork_lock) ticks_before_fork = ticks_now();
}

static void restore(struct tr_thread* self) {
    self->is_forking = false;
    __atomic_store_n(&self->busy, self->busy_before_fork, __ATOMIC_RELEASE);
}

// The last of this thread's children, if it began after `ticks`; fork's own result is not told to
// handlers. 0: it is gone already, or the kernel has no such list.
static pid_t newest_child(uint64_t ticks) {
    const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    char text[4096];
    long last = 0;
    size_t kept = 0;
    // Numbers with a space after each; the last one may be cut in two by a read's end.
    for (;;) {
        const ssize_t count = read(fd, text + kept, sizeof(text) - 1 - kept);
        if (count <= 0) break;
        const size_t length = kept + (size_t)count;
        text[length] = '\0';
        char* end = strrchr(text, ' ');
        if (end == NULL) break;
        *end = '\0';
        const char* begin = strrchr(text, ' ');
        begin = begin != NULL ? begin + 1 : text;
        last = strtol(begin, NULL, 10);
        kept = length - (size_t)(end + 1 - text);
        memmove(text, end + 1, kept);
    }
    close(fd);
    const pid_t pid = (pid_t)last;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    return pid > 0 && tr_ring_start_ticks(path) >= ticks ? pid : 0;
}

static void after_fork_in_parent(void) {
    struct tr_thread* self = &tr_self;
    const bool is_within = self->busy_before_fork != TR_IDLE;
    const uint64_t ticks = ticks_before_fork;
    if (self->has_fork_lock) pthread_mutex_unlock(&tr_control.lock);
    restore(self);
    if (!is_within && tracer_ring_is_active()) {
        tracer_ring_lifecycle(TR_RING_FORK_PARENT, newest_child(ticks));
    }
}

// This is a child that has its parent's file mapped, or knows already that it has none.
static void become_child(struct tr_thread* self, bool is_within, pid_t parent) {
    if (tr_control.state != TR_RING_STOPPED) {
        struct tr_ring_file* file = &tr_control.file;
        if (!tr_control.is_child &&
            mmap(file->base, file->bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
            // Better a fault than a word in the parent's file.
            munmap(file->base, file->bytes);
            file->base = NULL;
        }
        // The lock on the parent's file is the parent's alone again.
        if (file->fd >= 0) close(file->fd);
        file->fd = -1;
        tr_control.is_pinned = (tr_control.is_child && tr_control.is_pinned) || is_within;
        tr_control.is_child = true;
        tr_control.parent = parent;
        __atomic_store_n(&tr_control.free_rings, file->ring_count, __ATOMIC_RELAXED);
        __atomic_store_n(&tr_control.missing, 0, __ATOMIC_RELAXED);
        self->ring = NULL;
        self->dropped = 0;
    }
    tr_control.forks += 1;
    tr_fork_take_home();
}

static void make_lock(void) {
    const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    tr_control.lock = fresh;
}

static void after_fork_in_child(void) {
    struct tr_thread* self = &tr_self;
    become_child(self, self->busy_before_fork != TR_IDLE, getppid());
    if (self->has_fork_lock) {
        pthread_mutex_unlock(&tr_control.lock);
    } else {
        // It was another thread's, which the child does not have, or is this one's, which goes on.
        make_lock();
    }
    restore(self);
}

// ---- forks without handlers ---------------------------------------------------------------------

static struct tr_home own_home;
struct tr_home* tr_home = &own_home;
static pid_t home_pid;  // atomic; 0: nobody has a file

void tr_fork_take_home(void) {
    __atomic_store_n(&home_pid, getpid(), __ATOMIC_RELAXED);
    const uint32_t on = __atomic_load_n(&tracer_ring_on, __ATOMIC_RELAXED);
    __atomic_store_n(&tr_home->gate, on, __ATOMIC_SEQ_CST);
    __atomic_store_n(&tr_home->home, TR_AT_HOME, __ATOMIC_RELEASE);
}

void tr_fork_leave_home(void) {
    __atomic_store_n(&home_pid, 0, __ATOMIC_RELAXED);
}

bool tr_fork_is_unnoticed(void) {
    const struct tr_home* home = __atomic_load_n(&tr_home, __ATOMIC_RELAXED);
    if (__atomic_load_n(&home->home, __ATOMIC_ACQUIRE) == TR_AT_HOME) return false;
    const pid_t pid = __atomic_load_n(&home_pid, __ATOMIC_RELAXED);
    return pid != 0 && pid != getpid();
}

// The first thread that calls anything of ours does it. Whoever had the lock is not here.
void tr_fork_notice(struct tr_thread* self) {
    uint32_t expected = TR_ABROAD;
    if (!__atomic_compare_exchange_n(&tr_home->home, &expected, TR_MOVING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        const struct timespec pause = {.tv_nsec = 20000};
        while (tr_fork_is_unnoticed()) nanosleep(&pause, NULL);
        return;
    }
    make_lock();
    become_child(self, false, __atomic_load_n(&home_pid, __ATOMIC_RELAXED));
}

// Where the kernel cannot (before 4.14), forks without handlers go unnoticed.
static void make_home(void) {
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    if (madvise(memory, bytes, MADV_WIPEONFORK) == 0) {
        __atomic_store_n(&tr_home, (struct tr_home*)memory, __ATOMIC_RELEASE);
    } else {
        munmap(memory, bytes);
    }
}

int tr_fork_prepare_process(void) {
    static bool is_prepared;
    if (is_prepared) return 0;
    const int error = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (error == 0) make_home();
    is_prepared = error == 0;
    return -error;
}
