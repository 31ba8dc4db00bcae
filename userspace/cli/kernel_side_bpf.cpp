// SPDX-License-Identifier: Apache-2.0
//
// Built with the kernel side: passes on to it. Chosen by CMake over kernel_side_none.cpp.
#include "cli/kernel_side.h"

namespace tracer {

Result<std::unique_ptr<KernelRecorder>> open_kernel_side(const AttachPlan& plan,
                                                         const KernelOptions& options) {
    return KernelRecorder::open(plan, options);
}

std::vector<FeatureCheck> check_kernel_side() {
    return check_features();
}

}  // namespace tracer
