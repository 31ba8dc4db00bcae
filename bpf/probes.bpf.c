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
#include "gate.bpf.h"
#include "strings.bpf.h"

/* What one run of a handler is about. */
struct tr_run {
	struct pt_regs *regs;
	uint64_t record; /* a tracepoint's own record, where is_tracepoint */
	struct tr_probe *probe;
	struct tr_probe_counters *counters;
	uint64_t pid_tgid;
	uint32_t id;
	bool is_tracepoint; /* and not regs: a constant, so that the other way is not compiled */
	bool in_session;    /* the return runs only where the entry let it */
};

static __always_inline long tr_read_argument(const struct tr_run *run, struct tr_arg *arg,
					     struct tr_value *read)
{
	if (run->is_tracepoint)
		return tr_eval_record(run->record, arg, read);
	return tr_eval(run->regs, arg, read);
}

/*
 * In a header's flags while its slots are filled: a missing argument may lie on a page that can be
 * faulted in.
 */
#define TR_FLAG_RETRY 0x8000U
#define TR_MISSING_MASK ((1U << TR_ARGS_MAX) - 1)

/* The page at 0 is nobody's: what a walk through a NULL pointer meets never becomes readable. */
static __always_inline uint32_t tr_missing_flags(uint32_t i, uint64_t address)
{
	return 1U << i | (address >= 4096 ? TR_FLAG_RETRY : 0);
}

/*
 * Fills a hit's slots; returns the mask of arguments that could not be read, and TR_FLAG_RETRY. The
 * mask grows in the record itself: in a register its known bits would make each path through the
 * arguments another state for the verifier ("BPF program is too large").
 */
static __always_inline uint32_t tr_fill(struct tr_record_header *header, const struct tr_run *run,
					uint32_t slots, uint32_t bytes, uint32_t room)
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
		if (arg->form == TR_ARG_UNREADABLE) {
			header->flags |= 1U << i;
		} else if (tr_read_argument(run, arg, &read)) {
			header->flags |= tr_missing_flags(i, read.address);
		} else if (arg->form <= TR_ARG_SIGNED) {
			value = tr_extend(read.value, arg->bytes, arg->form == TR_ARG_SIGNED);
		} else if (room) {
			value = tr_copy_string(header, arg, &read, bytes, room);
			if (value == TR_NO_STRING) {
				header->flags |= tr_missing_flags(i, read.value);
				value = 0;
			}
		}
		args[i] = value;
	}
	return header->flags;
}

/*
 * One try at one shape. Returns the mask of missing arguments that another try may find; with
 * `may_retry` a record that lacks such is given up (TR_KIND_none).
 */
static __always_inline uint32_t tr_emit_hit(const struct tr_run *run, bool may_retry,
					    uint32_t bytes, uint32_t room)
{
	uint32_t slots = bytes >= TR_STRINGS_OFFSET ? TR_ARGS_MAX : (bytes - 32) / 8;
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct tr_ring_state *state = bpf_map_lookup_elem(&ring_states, &cpu);
	struct tr_record_header *header;
	uint32_t flags, seq;
	bool retry;

	if (!ring || !state)
		return 0;
	header = tr_reserve_in(ring, state, bytes, run->counters);
	if (!header)
		return 0;
	header->probe_id = run->id;
	header->tgid = run->pid_tgid >> 32;
	header->tid = run->pid_tgid;
	header->cpu = cpu;
	flags = tr_fill(header, run, slots, bytes, room);
	retry = may_retry && flags & TR_FLAG_RETRY;
	header->flags = flags & TR_MISSING_MASK;
	header->kind = retry ? TR_KIND_none : TR_KIND_hit;
	seq = header->seq;
	bpf_ringbuf_submit(header, tr_wake_flags(ring, seq));
	return retry ? flags & TR_MISSING_MASK : 0;
}

/* The shapes without strings. */
static __always_inline uint32_t tr_emit_integers(const struct tr_run *run, bool may_retry)
{
	switch (run->probe->shape) {
#define TR_EMIT_SHAPE(number, name, bytes, room)                         \
	case number:                                                     \
		if (room == 0)                                           \
			return tr_emit_hit(run, may_retry, bytes, room); \
		return 0;
		TR_RECORD_SHAPES(TR_EMIT_SHAPE)
#undef TR_EMIT_SHAPE
	}
	return 0;
}

