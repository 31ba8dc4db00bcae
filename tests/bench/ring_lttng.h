// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// An event with a number, as LTTng's tracepoints write it.
void lttng_write(int64_t value);
// Whether a session has it enabled.
int lttng_is_on(void);

#ifdef __cplusplus
}
#endif
