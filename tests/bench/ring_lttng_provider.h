// SPDX-License-Identifier: Apache-2.0
//
// Read several times by LTTng's macros, which this form of guard is for.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracer_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ring_lttng_provider.h"

#if !defined(TRACER_RING_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACER_RING_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

// clang-format off
LTTNG_UST_TRACEPOINT_EVENT(tracer_bench, number,
    LTTNG_UST_TP_ARGS(int64_t, value),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, value, value)))
// clang-format on

#endif  // TRACER_RING_LTTNG_PROVIDER_H

#include <lttng/tracepoint-event.h>
