/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_EVENT_H
#define TRACER_ABI_EVENT_H

#include "types.h"

/*
 * The contract from the kernel side (bpf/) to userspace, and the body of a raw capture: what one
 * record in a ring looks like. Natural alignment, explicit padding, asserted offsets.
 *
 * Rules: a number is never reused; a struct only grows at its end (a reader takes the fields that
 * the record's size covers); a change bumps TR_ABI_MINOR; a change of meaning bumps
 * TR_ABI_MAJOR. A reader refuses another major and skips unknown kinds by their size, counting
 * them.
 */
#define TR_ABI_MAJOR 1
#define TR_ABI_MINOR 4

#define TR_COMM_BYTES 16
#define TR_PATH_BYTES 256
#define TR_ARGS_MAX 12

/* Largest record any program reserves; a reader refuses more. */
#define TR_RECORD_BYTES_MAX 8192

/*
 * Record kinds: X(number, name, struct). The decoder's switch, the text names, the size check and
 * the fuzzer's seeds come from this list.
 */
#define TR_RECORD_KINDS(X)                           \
	X(1, none, struct tr_record_header)          \
	X(2, hit, struct tr_hit)                     \
	X(3, sched_switch, struct tr_sched_switch)   \
	X(4, sched_wakeup, struct tr_sched_wakeup)   \
	X(5, task_new, struct tr_task)               \
	X(6, task_exec, struct tr_task_exec)         \
	X(7, task_exit, struct tr_task)              \
	X(8, task_rename, struct tr_task)            \
	X(9, task_info, struct tr_task)              \
	X(10, gap_begin, struct tr_gap)              \
	X(11, gap_end, struct tr_gap)                \
	X(12, clock, struct tr_clock)                \
	X(13, task_select, struct tr_task)           \
	X(14, ring_point, struct tr_ring_point)      \
	X(15, ring_track, struct tr_ring_track)      \
	X(16, ring_event, struct tr_ring_event)      \
	X(17, ring_lost, struct tr_ring_lost)

enum tr_record_kind {
#define TR_KIND_ENUM(number, name, type) TR_KIND_##name = number,
	TR_RECORD_KINDS(TR_KIND_ENUM)
#undef TR_KIND_ENUM
};

/*
 * Head of every record. For kinds made by the scheduler programs tgid/tid are the task the record
 * is about unless its struct says otherwise. Pids are those of the initial pid namespace.
 */
struct tr_record_header {
	uint16_t size;     /* bytes of the whole record, header included; a multiple of 8 */
	uint16_t kind;     /* enum tr_record_kind */
	uint32_t probe_id; /* index into the probe table; below TR_PROBE_FIRST_USER: built in */
	uint64_t time_ns;  /* CLOCK_BOOTTIME */
	uint32_t tgid;
	uint32_t tid;
	/*
	 * Of the ring's sequence: advanced for every attempt, lost ones too, so that a jump says
	 * how many records are missing. Records of one ring may be a few places out of order when
	 * an interrupt's program ran between the taking of the number and the reservation.
	 */
	uint32_t seq;
	uint16_t cpu;
	uint16_t flags; /* meaning by kind */
};
TR_STATIC_ASSERT(sizeof(struct tr_record_header) == 32);

/* Probe ids below TR_PROBE_FIRST_USER name the built-in programs. */
enum tr_builtin_probe {
	TR_PROBE_sched_switch = 1,
	TR_PROBE_sched_wakeup = 2,
	TR_PROBE_task = 3,
	TR_PROBE_armed = 4, /* a hit made by userspace: probes armed in a file mapped late */
	TR_PROBE_ring = 5,  /* events that programs write to rings they share */
	TR_PROBE_titled = 6, /* a hit made by userspace: a process's name by its command line */
	TR_PROBE_mark = 7, /* a hit made by userspace: a text that the user put on the timeline */
	/*
	 * Hits made by userspace (minor 4): between the two nothing of probes, the scheduler and
	 * shared rings is recorded, and nothing of it is lost.
	 */
	TR_PROBE_paused = 8,
	TR_PROBE_resumed = 9,
	TR_PROBE_FIRST_USER = 16,
};

