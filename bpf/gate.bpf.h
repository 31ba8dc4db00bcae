/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_GATE_H
#define TRACER_BPF_GATE_H

/*
 * Which hits are recorded: see struct tr_gate. Asked before a record is reserved, and only for
 * probes that have a gate, so that others pay for one test of a flag. Everything of some size is a
 * global function: the verifier looks at it once, not once for each term of each handler.
 */
#include "emit.bpf.h"
#include "readops.bpf.h"

enum tr_truth { TR_FALSE = 0, TR_TRUE = 1, TR_UNKNOWN = 2 };

/* Text of the target as words, so that eight bytes are compared at once; zero behind its end. */
struct tr_text {
	uint64_t words[(TR_TERM_TEXT_BYTES + 1) / 8];
	uint32_t bytes; /* without the NUL, at most TR_TERM_TEXT_BYTES */
	uint32_t is_cut; /* it goes on in the target */
};

/* Bit i of the result: byte i of the text's first `words` words is c. */
static __always_inline uint64_t tr_positions_of(const struct tr_text *text, uint8_t c,
						uint32_t words)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7fULL;
	uint64_t all = c * 0x0101010101010101ULL;
	uint64_t positions = 0;
	uint32_t i;

#pragma unroll
	for (i = 0; i < words; i++) {
		uint64_t differs = text->words[i] ^ all;
		/* The top bit of each byte that is zero; then those eight bits side by side. */
		uint64_t equal = ~(((differs & low7) + low7) | differs | low7);

		positions |= (equal >> 7) * 0x0102040810204080ULL >> 56 << (i * 8);
	}
	return positions;
}

/* A pattern held against a text, character by character. */
struct tr_match {
	const struct tr_text *text;
	const struct tr_term *term;
	uint64_t prefixes; /* bit i: the pattern so far fits the text's first i bytes */
	uint64_t went_on;  /* the pattern fitted all that is known before its own end */
	uint64_t end;      /* the bit of the whole text */
	uint8_t c;         /* the pattern's last character so far */
};

/*
 * One character of the pattern makes the next set of prefixes of the last, without going back and
 * without a loop over the text. Returns 1 when nothing fits any more. Run by bpf_loop, because the
 * verifier walks a plain loop again for each character: three quarters of all it looked at.
 */
static long tr_match_character(uint32_t i, void *data)
{
	struct tr_match *match = data;
	const struct tr_text *text = match->text;
	const struct tr_term *term = match->term;
	bool is_glob = term->compare == TR_COMPARE_GLOB;
	uint64_t prefixes = match->prefixes;
	uint64_t inside = prefixes & (match->end - 1);
	uint8_t c;

	if (i >= TR_PATTERN_BYTES)
		return 1;
	match->went_on |= prefixes & match->end;
	c = term->pattern[i];
	if (is_glob && c == '*')
		prefixes = -(prefixes & -prefixes);
	else if (is_glob && c == '?')
		prefixes = inside << 1;
	else if (text->bytes <= 16)
		prefixes = (inside & tr_positions_of(text, c, 2)) << 1;
	else
		prefixes = (inside & tr_positions_of(text, c, 8)) << 1;
	match->c = c;
	match->prefixes = prefixes;
	return !prefixes;
}

/* Whether a text fits a term's pattern; where the text goes on unseen, that may be unknown. */
__noinline long tr_match_text(const struct tr_text *text, const struct tr_term *term)
{
	struct tr_match match = { .text = text, .term = term, .prefixes = 1 };

	if (!text || !term)
		return TR_UNKNOWN;
	match.end = 1ULL << (text->bytes & 63);
	bpf_loop(term->pattern_bytes, tr_match_character, &match, 0);
	if (!text->is_cut || (term->compare == TR_COMPARE_GLOB && match.c == '*'))
		return match.prefixes & match.end ? TR_TRUE : TR_FALSE;
	return match.went_on ? TR_UNKNOWN : TR_FALSE;
}

/* What a gate is asked about. */
struct tr_question {
	struct pt_regs *regs;
	uint64_t record;    /* a tracepoint's own record, where is_tracepoint */
	bool is_tracepoint; /* and not regs: a constant, so that the other way is not compiled */
	bool may_sleep;
};

#define TR_FAULTS_MAX 3 /* pages that one argument's ops may have to be brought in */

static __always_inline long tr_read_operand(const struct tr_question *question,
					    struct tr_arg *arg, struct tr_value *read)
{
	char byte;
	int i;

	if (arg->form == TR_ARG_UNREADABLE)
		return -1;
	if (question->is_tracepoint)
		return tr_eval_record(question->record, arg, read);
	if (!question->may_sleep)
		return tr_eval(question->regs, arg, read);
	for (i = 0; i < TR_FAULTS_MAX; i++) {
		if (!tr_eval(question->regs, arg, read))
			return 0;
		if (bpf_copy_from_user(&byte, 1, (void *)read->address))
			return -1;
	}
	return tr_eval(question->regs, arg, read);
}

