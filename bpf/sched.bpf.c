// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Which thread runs where, why it stopped, and who woke it.
 *
 * BTF tracepoints: the cheapest way in (kernel-side arguments without copying). Recording costs a
 * clock read, a reservation and ten stores; everything else is left to the decoder.
 */
#include "emit.bpf.h"
#include "filter.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

SEC("?tp_btf/sched_switch")
int BPF_PROG(tr_on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	uint32_t id = TR_PROBE_sched_switch, cpu;
	struct tr_probe_counters *counts;
	struct tr_record_header *header;
	struct tr_sched_switch *record;
	struct tr_ring_state *state;
	void *ring;

	if (tr_is_paused)
		return 0;
	if (!tr_wanted(prev->tgid, prev->pid) && !tr_wanted(next->tgid, next->pid))
		return 0;
	cpu = bpf_get_smp_processor_id();
	ring = bpf_map_lookup_elem(&rings, &cpu);
	state = bpf_map_lookup_elem(&ring_states, &cpu);
	counts = bpf_map_lookup_elem(&counters, &id);
	if (!ring || !state || !counts)
		return 0;
	TR_COUNT(counts, hits);
	header = tr_reserve_in(ring, state, sizeof(*record), counts);
	if (!header)
		return 0;
	record = (void *)header;
	header->kind = TR_KIND_sched_switch;
	header->probe_id = id;
	header->tgid = prev->tgid;
	header->tid = prev->pid;
	header->cpu = cpu;
	header->flags = preempt ? TR_SWITCH_PREEMPTED : 0;
	record->next_tgid = next->tgid;
	record->next_tid = next->pid;
	record->prev_state = preempt ? 0 : prev_state;
	record->prev_prio = prev->prio;
	record->next_prio = next->prio;
	bpf_ringbuf_submit(header, tr_wake_flags(ring, header->seq));
	return 0;
}

/*
 * Whether a wake-up finds the task still queued: it then goes on as if it had never slept, and
 * nothing is to be told. A task whose dequeue is delayed (kernel 6.12) is queued but asleep.
 */
static __always_inline bool tr_is_still_queued(struct task_struct *task)
{
	if (!task->on_rq)
		return false;
	if (bpf_core_field_exists(task->se.sched_delayed))
		return !task->se.sched_delayed;
	return true;
}

static __always_inline int tr_record_wakeup(struct task_struct *woken)
{
	uint32_t id = TR_PROBE_sched_wakeup, cpu;
	struct tr_probe_counters *counts;
	struct tr_record_header *header;
	struct tr_sched_wakeup *record;
	struct tr_ring_state *state;
	uint64_t pid_tgid;
	void *ring;

	if (!tr_wanted(woken->tgid, woken->pid) || woken->tgid == tr_own_tgid)
		return 0;
	cpu = bpf_get_smp_processor_id();
	ring = bpf_map_lookup_elem(&rings, &cpu);
	state = bpf_map_lookup_elem(&ring_states, &cpu);
	counts = bpf_map_lookup_elem(&counters, &id);
	if (!ring || !state || !counts)
		return 0;
	pid_tgid = bpf_get_current_pid_tgid();
	TR_COUNT(counts, hits);
	header = tr_reserve_in(ring, state, sizeof(*record), counts);
	if (!header)
		return 0;
	record = (void *)header;
	header->kind = TR_KIND_sched_wakeup;
	header->probe_id = id;
	header->tgid = pid_tgid >> 32;
	header->tid = pid_tgid;
	header->cpu = cpu;
	header->flags = 0;
	record->woken_tgid = woken->tgid;
	record->woken_tid = woken->pid;
	record->woken_prio = woken->prio;
	record->woken_cpu = woken->wake_cpu;
	record->flags = 0;
	bpf_ringbuf_submit(header, tr_wake_flags(ring, header->seq));
	return 0;
}

/* sched_waking, not sched_wakeup: it runs in the waker, the other often on the woken task's CPU. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(tr_on_sched_waking, struct task_struct *woken)
{
	if (tr_is_paused || tr_is_still_queued(woken))
		return 0;
	return tr_record_wakeup(woken);
}

/* The first wake-up of a new task, which comes after it was queued. */
SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(tr_on_sched_wakeup_new, struct task_struct *woken)
{
	if (tr_is_paused)
		return 0;
	return tr_record_wakeup(woken);
}

static char tr_sched_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