/*
 * TR_KIND_none: an attempt that was given up after its record was reserved (a string's page had to
 * be faulted in first, and a second record follows). It only keeps the sequence whole.
 *
 * TR_KIND_hit: a probe ran. header.flags bit i set: argument i could not be read (its slot is 0).
 * Each argument fills one slot of 8 bytes, in the order of the probe's definition: an integer
 * already extended to 64 bits, the raw bits of a float, or a struct tr_string_slot.
 */
struct tr_hit {
	struct tr_record_header header;
	uint64_t args[]; /* as many as the probe's definition has */
};

#define TR_STRING_CUT 1u      /* the string went on past `bytes` */
#define TR_STRING_AT_LEAST 2u /* its true length was not counted to the end (minor 1) */
/*
 * Since minor 1, with TR_STRING_CUT: flags >> TR_STRING_LENGTH_SHIFT is the string's true length in
 * bytes, with TR_STRING_AT_LEAST a lower bound of it. 0: not known.
 */
#define TR_STRING_LENGTH_SHIFT 2
#define TR_STRING_LENGTH_MAX 0x3fffffffu

struct tr_string_slot {
	uint16_t offset; /* of the first byte, from the start of the record */
	uint16_t bytes;  /* stored, without the NUL */
	uint32_t flags;  /* TR_STRING_* and the true length */
};
TR_STATIC_ASSERT(sizeof(struct tr_string_slot) == 8);

/* A CPU stopped running header.tid and began to run next_tid (0: idle). */
#define TR_SWITCH_PREEMPTED 1 /* header.flags: prev was still runnable */

struct tr_sched_switch {
	struct tr_record_header header; /* tgid/tid: the task that stopped running */
	uint32_t next_tgid;
	uint32_t next_tid;
	uint32_t prev_state; /* the kernel's TASK_* bits; 0: still runnable */
	int16_t prev_prio;   /* kernel priority 0..139 */
	int16_t next_prio;
};
TR_STATIC_ASSERT(sizeof(struct tr_sched_switch) == 48);

/* A sleeping task was made runnable. tgid/tid of the header: the waker (0: from idle). */
struct tr_sched_wakeup {
	struct tr_record_header header;
	uint32_t woken_tgid;
	uint32_t woken_tid;
	int16_t woken_prio;
	uint16_t woken_cpu; /* the CPU it last ran on */
	uint32_t flags;     /* 0 */
};
TR_STATIC_ASSERT(sizeof(struct tr_sched_wakeup) == 48);

#define TR_TASK_KTHREAD 1u    /* a kernel thread */
#define TR_TASK_GROUP_DEAD 2u /* task_exit: the last thread of its process */
#define TR_TASK_RUNNING 4u    /* task_info: on a CPU or waiting for one */
#define TR_TASK_SELECTED 8u   /* task_select: its process is recorded from now on; else no more */

/* Life of a task. tgid/tid of the header: the task itself (task_new: the new task). */
struct tr_task {
	struct tr_record_header header;
	uint32_t parent_tgid; /* task_new: the forking process; task_info: the real parent */
	uint32_t parent_tid;  /* task_new: the forking thread; else 0 */
	uint64_t start_ns;    /* CLOCK_BOOTTIME of the task's start: with the tid, its identity */
	char comm[TR_COMM_BYTES]; /* NUL-ended; task_rename: the new name */
	int32_t exit_code;        /* task_exit: the kernel's code (status << 8 | signal) */
	uint32_t task_flags;      /* TR_TASK_* */
};
TR_STATIC_ASSERT(sizeof(struct tr_task) == 72);

/*
 * What the kernel makes of task_new and task_info since minor version 1: the same, and the ids by
 * which the task knows itself. 0: it is in the initial pid namespace, where they are those of the
 * header.
 */
struct tr_task_ids {
	struct tr_task task;
	uint32_t ns_tgid; /* in the innermost pid namespace of its birth, which it never leaves */
	uint32_t ns_tid;
};
TR_STATIC_ASSERT(sizeof(struct tr_task_ids) == 80);

