// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <string>

namespace tracer {

// What this process may do, as the kernel sees it.
struct Privilege {
    bool is_root = false;
    bool can_bpf = false;      // CAP_BPF, or CAP_SYS_ADMIN which includes it
    bool can_perfmon = false;  // CAP_PERFMON, likewise
    [[nodiscard]] bool can_trace() const { return is_root || (can_bpf && can_perfmon); }
};

[[nodiscard]] Privilege read_privilege();

// A permission error with its cure, unless this process can trace.
[[nodiscard]] Status check_privilege(const Privilege& privilege);

// A missing_feature error unless the kernel describes its types (BTF).
[[nodiscard]] Status check_kernel_types();

// A missing_feature error inside a pid namespace (a container): the kernel side knows tasks by the
// ids of the first namespace, so --pid would mean others, and we could not tell ourselves from
// them. `link`: what /proc/self/ns/pid leads to; empty (no /proc): taken for the first one.
[[nodiscard]] Status check_pid_namespace(const std::string& link);
[[nodiscard]] std::string read_pid_namespace();

inline constexpr const char* kKernelTypesPath = "/sys/kernel/btf/vmlinux";

}  // namespace tracer
