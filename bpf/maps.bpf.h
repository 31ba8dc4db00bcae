/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_MAPS_H
#define TRACER_BPF_MAPS_H

/*
 * Every map and every tunable of the kernel side. Sizes given here as 1 are set by the loader
 * (userspace/probe/kernel_objects.cpp) before it loads the object. Everything is __weak because
 * each .bpf.c includes this header and `bpftool gen object` merges weak definitions only.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "tracer/abi/event.h"
#include "tracer/abi/gate.h"
#include "tracer/abi/probe.h"
#include "tracer/abi/selection.h"
#include "tracer/abi/stats.h"

/* Set by the loader before load; the verifier prunes what they switch off. */
const volatile bool tr_record_all __weak = false;	/* every task is wanted */
const volatile bool tr_filter_tids __weak = false;	/* single threads are wanted too */
const volatile bool tr_follow_children __weak = false; /* children of wanted processes are wanted */
const volatile bool tr_selects __weak = false;	/* processes are wanted by name or cgroup too */
const volatile bool tr_selects_cgroups __weak = false;
const volatile uint32_t tr_comm_words __weak = 0;	/* that are filled in comm_patterns */
const volatile uint32_t tr_own_tgid __weak = 0;	/* the recorder, whose own doings are left out */
const volatile uint32_t tr_task_ring_state __weak = 0; /* the task ring's in ring_states */

/*
 * 1 while the drain thread is awake: it looks at every ring before it sleeps again, so nobody has
 * to read levels or wake it. Written by userspace alone.
 */
volatile uint32_t tr_drain_awake __weak = 0;

/* The level that wakes a sleeping drain, read when !(seq & mask). Of userspace alone. */
volatile uint64_t tr_wake_bytes __weak = 0;
volatile uint32_t tr_wake_check_mask __weak = 0;

/*
 * Probes with ids below this are armed: hits of the others are as if there were no probe. All begin
 * and end with one write, so no end is live before its begin is. Written by userspace alone.
 */
volatile uint32_t tr_armed_probes __weak = 0;

/* While set the scheduler is not recorded, as if nothing were attached. Of userspace alone. */
volatile uint32_t tr_is_paused __weak = 0;

/* News that found no room: userspace then looks for itself. */
volatile uint64_t tr_news_lost __weak = 0;

/* The inner size is a placeholder; rings of any size may be put in. */
struct tr_ring_template {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__array(values, struct tr_ring_template);
} rings __weak SEC(".maps");

/* Births, names and ends of tasks: a ring of their own, so that no flood of hits can blind us. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1);
} task_ring __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct tr_ring_state);
} ring_states __weak SEC(".maps");

/* Indexed by probe id; the elements below TR_PROBE_FIRST_USER stay empty. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct tr_probe);
} probes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct tr_probe_counters);
} counters __weak SEC(".maps");

/* Conditions, sampling and rate limits of the probes that have any. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct tr_gate);
} gates __weak SEC(".maps");

/* By tr_gate.state: hits so far on each CPU, of which one in N passes. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} gate_samples __weak SEC(".maps");

/* By tr_gate.state: the time (CLOCK_BOOTTIME) of the next hit if all kept the limit's distance. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} gate_buckets __weak SEC(".maps");

/*
 * Begins let through by a gate, so that their ends are, and no others. Frames that never return
 * (longjmp, an exception) leave theirs behind: the least recently used makes room.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct tr_open_span);
	__type(value, uint8_t);
} open_spans __weak SEC(".maps");

/*
 * Wanted processes and threads as bitmaps over all pids (the kernel's limit is 2^22): a lookup
 * costs a nanosecond where a hash map costs thirty.
 */
#define TR_PID_WORDS (1 << 16)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TR_PID_WORDS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} wanted_tgids __weak SEC(".maps"), wanted_tids __weak SEC(".maps");

/* Processes that stay wanted whatever they are called: those named by id, and their children. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TR_PID_WORDS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} pinned_tgids __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TR_COMM_WORDS);
	__type(key, uint32_t);
	__type(value, struct tr_comm_word);
} comm_patterns __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TR_WANTED_CGROUPS_MAX);
	__type(key, uint64_t);
	__type(value, uint32_t);
} wanted_cgroups __weak SEC(".maps");

/* What userspace has to act on at once (tracer/abi/selection.h). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1);
} news_ring __weak SEC(".maps");

#endif /* TRACER_BPF_MAPS_H */
