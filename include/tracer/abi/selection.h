/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_SELECTION_H
#define TRACER_ABI_SELECTION_H

#include "event.h"

/*
 * The contract of selecting processes by what they are called and where they belong: tables from
 * userspace to the kernel side, and news the other way. None of it is ever stored.
 */

/*
 * Patterns over a task's name (comm), run as one automaton of 64 states a word. A state says how
 * many items of its pattern are behind it. For each byte c of the name:
 *   states = (states & accepts[c]) << 1 | (states & stays)
 * The name fits if a state of `ends` is set after its last byte. `stays` are the states before a
 * '*'. A pattern takes one state more than it has items and lies in one word whole.
 */
#define TR_COMM_WORDS 4

struct tr_comm_word {
	uint64_t accepts[256]; /* by byte: the states whose next item takes it */
	uint64_t starts;
	uint64_t stays;
	uint64_t ends;
};
TR_STATIC_ASSERT(sizeof(struct tr_comm_word) == 2072);

/* Room for the ids of wanted cgroups (v2); their descendants need none. */
#define TR_WANTED_CGROUPS_MAX 1024

enum tr_news_kind {
	TR_NEWS_SELECTED = 1,    /* header.tgid: a process is recorded from now on */
	TR_NEWS_CGROUP_MADE = 2, /* cgroup_id and path; of any hierarchy */
};

/* In the news ring. header.kind is one of enum tr_news_kind, header.seq and probe_id are 0. */
struct tr_news {
	struct tr_record_header header;
	uint64_t cgroup_id;
	char path[TR_PATH_BYTES]; /* from the hierarchy's root, NUL-ended, cut if longer */
};
TR_STATIC_ASSERT(sizeof(struct tr_news) == 296);

#endif /* TRACER_ABI_SELECTION_H */