static __always_inline long tr_copy_text(struct tr_text *text, uint64_t address, uint32_t room,
					 bool kernel)
{
	if (kernel)
		return bpf_probe_read_kernel_str(text->words, room, (void *)address);
	return bpf_probe_read_user_str(text->words, room, (void *)address);
}

/* The string at an address. Returns non-zero if it cannot be read. */
static __always_inline long tr_read_text(const struct tr_question *question, struct tr_arg *arg,
					 uint64_t address, struct tr_text *text)
{
	bool is_array = arg->form == TR_ARG_USER_ARRAY || arg->form == TR_ARG_KERNEL_ARRAY;
	bool kernel = arg->form == TR_ARG_KERNEL_STRING || arg->form == TR_ARG_KERNEL_ARRAY;
	/* The helper ends with a NUL of its own, for which an array has no place. */
	uint32_t room = arg->string_bytes_max + is_array;
	char next = 1;
	long copied;

	if (!arg->string_bytes_max || room > sizeof(text->words))
		room = sizeof(text->words);
	/* "R2 unbounded memory access": clang proves the bound above and drops it. */
	barrier_var(room);
	room &= 127;
	if (room > sizeof(text->words))
		return -1;
	copied = tr_copy_text(text, address, room, kernel);
	if (copied <= 0 && question->may_sleep && !kernel) {
		/* It may lie across two pages. */
		if (bpf_copy_from_user(&next, 1, (void *)address))
			return -1;
		bpf_copy_from_user(&next, 1, (void *)(address | 4095) + 1);
		copied = tr_copy_text(text, address, room, kernel);
	}
	if (copied <= 0)
		return -1;
	text->bytes = (copied - 1) & 63;
	text->is_cut = 0;
	/* A full buffer ends in a NUL of the helper's: was the next byte the string's own end? */
	if (copied != sizeof(text->words))
		return 0;
	next = 1;
	if (kernel)
		bpf_probe_read_kernel(&next, 1, (void *)(address + sizeof(text->words) - 1));
	else
		bpf_probe_read_user(&next, 1, (void *)(address + sizeof(text->words) - 1));
	text->is_cut = next != 0;
	return 0;
}

static __always_inline long tr_copy_counted(struct tr_text *text, uint64_t address, uint32_t bytes,
					    bool kernel)
{
	if (kernel)
		return bpf_probe_read_kernel(text->words, bytes, (void *)address);
	return bpf_probe_read_user(text->words, bytes, (void *)address);
}

/* The same of a text whose length is known: nothing behind it is touched. */
static __always_inline long tr_read_counted(const struct tr_question *question,
					    struct tr_arg *arg, struct tr_value *read,
					    struct tr_text *text)
{
	bool kernel = arg->form == TR_ARG_KERNEL_BYTES;
	uint64_t length = tr_extend(read->length, arg->length_bytes, false);
	uint32_t bytes = length > TR_TERM_TEXT_BYTES ? TR_TERM_TEXT_BYTES : length;
	char byte;
	long error;

	/* "R2 unbounded memory access", as above. */
	barrier_var(bytes);
	bytes &= TR_TERM_TEXT_BYTES;
	text->bytes = bytes;
	text->is_cut = length > TR_TERM_TEXT_BYTES;
	if (!bytes)
		return 0;
	error = tr_copy_counted(text, read->value, bytes, kernel);
	if (error && question->may_sleep && !kernel) {
		if (bpf_copy_from_user(&byte, 1, (void *)read->value))
			return -1;
		bpf_copy_from_user(&byte, 1, (void *)(read->value | 4095) + 1);
		error = tr_copy_counted(text, read->value, bytes, kernel);
	}
	return error;
}

static __always_inline long tr_read_any_text(const struct tr_question *question,
					     struct tr_arg *arg, struct tr_value *read,
					     struct tr_text *text)
{
	if (arg->form == TR_ARG_USER_BYTES || arg->form == TR_ARG_KERNEL_BYTES)
		return tr_read_counted(question, arg, read, text);
	return tr_read_text(question, arg, read->value, text);
}

static __always_inline long tr_compare(uint64_t value, const struct tr_term *term)
{
	switch (term->compare) {
	case TR_COMPARE_EQUAL: return value == term->constant;
	case TR_COMPARE_LESS: return (int64_t)value < (int64_t)term->constant;
	case TR_COMPARE_GREATER: return (int64_t)value > (int64_t)term->constant;
	case TR_COMPARE_LESS_UNSIGNED: return value < term->constant;
	case TR_COMPARE_GREATER_UNSIGNED: return value > term->constant;
	case TR_COMPARE_ANY_BIT: return (value & term->constant) != 0;
	default: return TR_UNKNOWN;
	}
}

#define TR_CGROUP_LEVELS_MAX 16

