/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_STATS_H
#define TRACER_ABI_STATS_H

#include "types.h"

/*
 * What the kernel side counts, by probe id and CPU: X(name, what it means). For each probe, at the
 * end: hits == records that reached userspace + ring_full + what its gate (gate.h) kept out:
 * condition + unknown + sampled_out + throttled + unopened. `filtered` is not a hit.
 */
#define TR_PROBE_COUNTERS(X)                                                             \
	X(hits, "times a wanted task ran the probe")                                     \
	X(ring_full, "hits lost because the CPU's ring had no room")                     \
	X(filtered, "runs in tasks that were not asked for")                             \
	X(retried, "hits recorded at the second try, after a page was faulted in")       \
	X(bad_probe, "runs with a cookie that no probe has")                             \
	X(condition, "hits not recorded because the condition was false")                \
	X(unknown, "hits not recorded because the condition's operand could not be read") \
	X(sampled_out, "hits left out by 1-in-N sampling")                               \
	X(throttled, "hits over the rate limit")                                         \
	X(unopened, "ends of spans whose begin was not recorded")

struct tr_probe_counters {
#define TR_COUNTER_FIELD(name, meaning) uint64_t name;
	TR_PROBE_COUNTERS(TR_COUNTER_FIELD)
#undef TR_COUNTER_FIELD
};
TR_STATIC_ASSERT(sizeof(struct tr_probe_counters) == 80);

/*
 * One ring's own state, one cache line each, mapped read-only into userspace. Element i belongs to
 * the ring of CPU i; the last element to the task ring.
 */
struct tr_ring_state {
	uint64_t seq;  /* attempts so far, lost ones too: the next record's number */
	uint64_t lost; /* attempts that found no room */
	uint64_t reserved[6];
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_state) == 64);

#endif /* TRACER_ABI_STATS_H */
