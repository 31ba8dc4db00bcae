// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Births, names, programs and ends of tasks, of the whole system: any of them may be named as a
 * waker. They go to a ring of their own. The iterator says what there was at the start.
 */
#include "emit.bpf.h"
#include "filter.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define TR_PF_KTHREAD 0x00200000 /* include/linux/sched.h: PF_KTHREAD */

/* Reserves in the task ring and fills what all kinds share. */
static __always_inline struct tr_task *tr_reserve_task(uint16_t kind, struct task_struct *task,
						       uint64_t bytes)
{
	uint32_t id = TR_PROBE_task, element = tr_task_ring_state;
	struct tr_ring_state *state = bpf_map_lookup_elem(&ring_states, &element);
	struct tr_probe_counters *counts = bpf_map_lookup_elem(&counters, &id);
	struct tr_record_header *header;
	struct tr_task *record;

	if (!state || !counts)
		return NULL;
	TR_COUNT(counts, hits);
	header = tr_reserve_in(&task_ring, state, bytes, counts);
	if (!header)
		return NULL;
	record = (void *)header;
	header->kind = kind;
	header->probe_id = id;
	header->tgid = task->tgid;
	header->tid = task->pid;
	header->cpu = bpf_get_smp_processor_id();
	header->flags = 0;
	record->parent_tgid = task->real_parent->tgid;
	record->parent_tid = 0;
	record->start_ns = task->start_boottime;
	record->exit_code = 0;
	record->task_flags = task->flags & TR_PF_KTHREAD ? TR_TASK_KTHREAD : 0;
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
	return record;
}

static __always_inline void tr_submit_task(struct tr_task *record)
{
	bpf_ringbuf_submit(record, tr_wake_flags(&task_ring, record->header.seq));
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(tr_on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct tr_task *record;

	if (tr_follow_children && child->tgid != parent->tgid &&
	    tr_bit_is_set(&wanted_tgids, parent->tgid))
		tr_bit_set(&wanted_tgids, child->tgid);
	record = tr_reserve_task(TR_KIND_task_new, child, sizeof(*record));
	if (!record)
		return 0;
	record->parent_tgid = parent->tgid;
	record->parent_tid = parent->pid;
	tr_submit_task(record);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(tr_on_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct tr_task_exec *record;

	record = (void *)tr_reserve_task(TR_KIND_task_exec, task, sizeof(*record));
	if (!record)
		return 0;
	if (bpf_probe_read_kernel_str(record->path, sizeof(record->path), bprm->filename) < 0)
		record->path[0] = 0;
	tr_submit_task(&record->task);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(tr_on_exit, struct task_struct *task)
{
	struct tr_task *record = tr_reserve_task(TR_KIND_task_exit, task, sizeof(*record));

	if (!record)
		return 0;
	record->exit_code = task->exit_code;
	if (task->signal->live.counter == 0)
		record->task_flags |= TR_TASK_GROUP_DEAD;
	tr_submit_task(record);
	return 0;
}

SEC("?tp_btf/task_rename")
int BPF_PROG(tr_on_rename, struct task_struct *task, const char *comm)
{
	struct tr_task *record = tr_reserve_task(TR_KIND_task_rename, task, sizeof(*record));

	if (!record)
		return 0;
	if (bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), comm) < 0)
		record->comm[0] = 0;
	tr_submit_task(record);
	return 0;
}

/*
 * A pid is given up for reuse here, after the task's last switch: forgetting it at exit would lose
 * that switch.
 */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(tr_on_free, struct task_struct *task)
{
	if (task->pid == task->tgid)
		tr_bit_clear(&wanted_tgids, task->tgid);
	tr_bit_clear(&wanted_tids, task->pid);
	return 0;
}

SEC("?iter/task")
int tr_on_each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct tr_task *record;

	if (!task)
		return 0;
	record = tr_reserve_task(TR_KIND_task_info, task, sizeof(*record));
	if (!record)
		return 0;
	if (task->__state == 0)
		record->task_flags |= TR_TASK_RUNNING;
	tr_submit_task(record);
	return 0;
}

static char tr_tasks_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
