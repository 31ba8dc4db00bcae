// SPDX-License-Identifier: Apache-2.0
//
// The event of ring_events_bench.cpp through LTTng-UST, inlined where it is used like ours.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ring_lttng_provider.h"

#include "ring_lttng.h"

void lttng_write(int64_t value) {
    lttng_ust_tracepoint(tracer_bench, number, value);
}

int lttng_is_on(void) {
    return lttng_ust_tracepoint_enabled(tracer_bench, number) != 0;
}