/* A process began another program. comm of `task` is the new name. */
struct tr_task_exec {
	struct tr_task task;
	char path[TR_PATH_BYTES]; /* of the program as given to exec, NUL-ended, cut if longer */
};
TR_STATIC_ASSERT(sizeof(struct tr_task_exec) == 328);

/*
 * Made by the merger, never by the kernel: records of ring header.cpu are missing from
 * header.time_ns (gap_begin) until header.time_ns (gap_end); count is exact at gap_end, 0 before.
 */
#define TR_GAP_OUTPUT 1 /* header.flags: a capture's output had no room; of every ring, cpu is 0 */

struct tr_gap {
	struct tr_record_header header; /* seq: the first one missing */
	uint64_t count;
	uint64_t begin_ns; /* time of the last record before the gap, 0: none */
};
TR_STATIC_ASSERT(sizeof(struct tr_gap) == 48);

/* Made by userspace: one reading of three clocks. header.time_ns is CLOCK_BOOTTIME. */
struct tr_clock {
	struct tr_record_header header;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};
TR_STATIC_ASSERT(sizeof(struct tr_clock) == 48);

/*
 * Made by userspace since minor version 2, from the rings that a program shares (ring_layout.h):
 * what its own runtime says. header.tgid is the program's process; times are those of the events,
 * brought to CLOCK_BOOTTIME. A producer is one file of rings; they are numbered from 0.
 */
#define TR_RING_CATEGORY_BYTES 16
#define TR_RING_POINT_NAME_BYTES 128
#define TR_RING_TRACK_NAME_BYTES 64

enum tr_ring_point_kind {
	TR_RING_POINT_instant = 0,
	TR_RING_POINT_span = 1,
	TR_RING_POINT_counter = 2,
};

enum tr_ring_value {
	TR_RING_VALUE_none = 0,
	TR_RING_VALUE_s64 = 1,
	TR_RING_VALUE_text = 2, /* behind tr_ring_event */
};

/* What later events refer to. Texts are NUL-ended. */
struct tr_ring_point {
	struct tr_record_header header;
	uint32_t point; /* counted from 0, in the order of these records, for all producers */
	uint16_t kind;  /* enum tr_ring_point_kind */
	uint16_t value; /* enum tr_ring_value; spans have none */
	char category[TR_RING_CATEGORY_BYTES];
	char value_name[TR_RING_CATEGORY_BYTES];
	char name[TR_RING_POINT_NAME_BYTES];
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_point) == 200);

/* From here on the ring's events are another's: header.tid's, or where it is 0 of that name. */
struct tr_ring_track {
	struct tr_record_header header;
	uint32_t producer;
	uint32_t ring;
	char name[TR_RING_TRACK_NAME_BYTES]; /* NUL-ended */
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_track) == 104);

enum tr_ring_role {
	TR_RING_ROLE_instant = 0, /* or a counter's value */
	TR_RING_ROLE_begin = 1,
	TR_RING_ROLE_end = 2,
};

#define TR_RING_EVENT_VALUE 1 /* header.flags: there is a value */

struct tr_ring_event {
	struct tr_record_header header;
	uint32_t producer;
	uint32_t ring;
	uint32_t point;
	uint16_t role;       /* enum tr_ring_role */
	uint16_t text_bytes; /* behind this struct */
	int64_t value;
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_event) == 56);

#define TR_RING_LOST_EXACT 1     /* header.flags: else `events` is an estimate */
#define TR_RING_LOST_MALFORMED 2 /* some of it was there, but made no sense */

/* Events of a ring that were overwritten before they were read, since header.time_ns. */
struct tr_ring_lost {
	struct tr_record_header header;
	uint32_t producer;
	uint32_t ring;
	uint64_t events;
	uint64_t words;
	uint64_t end_ns; /* time of the next event; 0: there is none */
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_lost) == 64);

#endif /* TRACER_ABI_EVENT_H */
