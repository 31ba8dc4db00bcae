// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The generic handlers: uprobe, USDT, uretprobe and tracepoint. The attach cookie is the probe id;
 * what to record is data in the map `probes`. Handler = gate, reserve, fill, submit.
 *
 * Two of each: the plain ones cannot fault in a page of the target, so an argument in memory that
 * is not resident would be lost; the sleepable ones (".s") can, and serve every probe that reads
 * memory other than its own stack. They never sleep while they hold a record: when the first try
 * finds a page missing, its record is submitted as TR_KIND_none, the pages are touched, and the
 * second try fills a new one.
 */
#include "emit.bpf.h"
#include "filter.bpf.h"
#include "readops.bpf.h"

/* What one run of a handler is about. */
struct tr_run {
	struct pt_regs *regs; /* NULL: a tracepoint */
	uint64_t record;      /* a tracepoint's own record */
	struct tr_probe *probe;
	struct tr_probe_counters *counters;
	uint64_t pid_tgid;
	uint32_t id;
};

/* Copies a NUL-ended string into the record; returns its slot's value, 0 if unreadable. */
static __always_inline uint64_t tr_copy_string(void *record, struct tr_arg *arg,
					       uint64_t address, uint32_t strings,
					       uint32_t string_bytes)
{
	uint64_t offset = arg->string_offset;
	uint64_t room = arg->string_bytes_max;
	uint64_t flags = 0;
	long copied;

	/*
	 * The loader compiled both within these bounds, but the verifier must see it: without the
	 * barriers clang merges the tests into one subtraction, and it answers "R1 min value is
	 * outside of the allowed memory range".
	 */
	barrier_var(offset);
	if (offset > TR_STRINGS_OFFSET + (strings - 1) * string_bytes)
		return 0;
	barrier_var(room);
	if (room > string_bytes)
		return 0;
	if (arg->form == TR_ARG_KERNEL_STRING)
		copied = bpf_probe_read_kernel_str(record + offset, room, (void *)address);
	else
		copied = bpf_probe_read_user_str(record + offset, room, (void *)address);
	if (copied <= 0)
		return 0;
	/* A full buffer ends in a NUL of the helper's: was the next byte the string's own end? */
	if (copied == room) {
		char next = 1;

		if (arg->form == TR_ARG_KERNEL_STRING)
			bpf_probe_read_kernel(&next, 1, (void *)(address + room - 1));
		else
			bpf_probe_read_user(&next, 1, (void *)(address + room - 1));
		if (next)
			flags = (uint64_t)TR_STRING_CUT << 32;
	}
	return flags | (uint64_t)(copied - 1) << 16 | offset;
}

static __always_inline long tr_read_argument(const struct tr_run *run, struct tr_arg *arg,
					     struct tr_value *read)
{
	if (run->regs)
		return tr_eval(run->regs, arg, read);
	return tr_eval_record(run->record, arg, read);
}

/*
 * Fills a hit's slots; returns the mask of arguments that could not be read. The mask grows in the
 * record itself: in a register its known bits would make each path through the arguments another
 * state for the verifier ("BPF program is too large").
 */
static __always_inline uint32_t tr_fill(struct tr_record_header *header, const struct tr_run *run,
					uint32_t slots, uint32_t strings, uint32_t string_bytes)
{
	uint64_t *args = (void *)header + sizeof(*header);
	struct tr_probe *probe = run->probe;
	uint32_t i;

	header->flags = 0;
	for (i = 0; i < slots; i++) {
		struct tr_arg *arg = &probe->args[i];
		struct tr_value read = {};
		uint64_t value = 0;

		if (i >= probe->arg_count)
			break;
		if (arg->form == TR_ARG_UNREADABLE || tr_read_argument(run, arg, &read)) {
			header->flags |= 1U << i;
		} else if (arg->form <= TR_ARG_SIGNED) {
			value = tr_extend(read.value, arg->bytes, arg->form == TR_ARG_SIGNED);
		} else if (strings) {
			value = tr_copy_string(header, arg, read.value, strings, string_bytes);
			if (!value)
				header->flags |= 1U << i;
		}
		args[i] = value;
	}
	return header->flags;
}

/*
 * One try at one shape. Returns the mask of missing arguments; with `may_retry` a record with
 * missing ones is given up (TR_KIND_none).
 */
static __always_inline uint32_t tr_emit_hit(const struct tr_run *run, bool may_retry,
					    uint32_t bytes, uint32_t strings,
					    uint32_t string_bytes)
{
	uint32_t slots = bytes >= TR_STRINGS_OFFSET ? TR_ARGS_MAX : (bytes - 32) / 8;
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct tr_ring_state *state = bpf_map_lookup_elem(&ring_states, &cpu);
	struct tr_record_header *header;
	uint32_t missing, seq;

	if (!ring || !state)
		return 0;
	header = tr_reserve_in(ring, state, bytes, run->counters);
	if (!header)
		return 0;
	header->probe_id = run->id;
	header->tgid = run->pid_tgid >> 32;
	header->tid = run->pid_tgid;
	header->cpu = cpu;
	missing = tr_fill(header, run, slots, strings, string_bytes);
	header->kind = may_retry && missing ? TR_KIND_none : TR_KIND_hit;
	seq = header->seq;
	bpf_ringbuf_submit(header, tr_wake_flags(ring, seq));
	return missing;
}

