/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_FUNCTION_KEPT_WHOLE_H
#define TRACER_TESTS_FUNCTION_KEPT_WHOLE_H

/*
 * For a function that a test probes: one body at one address, whatever the compiler would rather
 * do. clang makes no clones, and takes the word for an unknown one.
 */
#ifdef __clang__
#define FUNCTION_KEPT_WHOLE __attribute__((noinline))
#else
#define FUNCTION_KEPT_WHOLE __attribute__((noinline, noclone))
#endif

#endif