static __always_inline uint32_t tr_emit_any(const struct tr_run *run, bool may_retry)
{
	switch (run->probe->shape) {
#define TR_EMIT_SHAPE(number, name, bytes, room) \
	case number:                             \
		return tr_emit_hit(run, may_retry, bytes, room);
		TR_RECORD_SHAPES(TR_EMIT_SHAPE)
#undef TR_EMIT_SHAPE
	}
	return 0;
}

/*
 * The same of a sleepable handler, which may try twice. Global, so that the verifier looks at it
 * once; what it knows of the run is made again, because memory that is given to such a function
 * holds no pointers.
 */
__noinline int tr_emit_sleepable(struct pt_regs *ctx, struct tr_probe *probe,
				 struct tr_probe_counters *counters, uint32_t id, bool may_retry)
{
	struct tr_run run = {
		.regs = ctx,
		.probe = probe,
		.counters = counters,
		.pid_tgid = bpf_get_current_pid_tgid(),
		.id = id,
	};

	return probe && counters ? tr_emit_any(&run, may_retry) : 0;
}

/* Looks the probe up and decides whether the current task is wanted. */
static __always_inline bool tr_gate(struct tr_run *run, uint64_t cookie)
{
	uint32_t id = cookie; /* not run->id: what a helper was given is no constant any more */
	uint32_t tgid;

	run->id = id;
	run->counters = bpf_map_lookup_elem(&counters, &id);
	run->probe = bpf_map_lookup_elem(&probes, &id);
	if (!run->counters || !run->probe) {
		uint32_t zero = 0;

		run->counters = bpf_map_lookup_elem(&counters, &zero);
		if (run->counters)
			TR_COUNT(run->counters, bad_probe);
		return false;
	}
	if (id >= tr_armed_probes)
		return false;
	run->pid_tgid = bpf_get_current_pid_tgid();
	tgid = run->pid_tgid >> 32;
	if (!tr_wanted(tgid, run->pid_tgid) || tgid == tr_own_tgid) {
		TR_COUNT(run->counters, filtered);
		return false;
	}
	TR_COUNT(run->counters, hits);
	return true;
}

/* The stack pointer of a frame, at its entry and after its return, as one value. */
static __always_inline struct tr_open_span tr_span_of(const struct tr_run *run,
						      const struct tr_gate *gate, uint32_t popped)
{
	struct tr_open_span span = {
		.stack_pointer = run->regs->sp - popped,
		.tid = run->pid_tgid,
		.state = gate->state,
	};

	return span;
}

/* Whether a probe's gate lets this hit be recorded; what it keeps out is counted by cause. */
static __always_inline bool tr_admit(const struct tr_run *run, bool may_sleep)
{
	uint32_t index = run->probe->flags >> TR_PROBE_GATE_SHIFT;
	struct tr_gate *gate = bpf_map_lookup_elem(&gates, &index);
	long truth = TR_TRUE;

	if (!gate) {
		TR_COUNT(run->counters, unknown);
		return false;
	}
	if (!run->is_tracepoint && gate->flags & TR_GATE_SPAN_END) {
		uint32_t popped = gate->flags & TR_GATE_AT_RET ? 0 : 8;
		struct tr_open_span span = tr_span_of(run, gate, popped);

		if (run->in_session)
			return true;
		if (!bpf_map_delete_elem(&open_spans, &span))
			return true;
		TR_COUNT(run->counters, unopened);
		return false;
	}
	if (gate->term_count) {
		if (run->is_tracepoint)
			truth = tr_judge_record(run->record, gate);
		else if (may_sleep)
			truth = tr_judge_sleepable(run->regs, gate);
		else
			truth = tr_judge(run->regs, gate);
	}
	if (truth != TR_TRUE) {
		if (truth == TR_FALSE)
			TR_COUNT(run->counters, condition);
		else
			TR_COUNT(run->counters, unknown);
		return false;
	}
	if (gate->sample_every && !tr_sample(gate)) {
		TR_COUNT(run->counters, sampled_out);
		return false;
	}
	if (gate->interval_ns && !tr_take_place(gate)) {
		TR_COUNT(run->counters, throttled);
		return false;
	}
	if (!run->is_tracepoint && !run->in_session && gate->flags & TR_GATE_SPAN_BEGIN) {
		struct tr_open_span span = tr_span_of(run, gate, 0);
		uint8_t open = 1;

		bpf_map_update_elem(&open_spans, &span, &open, BPF_ANY);
	}
	return true;
}

/* Two instructions for a probe without a gate. */
static __always_inline bool tr_passes(const struct tr_run *run, bool may_sleep)
{
	return !run->probe->flags || tr_admit(run, may_sleep);
}

