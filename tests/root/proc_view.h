// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tracer::test {

// What /proc tells of a process of ours, for tests that look at it from outside.

[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);
// The thread of that name; none: it is not there (yet).
[[nodiscard]] std::optional<pid_t> thread_named(pid_t pid, const std::string& name);
// SCHED_OTHER, SCHED_RR, ...; -1: no such thread.
[[nodiscard]] int scheduling_policy(pid_t pid, pid_t tid);
// CPU time the thread has used, in ns; 0: no such thread.
[[nodiscard]] uint64_t cpu_time_ns(pid_t pid, pid_t tid);

// The bytes of the program's executable mappings that differ from its file: breakpoints in it.
[[nodiscard]] Result<size_t> changed_text_bytes(pid_t pid);

}  // namespace tracer::test
