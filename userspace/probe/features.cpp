// SPDX-License-Identifier: Apache-2.0
//
// What this kernel runs of ours, found by trying: each program of bpf/features.bpf.c is loaded
// alone. What can be seen without loading anything is checked by the CLI, which shows both as one
// list (`tracer doctor`).
#include "probe/fast_sites.h"
#include "probe/kernel_recorder.h"
#include "probe/libbpf_log.h"
#include "probe/uprobe_link.h"
#include "tracer_features.skel.h"

#include <cerrno>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

namespace tracer {
namespace {

struct Feature {
    const char* program;
    const char* name;
    bool needed;
    const char* what_for;
    const char* without;  // what is missing without it, and since when kernels have it
};

constexpr Feature kFeatures[] = {
    {"tr_has_ring_and_cookie", "uprobes, BPF rings and cookies", true, "usdt:, u:, ur:, span:",
     "no probe can be recorded (kernel 5.15 with CONFIG_UPROBES and CONFIG_BPF_SYSCALL)"},
    {"tr_has_btf_tracepoints", "BTF tracepoints", true, "switches, wakeups, births and deaths",
     "no scheduling and no task names (kernel 5.18 with CONFIG_DEBUG_INFO_BTF)"},
    {"tr_has_task_iterator", "task iterator", true, "names of what runs already",
     "no names of what ran before the recording (kernel 5.8)"},
    {"tr_has_tracepoints", "tracepoint programs", false, "t:category:name",
     "no t:category:name probes (CONFIG_BPF_EVENTS)"},
    {"tr_has_sleepable", "sleepable uprobe programs", false, "strings on pages not in memory",
     "strings on pages that are not in memory are marked missing (kernel 6.0)"},
};

// What a stock kernel of the distribution and of its backports have, in this order.
constexpr const char* kStockKernel = "sudo apt install linux-image-amd64 && sudo reboot";
constexpr const char* kNewerKernel =
    "sudo apt install -t bookworm-backports linux-image-amd64 && sudo reboot";

// Loads one program of the object; 0 or the errno.
int try_to_load(const char* program_name) {
    const LibbpfLog log;
    tracer_features* skeleton = tracer_features__open();
    if (skeleton == nullptr) return errno;
    bpf_program* program = bpf_object__find_program_by_name(skeleton->obj, program_name);
    bpf_program__set_autoload(program, true);
    const int error = tracer_features__load(skeleton);
    tracer_features__destroy(skeleton);
    return -error;
}

FeatureCheck check(const Feature& feature) {
    const int error = try_to_load(feature.program);
    FeatureCheck result;
    result.name = feature.name;
    result.needed = feature.needed;
    result.ok = error == 0;
    result.detail = feature.what_for;
    if (error != 0) {
        result.detail = fmt::format("{}: {}", strerrordesc_np(error), feature.without);
        // A capability that a container keeps back, or a kernel that does not know the thing.
        const bool is_refused = error == EPERM || error == EACCES;
        result.cure = is_refused ? "sudo tracer doctor" : kStockKernel;
    }
    return result;
}

FeatureCheck check_uprobe_multi() {
    FeatureCheck result;
    result.name = "uprobe_multi links";
    result.ok = has_uprobe_multi();
    result.detail = "all sites of a file attached and detached at once";
    if (!result.ok) {
        result.detail =
            "kernel older than 6.6: each probe site is a link of its own, and the end "
            "of a recording takes 0.1 s a site";
        result.cure = kNewerKernel;
    }
    return result;
}

FeatureCheck check_uprobe_session() {
    FeatureCheck result;
    result.name = "uprobe sessions";
    result.ok = has_uprobe_session();
    result.detail = "spans kept out at their entry pay no return";
    if (!result.ok) {
        result.detail =
            "kernel older than 6.13: a span that a condition, sampling or the choice of "
            "processes keeps out pays the trap of its return all the same";
        result.cure = kNewerKernel;
    }
    return result;
}

FeatureCheck check_fast_sites() {
    const FastSites found = judge_fast_sites(try_fast_sites(true));
    FeatureCheck result;
    result.name = "fast sites";
    result.ok = found.is_sound;
    result.detail = found.text;
    if (!result.ok) result.cure = "sudo tracer ... (without --fast-sites, as is the default)";
    return result;
}

}  // namespace

std::vector<FeatureCheck> check_features() {
    std::vector<FeatureCheck> checks;
    for (const Feature& feature : kFeatures) checks.push_back(check(feature));
    checks.push_back(check_uprobe_multi());
    checks.push_back(check_uprobe_session());
    checks.push_back(check_fast_sites());
    return checks;
}

}  // namespace tracer
