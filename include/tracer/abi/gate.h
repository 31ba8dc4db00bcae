/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_GATE_H
#define TRACER_ABI_GATE_H

#include "probe.h"

/*
 * The contract from userspace to the kernel side: which hits of a probe are recorded. A gate is
 * looked up in the map `gates` only for probes whose flags have TR_PROBE_GATED, and asked before a
 * record is reserved: first its condition, then its sampling, then its rate limit.
 *
 * A condition is a straight program: terms with two forward jumps each. It begins at term 0 and
 * ends at TR_TERM_ACCEPT or TR_TERM_REJECT, or as unknown at a term whose operand cannot be read.
 */
#define TR_TERMS_MAX 8

/* Text that a term reads of the target, and the longest pattern, without their NUL. */
#define TR_TERM_TEXT_BYTES 63
#define TR_PATTERN_BYTES 64

#define TR_TERM_ACCEPT 254
#define TR_TERM_REJECT 255

/* What a term is about. */
enum tr_term_source {
	TR_TERM_INTEGER = 0, /* the value of `arg` */
	TR_TERM_TEXT = 1,    /* the string of `arg` */
	TR_TERM_COMM = 2,    /* the thread's name */
	TR_TERM_PID = 3,     /* the process (tgid), initial pid namespace */
	TR_TERM_TID = 4,
	TR_TERM_CGROUP = 5, /* `constant` is the id of its cgroup (v2) or of one above */
};

/* How it is compared. Other operators are these with the two jumps swapped. */
enum tr_term_compare {
	TR_COMPARE_EQUAL = 0,
	TR_COMPARE_LESS = 1,           /* signed */
	TR_COMPARE_GREATER = 2,        /* signed */
	TR_COMPARE_LESS_UNSIGNED = 3,
	TR_COMPARE_GREATER_UNSIGNED = 4,
	TR_COMPARE_ANY_BIT = 5,        /* value & constant is not 0 */
	TR_COMPARE_TEXT = 6,           /* texts: the pattern is the whole text */
	TR_COMPARE_GLOB = 7,           /* texts: '*' any run of characters, '?' one */
};

struct tr_term {
	uint8_t source;  /* enum tr_term_source */
	uint8_t compare; /* enum tr_term_compare */
	uint8_t on_true; /* a later term's index, TR_TERM_ACCEPT or TR_TERM_REJECT */
	uint8_t on_false;
	uint8_t pattern_bytes; /* at most TR_TERM_TEXT_BYTES */
	uint8_t reserved[3];
	uint64_t constant;
	char pattern[TR_PATTERN_BYTES];
	struct tr_arg arg; /* of TR_TERM_INTEGER and TR_TERM_TEXT */
};
TR_STATIC_ASSERT(sizeof(struct tr_term) == 80 + sizeof(struct tr_arg));

#define TR_GATE_SPAN_BEGIN 1u /* notes that it let a span begin */
#define TR_GATE_SPAN_END 2u   /* lets only ends of noted begins pass; has nothing else */
#define TR_GATE_AT_RET 4u     /* on a ret instruction: the return address is still on the stack */

/* Rates are kept within this, so that the time from one hit to the next is whole nanoseconds. */
#define TR_GATE_RATE_MAX 1000000

struct tr_gate {
	/* Of the sampling's counters and of the rate's bucket. The sites of a probe share one. */
	uint32_t state;
	uint16_t term_count; /* 0: no condition */
	uint16_t flags;      /* TR_GATE_* */
	uint32_t sample_every; /* on each CPU the first of so many hits passes; 0: all do */
	uint32_t reserved;
	uint64_t interval_ns; /* the rate limit's: from one hit to the next; 0: none */
	uint64_t burst_ns;    /* how far hits may run ahead of it */
	struct tr_term terms[TR_TERMS_MAX];
};
TR_STATIC_ASSERT(sizeof(struct tr_gate) == 32 + TR_TERMS_MAX * sizeof(struct tr_term));

/* In the map `open_spans`: a begin that was recorded and has not returned yet. */
struct tr_open_span {
	uint64_t stack_pointer; /* at entry */
	uint32_t tid;
	uint32_t state; /* of the gate */
};
TR_STATIC_ASSERT(sizeof(struct tr_open_span) == 16);

#endif /* TRACER_ABI_GATE_H */
