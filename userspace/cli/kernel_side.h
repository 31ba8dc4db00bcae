// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/kernel_recorder.h"

#include <memory>
#include <vector>

namespace tracer {

// The kernel side this program was built with, or an error and a missing check that say it was
// built without one (TRACER_BPF=OFF); the commands that need none work in either case.
[[nodiscard]] Result<std::unique_ptr<KernelRecorder>> open_kernel_side(
    const AttachPlan& plan, const KernelOptions& options);
[[nodiscard]] std::vector<FeatureCheck> check_kernel_side();
// Whether probes on 5-byte nops do no harm here, by trying (--fast-sites); missing_feature if not.
// Forks: before any thread is made.
[[nodiscard]] Status check_fast_sites();

}  // namespace tracer