/* Whether the task is in the cgroup with this id or in one below it. */
__noinline long tr_in_cgroup(uint64_t id)
{
	int level;

	for (level = 0; level < TR_CGROUP_LEVELS_MAX; level++) {
		uint64_t ancestor = bpf_get_current_ancestor_cgroup_id(level);

		if (ancestor == id)
			return TR_TRUE;
		/* The task's own was the one before. */
		if (!ancestor)
			break;
	}
	return TR_FALSE;
}

static __always_inline long tr_judge_term(const struct tr_question *question,
					  struct tr_term *term)
{
	struct tr_value read = {};

	switch (term->source) {
	case TR_TERM_INTEGER:
		if (tr_read_operand(question, &term->arg, &read))
			return TR_UNKNOWN;
		return tr_compare(tr_extend(read.value, term->arg.bytes,
					    term->arg.form == TR_ARG_SIGNED), term);
	case TR_TERM_TEXT: {
		struct tr_text text = {};

		if (tr_read_operand(question, &term->arg, &read) ||
		    tr_read_any_text(question, &term->arg, &read, &text))
			return TR_UNKNOWN;
		return tr_match_text(&text, term);
	}
	case TR_TERM_COMM: {
		struct tr_text text = {};
		uint32_t i;

		if (bpf_get_current_comm(text.words, TR_COMM_BYTES))
			return TR_UNKNOWN;
		for (i = 0; i < TR_COMM_BYTES - 1; i++) {
			if (!((char *)text.words)[i])
				break;
		}
		text.bytes = i;
		return tr_match_text(&text, term);
	}
	case TR_TERM_PID: return tr_compare(bpf_get_current_pid_tgid() >> 32, term);
	case TR_TERM_TID: return tr_compare((uint32_t)bpf_get_current_pid_tgid(), term);
	case TR_TERM_CGROUP: return tr_in_cgroup(term->constant);
	default: return TR_UNKNOWN;
	}
}

/* Jumps only go forward, so one pass over the terms is the whole run. */
static __always_inline long tr_judge_terms(const struct tr_question *question,
					   struct tr_gate *gate)
{
	uint32_t next = 0;
	uint32_t i;

	for (i = 0; i < TR_TERMS_MAX; i++) {
		struct tr_term *term = &gate->terms[i];
		long truth;

		if (i != next)
			continue;
		truth = tr_judge_term(question, term);
		if (truth == TR_UNKNOWN)
			return TR_UNKNOWN;
		next = truth == TR_TRUE ? term->on_true : term->on_false;
	}
	return next == TR_TERM_ACCEPT ? TR_TRUE : TR_FALSE;
}

/* The conditions of the three kinds of handlers; `gate` lies in its map. */
__noinline long tr_judge(struct pt_regs *ctx, struct tr_gate *gate)
{
	struct tr_question question = { .regs = ctx };

	return gate ? tr_judge_terms(&question, gate) : TR_UNKNOWN;
}

__noinline long tr_judge_sleepable(struct pt_regs *ctx, struct tr_gate *gate)
{
	struct tr_question question = { .regs = ctx, .may_sleep = true };

	return gate ? tr_judge_terms(&question, gate) : TR_UNKNOWN;
}

__noinline long tr_judge_record(uint64_t record, struct tr_gate *gate)
{
	struct tr_question question = { .record = record, .is_tracepoint = true };

	return gate ? tr_judge_terms(&question, gate) : TR_UNKNOWN;
}

/* The first of every `sample_every` hits on this CPU. */
static __always_inline bool tr_sample(const struct tr_gate *gate)
{
	uint32_t state = gate->state;
	uint64_t *hits = bpf_map_lookup_elem(&gate_samples, &state);

	if (!hits)
		return false;
	/* Atomic although it is the CPU's own: another task may run here while this one is out. */
	return __sync_fetch_and_add(hits, 1) % gate->sample_every == 0;
}

#define TR_BUCKET_TRIES 8

/*
 * One bucket for all CPUs, as the time at which the next hit would be due if all kept the limit's
 * distance. A hit passes if that is at most burst_ns ahead. A single word, so that one
 * compare-and-swap takes a place; only hits that pass write it. Who loses the race TR_BUCKET_TRIES
 * times is over the limit, as those who won were many.
 */
static __always_inline bool tr_take_place(const struct tr_gate *gate)
{
	uint32_t state = gate->state;
	uint64_t *bucket = bpf_map_lookup_elem(&gate_buckets, &state);
	uint64_t now = bpf_ktime_get_boot_ns();
	int i;

	if (!bucket)
		return false;
	for (i = 0; i < TR_BUCKET_TRIES; i++) {
		uint64_t due = *(volatile uint64_t *)bucket;
		uint64_t from = due > now ? due : now;

		if (from - now > gate->burst_ns)
			return false;
		if (__sync_val_compare_and_swap(bucket, due, from + gate->interval_ns) == due)
			return true;
	}
	return false;
}

#endif /* TRACER_BPF_GATE_H */
