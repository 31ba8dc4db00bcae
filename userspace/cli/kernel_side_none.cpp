// SPDX-License-Identifier: Apache-2.0
//
// Built without the kernel side (no clang, bpftool or libbpf, or TRACER_BPF=OFF): `list`,
// `convert` and `doctor` work, recording says why not.
#include "cli/kernel_side.h"

namespace tracer {
namespace {

constexpr const char* kWhat = "this tracer was built without its kernel side";
constexpr const char* kCure = "sudo scripts/run";  // installs what is missing, builds again

}  // namespace

Result<std::unique_ptr<KernelRecorder>> open_kernel_side(const AttachPlan&, const KernelOptions&) {
    return fail(ErrorCode::missing_feature, kWhat,
                "install clang, bpftool, libbpf-dev and libelf-dev, then build with "
                "-DTRACER_BPF=ON; in the source tree `sudo scripts/run` does both");
}

Status check_fast_sites() {
    return fail(ErrorCode::missing_feature, kWhat);
}

std::vector<FeatureCheck> check_kernel_side() {
    return {{.name = "kernel side", .ok = false, .needed = true, .detail = kWhat, .cure = kCure}};
}

}  // namespace tracer