/* Decides about a hit of the probe `id`; false: it was kept out. */
static __always_inline bool tr_hit_integers(struct tr_run *run, uint64_t id)
{
	if (!tr_gate(run, id) || !tr_passes(run, false))
		return false;
	tr_emit_integers(run, false);
	return true;
}

/* Faults in the pages on which something of at most a page that begins at `address` may lie. */
static __always_inline long tr_touch_pages(uint64_t address)
{
	char byte;
	long error = bpf_copy_from_user(&byte, 1, (void *)address);

	bpf_copy_from_user(&byte, 1, (void *)(address | 4095) + 1);
	return error;
}

/*
 * Makes the pages resident that a missing argument lies on. Global, so that the verifier looks at
 * it once and not for each argument.
 */
__noinline int tr_touch_argument(struct pt_regs *ctx, struct tr_arg *arg)
{
	struct tr_value read = {};
	long error = -1;
	uint32_t step;

	if (!arg || arg->form == TR_ARG_UNREADABLE)
		return 0;
	/* Each page may hold a pointer to another that is missing too. */
	for (step = 0; step < TR_OPS_MAX; step++) {
		error = tr_eval(ctx, arg, &read);
		if (!error || tr_touch_pages(read.address))
			break;
	}
	if (!error && arg->form > TR_ARG_SIGNED)
		tr_touch_pages(read.value);
	return 0;
}

static __always_inline void tr_touch(const struct tr_run *run, uint32_t missing)
{
	uint32_t i;

	for (i = 0; i < TR_ARGS_MAX; i++) {
		if (missing >> i & 1)
			tr_touch_argument(run->regs, &run->probe->args[i]);
	}
}

static __always_inline bool tr_hit_sleepable(struct tr_run *run, uint64_t id)
{
	uint32_t missing;

	if (!tr_gate(run, id) || !tr_passes(run, true))
		return false;
	missing = tr_emit_sleepable(run->regs, run->probe, run->counters, run->id, true);
	if (missing) {
		tr_touch(run, missing);
		TR_COUNT(run->counters, retried);
		tr_emit_sleepable(run->regs, run->probe, run->counters, run->id, false);
	}
	return true;
}

/*
 * Sessions (BPF_TRACE_UPROBE_SESSION, kernel 6.13): one program at a function's entry and at its
 * return. The cookie holds two probe ids, the return's in its upper half. The kernel sets the
 * instruction pointer to the function for the entry, and to the caller for the return. There is a
 * kfunc that tells them apart, but its arguments differ between kernels.
 */
static __always_inline uint64_t tr_session_probe(struct pt_regs *regs)
{
	uint64_t cookie = bpf_get_attach_cookie(regs);

	return regs->ip == bpf_get_func_ip(regs) ? (uint32_t)cookie : cookie >> 32;
}

/* Of an entry: what it keeps out has no return either, and the kernel takes no trap for it. */
#define TR_SESSION_RETURNS 0
#define TR_SESSION_ENDS 1

/*
 * A tracepoint's record lies at its context's address, which the verifier does not give away as a
 * number: it is read back from the stack.
 */
static __always_inline int tr_hit_tracepoint(void *ctx)
{
	struct tr_run run = { .is_tracepoint = true };
	void *spilled = ctx;
	uint64_t record;

	if (!tr_gate(&run, bpf_get_attach_cookie(ctx)))
		return 0;
	if (bpf_probe_read_kernel(&record, sizeof(record), &spilled))
		return 0;
	run.record = record;
	if (tr_passes(&run, false))
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
	struct tr_run run = { .regs = ctx };

	tr_hit_integers(&run, bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("?uprobe.s")
int tr_on_hit_sleepable(struct pt_regs *ctx)
{
	struct tr_run run = { .regs = ctx };

	tr_hit_sleepable(&run, bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("?uprobe")
int tr_on_session(struct pt_regs *ctx)
{
	struct tr_run run = { .regs = ctx, .in_session = true };

	if (tr_hit_integers(&run, tr_session_probe(ctx)))
		return TR_SESSION_RETURNS;
	return TR_SESSION_ENDS;
}

SEC("?uprobe.s")
int tr_on_session_sleepable(struct pt_regs *ctx)
{
	struct tr_run run = { .regs = ctx, .in_session = true };

	if (tr_hit_sleepable(&run, tr_session_probe(ctx)))
		return TR_SESSION_RETURNS;
	return TR_SESSION_ENDS;
}

static char tr_probes_license[] SEC("license") __attribute__((used)) = "Dual BSD/GPL";
