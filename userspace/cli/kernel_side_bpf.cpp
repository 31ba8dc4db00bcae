// SPDX-License-Identifier: Apache-2.0
//
// Built with the kernel side: passes on to it. Chosen by CMake over kernel_side_none.cpp.
#include "cli/kernel_side.h"
#include "probe/fast_sites.h"

namespace tracer {

Result<std::unique_ptr<KernelRecorder>> open_kernel_side(const AttachPlan& plan,
                                                         const KernelOptions& options) {
    return KernelRecorder::open(plan, options);
}

std::vector<FeatureCheck> check_kernel_side() {
    return check_features();
}

Status check_fast_sites() {
    const FastSites found = judge_fast_sites(try_fast_sites(true));
    if (found.is_sound) return {};
    return fail(ErrorCode::missing_feature, "fast sites are " + found.text,
                "leave out --fast-sites: probes then stay on 1-byte nops");
}

}  // namespace tracer
