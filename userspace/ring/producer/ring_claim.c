// SPDX-License-Identifier: Apache-2.0
//
// Which thread has which ring. A ring is claimed at a thread's first event and given back when the
// thread ends (a destructor of its thread-specific data); its next owner goes on where the last one
// ended, under another generation. The lowest free ring is taken, so that a program which starts
// many short threads keeps few rings in memory. Everything here is under the lock but the counting
// of events that found no ring.
#include "ring/producer/ring_control.h"
#include "ring/producer/ring_record.h"

#include <errno.h>
#include <unistd.h>

// Until a full disk is asked again.
#define RETRY_NS 100000000u
// Of PTHREAD_DESTRUCTOR_ITERATIONS, 4: after that nobody would tell us the thread's end.
#define ENDINGS_MAX 3

static pthread_key_t key;
static bool has_key;

static void count_drop(struct tr_ring_header* header, uint64_t count) {
    __atomic_fetch_add(&header->dropped, count, __ATOMIC_RELAXED);
}

int tr_thread_drop(struct tr_thread* self) {
    const bool is_writing = __atomic_load_n(&self->busy, __ATOMIC_RELAXED) == TR_WRITING;
    // While it is not writing its ring may be on its way out of memory; and between fork's handlers
    // this may be the child, with the parent's ring.
    if (is_writing && self->ring != NULL && !self->is_forking && !tr_fork_is_unnoticed()) {
        count_drop(self->ring->header, 1);
    } else {
        __atomic_fetch_add(&self->dropped, 1, __ATOMIC_RELAXED);
    }
    return -EBUSY;
}

static void write_lifecycle(struct tr_ring* ring, enum tr_ring_lifecycle id, int64_t value) {
    tr_record_put_value(ring, tracer_ring_bits(TR_RING_LIFECYCLE, id), (uint64_t)value);
}

static void give_back(struct tr_thread* self) {
    struct tr_ring* ring = self->ring;
    if (ring == NULL) return;
    if (tr_control.state == TR_RING_RUNNING) {
        write_lifecycle(ring, TR_RING_DOMAIN_TERMINATE, gettid());
    }
    __atomic_store_n(&ring->header->owner_tid, 0, __ATOMIC_RELAXED);
    ring->owner = NULL;
    self->ring = NULL;
    __atomic_fetch_add(&tr_control.free_rings, 1, __ATOMIC_RELAXED);
}

static void on_thread_end(void* value) {
    struct tr_thread* self = value;
    // A handler may have ended the thread within a write; the ring is whole up to its tail.
    __atomic_store_n(&self->busy, TR_WAITING, __ATOMIC_RELAXED);
    if (tr_fork_is_unnoticed()) tr_fork_notice(self);
    pthread_mutex_lock(&tr_control.lock);
    self->endings += 1;
    give_back(self);
    tr_control_unlock();
}

// When the library is loaded: glibc keeps the values of a process's first keys in the thread's own
// block, so that a claim allocates nothing, which a signal handler's first event relies on. Before
// the constructor that may start the rings.
__attribute__((constructor(101))) static void make_key(void) {
    has_key = pthread_key_create(&key, on_thread_end) == 0;
}

static struct tr_ring* find_free(void) {
    for (uint32_t i = 0; i < tr_control.file.ring_count; ++i) {
        if (tr_control.rings[i].owner == NULL) return &tr_control.rings[i];
    }
    return NULL;
}

static int reserve(struct tr_ring* ring) {
    if (ring->is_reserved) return 0;
    const uint64_t now_ns = tr_ring_clock_ns(CLOCK_MONOTONIC);
    if (now_ns < tr_control.retry_ns) return -ENOSPC;
    const struct tr_ring_file* file = &tr_control.file;
    const int error = tr_ring_file_reserve(
        file, tr_ring_file_ring_offset(file, (uint32_t)(ring - tr_control.rings)),
        ring->words * sizeof(uint64_t));
    ring->is_reserved = error == 0;
    if (error != 0) tr_control.retry_ns = now_ns + RETRY_NS;
    return error;
}

