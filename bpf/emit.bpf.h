/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_EMIT_H
#define TRACER_BPF_EMIT_H

/*
 * How a record gets into a ring. Between reserve and submit nothing may sleep: the ring's reader
 * stops at a record that is not submitted yet, and every CPU's records would wait for it.
 */
#include "maps.bpf.h"

#define TR_COUNT(counters, field) __sync_fetch_and_add(&(counters)->field, 1)

/*
 * Takes the next number of the ring and then the room, in this order and with nothing between:
 * the order of numbers is the order in the ring but for an interrupt in the gap.
 */
static __always_inline struct tr_record_header *
tr_reserve_in(void *ring, struct tr_ring_state *state, uint64_t bytes,
	      struct tr_probe_counters *counters)
{
	struct tr_record_header *header;
	uint64_t now = bpf_ktime_get_boot_ns();
	uint64_t seq = __sync_fetch_and_add(&state->seq, 1);

	header = bpf_ringbuf_reserve(ring, bytes, 0);
	if (!header) {
		TR_COUNT(state, lost);
		TR_COUNT(counters, ring_full);
		return NULL;
	}
	header->time_ns = now;
	header->seq = seq;
	header->size = bytes;
	return header;
}

static __always_inline uint64_t tr_wake_flags(void *ring, uint32_t seq)
{
	if (tr_drain_awake || (seq & tr_wake_check_mask))
		return BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < tr_wake_bytes)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

#endif /* TRACER_BPF_EMIT_H */
