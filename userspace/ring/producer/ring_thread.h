// SPDX-License-Identifier: Apache-2.0
//
// One thread's way into its ring. A thread owns its ring while it is busy; the ring's private half
// (struct tr_ring) is cached knowledge of what is in the shared one, which is never read back.
//
// Busy is also what keeps a signal handler out of a write that it has interrupted, and what stop,
// pause and fork wait for: they close the gate and then look at busy, while a writer sets busy and
// then looks at the gate. Each must see the other's store, which takes a full barrier on both
// sides; the kernel can run the writers' for them (membarrier), so that a write has none.
#pragma once

#include "ring/producer/ring_clock.h"
#include "ring/producer/ring_file.h"
#include "tracer/ring/tracer_ring.h"

enum tr_busy {
    TR_IDLE = 0,
    TR_WRITING = 1,  // in its ring
    TR_WAITING = 2,  // for the lock, or has it; not in its ring but by the lock's right
};

struct tr_ring {
    _Alignas(128) uint64_t* data;  // neighbours' cache lines are fetched in pairs
    struct tr_ring_header* header;
    uint64_t words;
    uint64_t head;
    uint64_t tail;
    uint64_t sequence;  // of the last event
    struct tr_clock clock;
    struct tr_thread* owner;  // under the lock, like what follows
    bool is_reserved;         // has blocks
    uint32_t generation;
};

struct tr_thread {
    uint32_t busy;
    uint32_t endings;      // how often its end was announced: destructors may write again
    struct tr_ring* ring;  // changed by others only while this one is not writing
    uint64_t dropped;      // while it had no ring to count it in
    // Between fork's first and last handler: what it was doing before, and whether it has the lock.
    bool is_forking;
    bool has_fork_lock;
    uint32_t busy_before_fork;
};

// Initial-exec: handlers may touch it, for it is never allocated late.
extern _Thread_local struct tr_thread tr_self __attribute__((tls_model("initial-exec")));
// In memory that a child finds zeroed, whichever way it was forked (MADV_WIPEONFORK, Linux 4.14):
// fork()'s handlers do not run for _Fork() and clone(), and such a child has its parent's file
// mapped.
enum tr_home_state {
    TR_ABROAD = 0,  // a child that does not know that it is one
    TR_MOVING = 1,  // one of its threads is about to see to it
    TR_AT_HOME = 2,
};
struct tr_home {
    uint32_t gate;  // tracer_ring_on, for those who look once they are busy
    uint32_t home;  // enum tr_home_state
};
extern struct tr_home* tr_home;

// Without membarrier a write has a full barrier of its own.
extern uint32_t tr_needs_fence;

// The way for the first event, and where rings are short: 1: entered; else left, and the result.
int tr_thread_claim(struct tr_thread* self);
// Its first half: a ring for this thread, or why not. Under the lock, with a file.
int tr_thread_claim_locked(struct tr_thread* self);
// The way where the gate is closed, which it is for a child that nobody told; as above.
int tr_thread_closed(struct tr_thread* self);
// A write within a write.
int tr_thread_drop(struct tr_thread* self);

static inline void tr_full_fence(void) {
#ifndef __SANITIZE_THREAD__  // which does not know fences; there the stores around it order
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void tr_thread_set_busy(struct tr_thread* self) {
#ifdef __SANITIZE_THREAD__
    __atomic_exchange_n(&self->busy, TR_WRITING, __ATOMIC_SEQ_CST);
#else
    __atomic_store_n(&self->busy, TR_WRITING, __ATOMIC_RELAXED);
    if (__builtin_expect(__atomic_load_n(&tr_needs_fence, __ATOMIC_RELAXED) != 0, 0)) {
        tr_full_fence();
    } else {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
#endif
}

static inline void tr_thread_leave(struct tr_thread* self) {
    __atomic_store_n(&self->busy, TR_IDLE, __ATOMIC_RELEASE);
}

// 1: self->ring is the caller's until tr_thread_leave(); else the result of the write.
static inline int tr_thread_enter(struct tr_thread* self) {
    if (__builtin_expect(__atomic_load_n(&self->busy, __ATOMIC_RELAXED) != TR_IDLE, 0)) {
        return tr_thread_drop(self);
    }
    tr_thread_set_busy(self);
    const struct tr_home* home = __atomic_load_n(&tr_home, __ATOMIC_RELAXED);
    if (__builtin_expect(__atomic_load_n(&home->gate, __ATOMIC_ACQUIRE) == 0, 0)) {
        return tr_thread_closed(self);
    }
    if (__builtin_expect(self->ring == NULL, 0)) return tr_thread_claim(self);
    return 1;
}