static int find_ring(struct tr_ring** ring) {
    // Without a key nobody would give it back.
    *ring = has_key && tr_self.endings < ENDINGS_MAX ? find_free() : NULL;
    return *ring != NULL ? reserve(*ring) : -EAGAIN;
}

int tr_thread_claim_locked(struct tr_thread* self) {
    struct tr_ring* ring = NULL;
    int result = find_ring(&ring);
    if (result == 0) result = -pthread_setspecific(key, self);
    if (result != 0) {
        __atomic_fetch_add(&tr_control.missing, 1, __ATOMIC_RELAXED);
        tr_control_publish_missing();
        return result;
    }
    ring->owner = self;
    ring->generation += 1;
    self->ring = ring;
    __atomic_fetch_sub(&tr_control.free_rings, 1, __ATOMIC_RELAXED);
    struct tr_ring_header* header = ring->header;
    const pid_t tid = gettid();
    // Whose it is comes last: until then it is nobody's.
    __atomic_store_n(&header->generation, ring->generation, __ATOMIC_RELAXED);
    tr_word_store(&header->claimed_ns, tr_ring_clock_ns(CLOCK_MONOTONIC));
    __atomic_store_n(&header->owner_tid, (uint32_t)tid, __ATOMIC_RELEASE);
    count_drop(header, __atomic_exchange_n(&self->dropped, 0, __ATOMIC_RELAXED));
    // As OCaml has it: the first domain's ring begins with the start instead.
    const bool is_first = ring == tr_control.rings && ring->generation == 1;
    if (!is_first) {
        write_lifecycle(ring, TR_RING_DOMAIN_SPAWN, tid);
        return 0;
    }
    write_lifecycle(ring, TR_RING_START, tr_control.file.pid);
    if (tr_control.parent != 0) write_lifecycle(ring, TR_RING_FORK_CHILD, 0);
    return 0;
}

static int replace_and_claim(struct tr_thread* self) {
    if (tr_control.state != TR_RING_RUNNING) return 0;
    // A child of fork that cannot make its file is off from here on.
    const int error = tr_control_replace();
    return error != 0 ? error : tr_thread_claim_locked(self);
}

int tr_thread_closed(struct tr_thread* self) {
    if (tr_fork_is_unnoticed()) {
        __atomic_store_n(&self->busy, TR_WAITING, __ATOMIC_RELEASE);
        tr_fork_notice(self);
        if (__atomic_load_n(&tr_home->gate, __ATOMIC_RELAXED) != 0) return tr_thread_claim(self);
    }
    tr_thread_leave(self);
    return 0;
}

int tr_thread_claim(struct tr_thread* self) {
    __atomic_store_n(&self->busy, TR_WAITING, __ATOMIC_RELEASE);
    int result = -EAGAIN;
    // Where rings are short, threads without one do not queue for the lock.
    const bool is_hopeless = __atomic_load_n(&tr_control.free_rings, __ATOMIC_RELAXED) == 0;
    if (is_hopeless && pthread_mutex_trylock(&tr_control.lock) != 0) {
        __atomic_fetch_add(&tr_control.missing, 1, __ATOMIC_RELAXED);
    } else {
        if (!is_hopeless) pthread_mutex_lock(&tr_control.lock);
        const uint32_t forks = tr_control.forks;
        result = replace_and_claim(self);
        // A handler forked meanwhile, and this is the child.
        if (forks != tr_control.forks) self->ring = NULL;
        pthread_mutex_unlock(&tr_control.lock);
    }
    if (result == 0) {
        tr_thread_set_busy(self);
        if (__atomic_load_n(&tr_home->gate, __ATOMIC_ACQUIRE) != 0 && self->ring != NULL) return 1;
    }
    tr_thread_leave(self);
    return result;
}
