// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Births, names, programs and ends of tasks, of the whole system: any of them may be named as a
 * waker. They go to a ring of their own. The iterator says what there was at the start.
 */
#include "emit.bpf.h"
#include "filter.bpf.h"
#include "select.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define TR_PID_LEVELS_MAX 32	 /* include/linux/pid_namespace.h: MAX_PID_NS_LEVEL */
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

/* The task's id in its innermost pid namespace; 0 if that is the initial one. */
static __always_inline uint32_t tr_innermost_id(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	const void *numbers;
	uint32_t level;
	int id = 0;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	if (level == 0 || level > TR_PID_LEVELS_MAX)
		return 0;
	numbers = (const void *)pid + bpf_core_field_offset(struct pid, numbers);
	if (bpf_probe_read_kernel(&id, sizeof(id),
				  numbers + level * bpf_core_type_size(struct upid) +
					  bpf_core_field_offset(struct upid, nr)))
		return 0;
	return id;
}

static __always_inline struct tr_task *tr_reserve_task_ids(uint16_t kind, struct task_struct *task)
{
	struct tr_task_ids *record = (void *)tr_reserve_task(kind, task, sizeof(*record));

	if (!record)
		return NULL;
	record->ns_tgid = tr_innermost_id(task->group_leader);
	record->ns_tid = tr_innermost_id(task);
	return &record->task;
}

/* Judges the task's process again, and puts what changed into the timeline. */
static __always_inline void tr_select(struct task_struct *leader, const char *comm)
{
	enum tr_selection selection = tr_judge(leader, comm);
	struct tr_task *record;

	if (selection == TR_SELECTION_SAME)
		return;
	record = tr_reserve_task(TR_KIND_task_select, leader, sizeof(*record));
	if (!record)
		return;
	if (selection == TR_SELECTION_BEGINS)
		record->task_flags |= TR_TASK_SELECTED;
	tr_submit_task(record);
}

static __always_inline void tr_select_as_it_is(struct task_struct *leader)
{
	char comm[TR_COMM_BYTES] = {};

	if (!tr_selects)
		return;
	if (bpf_probe_read_kernel_str(comm, sizeof(comm), leader->comm) < 0)
		comm[0] = 0;
	tr_select(leader, comm);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(tr_on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct tr_task *record;

	if (tr_follow_children && child->tgid != parent->tgid &&
	    tr_bit_is_set(&wanted_tgids, parent->tgid)) {
		tr_bit_set(&pinned_tgids, child->tgid);
		tr_bit_set(&wanted_tgids, child->tgid);
	}
	record = tr_reserve_task_ids(TR_KIND_task_new, child);
	if (record) {
		record->parent_tgid = parent->tgid;
		record->parent_tid = parent->pid;
		tr_submit_task(record);
	}
	/* The child does not run yet: nothing that it does is missed. */
	if (child->tgid != parent->tgid)
		tr_select_as_it_is(child);
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

/* Exec renames too, before the new program's first mapping. */
SEC("?tp_btf/task_rename")
int BPF_PROG(tr_on_rename, struct task_struct *task, const char *comm)
{
	struct tr_task *record = tr_reserve_task(TR_KIND_task_rename, task, sizeof(*record));
	char name[TR_COMM_BYTES] = {};

	if (bpf_probe_read_kernel_str(name, sizeof(name), comm) < 0)
		name[0] = 0;
	if (record) {
		__builtin_memcpy(record->comm, name, sizeof(name));
		tr_submit_task(record);
	}
	if (tr_selects && task->pid == task->tgid)
		tr_select(task, name);
	return 0;
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(tr_on_cgroup_attach, struct cgroup *cgroup, const char *path,
	     struct task_struct *task, bool threadgroup)
{
	tr_select_as_it_is(task->group_leader);
	return 0;
}

/* Whether it is wanted is decided by its path, which userspace knows to read. */
SEC("?tp_btf/cgroup_mkdir")
int BPF_PROG(tr_on_cgroup_made, struct cgroup *cgroup, const char *path)
{
	struct tr_news *news = tr_reserve_news(TR_NEWS_CGROUP_MADE, 0);

	if (!news)
		return 0;
	news->cgroup_id = BPF_CORE_READ(cgroup, kn, id);
	if (bpf_probe_read_kernel_str(news->path, sizeof(news->path), path) < 0)
		news->path[0] = 0;
	bpf_ringbuf_submit(news, 0);
	return 0;
}

/*
 * A pid is given up for reuse here, after the task's last switch: forgetting it at exit would lose
 * that switch.
 */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(tr_on_free, struct task_struct *task)
{
	if (task->pid == task->tgid) {
		tr_bit_clear(&wanted_tgids, task->tgid);
		tr_bit_clear(&pinned_tgids, task->tgid);
	}
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
	record = tr_reserve_task_ids(TR_KIND_task_info, task);
	if (record) {
		if (task->__state == 0)
			record->task_flags |= TR_TASK_RUNNING;
		tr_submit_task(record);
	}
	if (task->pid == task->tgid)
		tr_select_as_it_is(task);
	return 0;
}

/* After the rules have changed. */
SEC("?iter/task")
int tr_on_each_leader(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid == task->tgid)
		tr_select_as_it_is(task);
	return 0;
}

static char tr_tasks_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
