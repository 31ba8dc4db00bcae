/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_FILTER_H
#define TRACER_BPF_FILTER_H

#include "maps.bpf.h"

static __always_inline bool tr_bit_is_set(void *bitmap, uint32_t pid)
{
	uint32_t word = pid >> 6;
	uint64_t *bits = bpf_map_lookup_elem(bitmap, &word);

	return bits && (*bits >> (pid & 63) & 1);
}

static __always_inline void tr_bit_set(void *bitmap, uint32_t pid)
{
	uint32_t word = pid >> 6;
	uint64_t *bits = bpf_map_lookup_elem(bitmap, &word);

	if (bits)
		__sync_fetch_and_or(bits, 1ULL << (pid & 63));
}

static __always_inline void tr_bit_clear(void *bitmap, uint32_t pid)
{
	uint32_t word = pid >> 6;
	uint64_t *bits = bpf_map_lookup_elem(bitmap, &word);

	if (bits)
		__sync_fetch_and_and(bits, ~(1ULL << (pid & 63)));
}

/* Whether a task is one of those the user asked for. The idle task (tid 0) never is. */
static __always_inline bool tr_wanted(uint32_t tgid, uint32_t tid)
{
	if (tr_record_all)
		return tid != 0;
	if (tr_bit_is_set(&wanted_tgids, tgid))
		return true;
	return tr_filter_tids && tr_bit_is_set(&wanted_tids, tid);
}

#endif /* TRACER_BPF_FILTER_H */
