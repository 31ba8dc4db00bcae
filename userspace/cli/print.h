// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"
#include "session/recording.h"
#include "tracer/base/result.h"

#include <cstdio>

namespace tracer {

// "tracer: what" and "hint: cure" on standard error; the exit status that belongs to the error.
int report_error(const Error& error);

// Hands what was printed to standard output on. An output error when it did not take all.
[[nodiscard]] Status finish_standard_output();

// The summary of a recording or conversion, as text or JSON, to the stream that is free for it.
// The exit status: 0, or that of what went wrong with the output.
int report_result(const RecordingResult& result, const Verbosity& verbosity);

}  // namespace tracer
