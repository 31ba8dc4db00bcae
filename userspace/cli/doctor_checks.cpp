// SPDX-License-Identifier: Apache-2.0
//
// The checks of `tracer doctor` that need no BPF program: each tries the thing itself or reads the
// kernel's own statement, never a version number. The kernel side adds its own behind them.
#include "cli/doctor_checks.h"

#include "session/buffer_size.h"
#include "session/human.h"
#include "symbol/tracefs.h"

#include <cstring>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

FeatureCheck check_rights(const Privilege& privilege) {
    FeatureCheck check{.name = "rights", .ok = privilege.can_trace(), .needed = true};
    if (privilege.is_root) {
        check.detail = "root";
    } else if (check.ok) {
        check.detail = "CAP_BPF and CAP_PERFMON";
    } else {
        check.detail = "neither root nor CAP_BPF and CAP_PERFMON";
        check.cure = "sudo tracer doctor";  // which also checks what only root can
    }
    return check;
}

FeatureCheck check_process_ids() {
    const auto found = check_pid_namespace(read_pid_namespace());
    return {.name = "process ids",
            .ok = found.has_value(),
            .needed = true,
            .detail = found ? "those of the kernel" : found.error().what,
            .cure = found ? "" : "docker run --pid=host ... (or run tracer outside)"};
}

FeatureCheck check_btf() {
    const auto found = check_kernel_types();
    return {.name = "kernel types (BTF)",
            .ok = found.has_value(),
            .needed = true,
            .detail =
                found ? kKernelTypesPath : "no /sys/kernel/btf/vmlinux: programs cannot be loaded",
            .cure = found ? "" : "sudo apt install linux-image-amd64 && sudo reboot"};
}

// "none [integrity] confidentiality": the level in force is in brackets. Confidentiality forbids
// reading memory from BPF; a kernel without the file has no lockdown.
FeatureCheck check_lockdown() {
    std::ifstream file("/sys/kernel/security/lockdown");
    std::string line;
    std::getline(file, line);
    const bool is_locked = line.find("[confidentiality]") != std::string::npos;
    return {.name = "lockdown",
            .ok = !is_locked,
            .needed = true,
            .detail = is_locked ? "confidentiality: BPF programs may not read memory"
                                : "allows reading memory",
            .cure = is_locked ? "sudo sed -i s/lockdown=confidentiality/lockdown=integrity/ "
                                "/etc/default/grub && sudo update-grub && sudo reboot"
                              : ""};
}

FeatureCheck check_ring_memory() {
    const MachineLoad load = read_machine_load(false);
    const auto ring = choose_ring_bytes(std::nullopt, load, false);
    FeatureCheck check{.name = "memory for rings", .needed = false};
    if (!ring) {
        check.detail = ring.error().what;
        check.cure = "sudo tracer --buffer 64K/cpu ...";
        return check;
    }
    check.ok = *ring >= kRingBytesMin;
    check.detail =
        fmt::format("{} on each of {} CPUs by default", human_bytes(*ring), load.cpu_count);
    if (!check.ok) {
        check.cure = fmt::format("sudo tracer --buffer {}/cpu ...", size_option(kRingBytesMin));
    }
    return check;
}

// As recording will open it: root needs no mount that others can see.
FeatureCheck check_tracefs() {
    const auto tracefs = Tracefs::open();
    FeatureCheck check{.name = "tracefs", .ok = tracefs.has_value(), .needed = false};
    check.detail = check.ok ? "tracepoints can be named" : tracefs.error().what;
    if (!check.ok) check.cure = "sudo mount -t tracefs tracefs /sys/kernel/tracing";
    return check;
}

// On a thread of its own, which the priority ends with.
FeatureCheck check_real_time() {
    int error = 0;
    std::thread([&error] {
        const sched_param parameter{.sched_priority = 1};
        error = pthread_setschedparam(pthread_self(), SCHED_RR, &parameter);
    }).join();
    FeatureCheck check{.name = "real-time priority", .ok = error == 0, .needed = false};
    check.detail =
        check.ok ? "SCHED_RR for draining"
                 : fmt::format("{}: a saturated machine may lose events", strerrordesc_np(error));
    if (!check.ok) check.cure = "sudo sysctl kernel.sched_rt_runtime_us=950000";
    return check;
}

}  // namespace

std::vector<FeatureCheck> check_machine(const Privilege& privilege) {
    std::vector<FeatureCheck> checks{check_rights(privilege), check_process_ids(), check_btf(),
                                     check_lockdown(), check_ring_memory()};
    // Without rights these would be missing for that reason alone, which is said already.
    if (privilege.can_trace()) {
        checks.push_back(check_tracefs());
        checks.push_back(check_real_time());
    }
    return checks;
}

std::string checks_text(const std::vector<FeatureCheck>& checks) {
    std::string text;
    for (const FeatureCheck& check : checks) {
        const char* state = check.ok ? "ok" : check.needed ? "MISSING" : "missing";
        text += fmt::format("{:<8} {}", state, check.name);
        if (!check.detail.empty()) text += fmt::format(": {}", check.detail);
        text += '\n';
        if (!check.ok && !check.cure.empty())
            text += fmt::format("         cure: {}\n", check.cure);
    }
    text += can_trace(checks) ? "tracing is possible\n" : "tracing is NOT possible as it is\n";
    return text;
}

std::string checks_json(const std::vector<FeatureCheck>& checks) {
    using Json = nlohmann::ordered_json;
    std::string text;
    for (const FeatureCheck& check : checks) {
        const Json json = {{"name", check.name},
                           {"ok", check.ok},
                           {"needed", check.needed},
                           {"detail", check.detail},
                           {"cure", check.cure}};
        text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    return text;
}

bool can_trace(const std::vector<FeatureCheck>& checks) {
    for (const FeatureCheck& check : checks) {
        if (check.needed && !check.ok) return false;
    }
    return true;
}

}  // namespace tracer
