// SPDX-License-Identifier: Apache-2.0
//
// May we trace at all? Asked before anything is opened, because the kernel's own answer (EPERM
// from the first map) says neither which right is missing nor how to get it. Relies on
// /proc/self/status for the effective capabilities.
#include "cli/privilege.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace tracer {
namespace {

constexpr int kCapSysAdmin = 21;
constexpr int kCapPerfmon = 38;
constexpr int kCapBpf = 39;

uint64_t read_effective_capabilities() {
    std::ifstream file("/proc/self/status");
    std::string key;
    while (file >> key) {
        uint64_t bits = 0;
        if (key == "CapEff:" && file >> std::hex >> bits) return bits;
    }
    return 0;
}

}  // namespace

Privilege read_privilege() {
    const uint64_t bits = read_effective_capabilities();
    const auto has = [bits](int capability) { return (bits >> capability & 1) != 0; };
    return {.is_root = geteuid() == 0,
            .can_bpf = has(kCapBpf) || has(kCapSysAdmin),
            .can_perfmon = has(kCapPerfmon) || has(kCapSysAdmin)};
}

Status check_privilege(const Privilege& privilege) {
    if (privilege.can_trace()) return {};
    return fail(ErrorCode::permission,
                "recording needs root, or the capabilities CAP_BPF and CAP_PERFMON",
                "sudo tracer ...");
}

Status check_pid_namespace(const std::string& link) {
    // PROC_PID_INIT_INO of the kernel (include/linux/proc_ns.h since 3.8), the same everywhere.
    if (link.empty() || link == "pid:[4026531836]") return {};
    return fail(ErrorCode::missing_feature,
                "process ids are a container's own here, not those that the kernel records",
                "run tracer outside, where --pid takes the container's processes by their outer "
                "ids; or give the container the host's ids (docker run --pid=host)");
}

std::string read_pid_namespace() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

Status check_kernel_types() {
    if (access(kKernelTypesPath, R_OK) == 0) return {};
    return fail(ErrorCode::missing_feature,
                "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
                "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y: "
                "sudo apt install linux-image-amd64");
}

}  // namespace tracer
