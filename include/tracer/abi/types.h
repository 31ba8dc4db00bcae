/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_TYPES_H
#define TRACER_ABI_TYPES_H

/*
 * The fixed-width types of the contract headers. BPF programs take them from vmlinux.h, which
 * declares the kernel's own uint8_t ... int64_t and would clash with <stdint.h>.
 */
#ifndef __bpf__
#include <stdint.h>
#endif

#ifdef __cplusplus
#define TR_STATIC_ASSERT(condition) static_assert(condition, #condition)
#else
#define TR_STATIC_ASSERT(condition) _Static_assert(condition, #condition)
#endif

#endif /* TRACER_ABI_TYPES_H */