/* The shapes without strings. */
static __always_inline uint32_t tr_emit_integers(const struct tr_run *run, bool may_retry)
{
	switch (run->probe->shape) {
#define TR_EMIT_SHAPE(number, name, bytes, strings, string_bytes) \
	case number:                                              \
		if (strings == 0)                                 \
			return tr_emit_hit(run, may_retry, bytes, strings, string_bytes); \
		return 0;
		TR_RECORD_SHAPES(TR_EMIT_SHAPE)
#undef TR_EMIT_SHAPE
	}
	return 0;
}

static __always_inline uint32_t tr_emit_any(const struct tr_run *run, bool may_retry)
{
	switch (run->probe->shape) {
#define TR_EMIT_SHAPE(number, name, bytes, strings, string_bytes) \
	case number:                                              \
		return tr_emit_hit(run, may_retry, bytes, strings, string_bytes);
		TR_RECORD_SHAPES(TR_EMIT_SHAPE)
#undef TR_EMIT_SHAPE
	}
	return 0;
}

/* Looks the probe up and decides whether the current task is wanted. */
static __always_inline bool tr_gate(struct tr_run *run, uint64_t cookie)
{
	uint32_t tgid;

	run->id = cookie;
	run->counters = bpf_map_lookup_elem(&counters, &run->id);
	run->probe = bpf_map_lookup_elem(&probes, &run->id);
	if (!run->counters || !run->probe) {
		uint32_t zero = 0;

		run->counters = bpf_map_lookup_elem(&counters, &zero);
		if (run->counters)
			TR_COUNT(run->counters, bad_probe);
		return false;
	}
	run->pid_tgid = bpf_get_current_pid_tgid();
	tgid = run->pid_tgid >> 32;
	if (!tr_wanted(tgid, run->pid_tgid) || tgid == tr_own_tgid) {
		TR_COUNT(run->counters, filtered);
		return false;
	}
	TR_COUNT(run->counters, hits);
	return true;
}

static __always_inline int tr_hit_integers(struct pt_regs *regs)
{
	struct tr_run run = { .regs = regs };

	if (tr_gate(&run, bpf_get_attach_cookie(regs)))
		tr_emit_integers(&run, false);
	return 0;
}

/* Makes the pages resident that the probe's missing arguments lie on. */
static __always_inline void tr_touch(const struct tr_run *run, uint32_t missing)
{
	uint32_t i;

	for (i = 0; i < TR_ARGS_MAX; i++) {
		struct tr_arg *arg = &run->probe->args[i];
		struct tr_value read = {};
		char byte;

		if (!(missing >> i & 1))
			continue;
		if (tr_eval(run->regs, arg, &read)) {
			bpf_copy_from_user(&byte, 1, (void *)read.address);
			/* The page may hold a pointer to another that is missing too. */
			if (tr_eval(run->regs, arg, &read))
				continue;
		}
		if (arg->form != TR_ARG_USER_STRING)
			continue;
		bpf_copy_from_user(&byte, 1, (void *)read.value);
		bpf_copy_from_user(&byte, 1, (void *)(read.value | 4095) + 1);
	}
}

static __always_inline int tr_hit_sleepable(struct pt_regs *regs)
{
	struct tr_run run = { .regs = regs };
	uint32_t missing;

	if (!tr_gate(&run, bpf_get_attach_cookie(regs)))
		return 0;
	missing = tr_emit_any(&run, true);
	if (missing) {
		tr_touch(&run, missing);
		TR_COUNT(run.counters, retried);
		tr_emit_any(&run, false);
	}
	return 0;
}

/*
 * A tracepoint's record lies at its context's address, which the verifier does not give away as a
 * number: it is read back from the stack.
 */
static __always_inline int tr_hit_tracepoint(void *ctx)
{
	struct tr_run run = {};
	void *spilled = ctx;

	if (!tr_gate(&run, bpf_get_attach_cookie(ctx)))
		return 0;
	if (bpf_probe_read_kernel(&run.record, sizeof(run.record), &spilled))
		return 0;
	tr_emit_any(&run, false);
	return 0;
}

SEC("?tp")
int tr_on_tracepoint(void *ctx)
{
	return tr_hit_tracepoint(ctx);
}

SEC("?uprobe")
int tr_on_hit(struct pt_regs *ctx)
{
	return tr_hit_integers(ctx);
}

SEC("?uprobe.s")
int tr_on_hit_sleepable(struct pt_regs *ctx)
{
	return tr_hit_sleepable(ctx);
}

static char tr_probes_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
