/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_SELECT_H
#define TRACER_BPF_SELECT_H

/*
 * Processes wanted by name or cgroup. The rules run when something changes (fork, rename, exec by
 * its rename, migration) and end in the bitmap of wanted processes, so that the gate of a hit stays
 * one look-up. A process is judged by its leader.
 */
#include "emit.bpf.h"
#include "filter.bpf.h"

#include <bpf/bpf_core_read.h>

/* Deeper cgroups are judged by their 32 innermost ancestors. */
#define TR_CGROUP_LEVELS_MAX 32

static __always_inline bool tr_comm_fits(const char *comm)
{
	uint32_t word, i;

	for (word = 0; word < TR_COMM_WORDS; word++) {
		struct tr_comm_word *pattern;
		uint64_t states;

		if (word >= tr_comm_words)
			break;
		pattern = bpf_map_lookup_elem(&comm_patterns, &word);
		if (!pattern)
			break;
		states = pattern->starts;
		for (i = 0; i < TR_COMM_BYTES - 1; i++) {
			uint8_t byte = comm[i];

			if (!byte)
				break;
			states = (states & pattern->accepts[byte]) << 1 | (states & pattern->stays);
		}
		if (states & pattern->ends)
			return true;
	}
	return false;
}

/* Cgroup v2 alone: it is the hierarchy that every task is in exactly once. */
static __always_inline bool tr_is_in_wanted_cgroup(struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	uint32_t i;

	for (i = 0; i < TR_CGROUP_LEVELS_MAX; i++) {
		struct cgroup_subsys_state *parent;
		uint64_t id;

		if (!cgroup)
			break;
		id = BPF_CORE_READ(cgroup, kn, id);
		if (bpf_map_lookup_elem(&wanted_cgroups, &id))
			return true;
		parent = BPF_CORE_READ(cgroup, self.parent);
		if (!parent)
			break;
		cgroup = (void *)parent - bpf_core_field_offset(struct cgroup, self);
	}
	return false;
}

static __always_inline struct tr_news *tr_reserve_news(uint16_t kind, uint32_t tgid)
{
	struct tr_news *news = bpf_ringbuf_reserve(&news_ring, sizeof(*news), 0);

	if (!news) {
		__sync_fetch_and_add(&tr_news_lost, 1);
		return NULL;
	}
	news->header.size = sizeof(*news);
	news->header.kind = kind;
	news->header.probe_id = 0;
	news->header.time_ns = bpf_ktime_get_boot_ns();
	news->header.tgid = tgid;
	news->header.tid = tgid;
	news->header.seq = 0;
	news->header.cpu = 0;
	news->header.flags = 0;
	news->cgroup_id = 0;
	news->path[0] = 0;
	return news;
}

enum tr_selection { TR_SELECTION_SAME, TR_SELECTION_BEGINS, TR_SELECTION_ENDS };

/* Judges a process again by its leader, called `comm` (TR_COMM_BYTES) from now on. */
static __always_inline enum tr_selection tr_judge(struct task_struct *leader, const char *comm)
{
	uint32_t tgid = leader->tgid;
	struct tr_news *news;
	bool wanted;

	if (!tr_selects || tgid == tr_own_tgid || tgid == 0)
		return TR_SELECTION_SAME;
	wanted = tr_bit_is_set(&pinned_tgids, tgid) || tr_comm_fits(comm) ||
		 (tr_selects_cgroups && tr_is_in_wanted_cgroup(leader));
	if (wanted == tr_bit_is_set(&wanted_tgids, tgid))
		return TR_SELECTION_SAME;
	if (!wanted) {
		tr_bit_clear(&wanted_tgids, tgid);
		return TR_SELECTION_ENDS;
	}
	tr_bit_set(&wanted_tgids, tgid);
	news = tr_reserve_news(TR_NEWS_SELECTED, tgid);
	if (news)
		bpf_ringbuf_submit(news, 0);
	return TR_SELECTION_BEGINS;
}

#endif /* TRACER_BPF_SELECT_H */
