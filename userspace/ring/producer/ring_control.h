// SPDX-License-Identifier: Apache-2.0
//
// The one state of a process's rings, and its lock. A process has one file as it has one pid, so
// this is a global; everything in it is under the lock but what says otherwise.
#pragma once

#include "ring/producer/ring_thread.h"

#include <pthread.h>

struct tr_control {
    pthread_mutex_t lock;
    enum tr_ring_file_state state;  // TR_RING_STOPPED: no file
    struct tr_ring_settings settings;
    struct tr_ring_file file;
    struct tr_ring* rings;
    uint32_t free_rings;  // atomic
    uint64_t missing;     // atomic: events without a ring that are not in the trailer yet
    uint64_t retry_ns;    // no room for another ring's blocks before this time
    // A child of fork whose parent's file is covered by memory of its own. The child's file is
    // made at its first event: most children only call exec.
    bool is_child;
    bool is_pinned;  // the fork was within a write, which goes on in that memory
    pid_t parent;    // of the process, if that forked it while the rings were on
    uint32_t forks;  // in the line of processes down to this one
};
extern struct tr_control tr_control;

// False: this thread is within a write or one of these functions already.
bool tr_control_lock(void);
void tr_control_unlock(void);
// NULL: there is none. Under the lock.
struct tr_ring_file* tr_control_file(void);
// Makes the file and its rings. Under the lock.
int tr_control_open(pid_t parent);
// In a child of fork that has none yet, its file. Under the lock.
int tr_control_replace(void);
// No thread may write any more, and after it none is within a write. False: one is still, though
// waited for. Under the lock.
bool tr_control_quiesce(uint64_t wait_ns);
// Missing events into the trailer. Under the lock, with a file.
void tr_control_publish_missing(void);

// pthread_atfork and the memory that says of other forks, once.
int tr_fork_prepare_process(void);
// The file, or the want of one, is this process's from here on; or nobody's.
void tr_fork_take_home(void);
void tr_fork_leave_home(void);
// Whether this is a child that was forked without fork()'s handlers; and what they would have done,
// for a thread that is not within a write and does not have the lock.
bool tr_fork_is_unnoticed(void);
void tr_fork_notice(struct tr_thread* self);
// Handlers for the signals whose action is the default; and the default again.
void tr_signals_install(void);
void tr_signals_remove(void);
// What is not given in `options` (which may be NULL) from the environment. 0 or a negative errno.
int tr_environment_settings(const tracer_ring_options* options, struct tr_ring_settings* settings);
// Whether the environment asks for rings from the start.
bool tr_environment_asks(void);
