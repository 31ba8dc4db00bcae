// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The floor: programs that do nothing at the places where ours do their work.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

SEC("?uprobe")
int bench_empty_uprobe(struct pt_regs *ctx)
{
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(bench_empty_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}

/* Waking has a program too in `tracer -a`: the same two places, still doing nothing. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(bench_empty_waking, struct task_struct *woken)
{
	return 0;
}

/*
 * What no recorder of these two can do without: a clock read and a record in a ring, nothing
 * filled in. Nobody reads the ring here; a record that finds no room costs the same.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} bench_ring SEC(".maps");

static __always_inline int bench_record(void)
{
	uint64_t now = bpf_ktime_get_boot_ns();
	uint64_t *record = bpf_ringbuf_reserve(&bench_ring, 48, 0);

	if (!record)
		return 0;
	record[0] = now;
	/* Discarded, so that the ring never fills and needs no reader. */
	bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* What any recorder of a hit with two integers does, read by bare_recorder.cpp. */
SEC("?uprobe")
int bench_record_uprobe(struct pt_regs *ctx)
{
	uint64_t now = bpf_ktime_get_boot_ns();
	uint64_t *record = bpf_ringbuf_reserve(&bench_ring, 32, 0);

	if (!record)
		return 0;
	record[0] = now;
	record[1] = bpf_get_current_pid_tgid();
	record[2] = ctx->di;
	record[3] = ctx->si;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(bench_record_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return bench_record();
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(bench_record_waking, struct task_struct *woken)
{
	return bench_record();
}

static char bench_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
