// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A tiny object that learns what this kernel allows: userspace loads its programs one by one, and
 * `tracer doctor` says which were taken. Nothing here is ever attached.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} feature_ring SEC(".maps");

SEC("?uprobe")
int tr_has_ring_and_cookie(struct pt_regs *ctx)
{
	uint64_t *record = bpf_ringbuf_reserve(&feature_ring, sizeof(*record), 0);

	if (!record)
		return 0;
	*record = bpf_get_attach_cookie(ctx) + bpf_ktime_get_boot_ns();
	bpf_ringbuf_submit(record, 0);
	return 0;
}

SEC("?uprobe.s")
int tr_has_sleepable(struct pt_regs *ctx)
{
	char byte;

	bpf_copy_from_user(&byte, 1, (void *)ctx->sp);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(tr_has_btf_tracepoints, bool preempt, struct task_struct *prev,
	     struct task_struct *next, unsigned int prev_state)
{
	return prev_state & 0;
}

SEC("?iter/task")
int tr_has_task_iterator(struct bpf_iter__task *ctx)
{
	return 0;
}

SEC("?tp")
int tr_has_tracepoints(void *ctx)
{
	return 0;
}

static char tr_features_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
