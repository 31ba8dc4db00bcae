// SPDX-License-Identifier: Apache-2.0
//
// `tracer doctor`: the machine's checks, then the kernel side's where rights allow to ask it.
#include "cli/commands.h"
#include "cli/doctor_checks.h"
#include "cli/kernel_side.h"
#include "cli/print.h"
#include "cli/privilege.h"
#include "session/human.h"

#include <cstdio>

namespace tracer {

Result<int> run_doctor(const DoctorCommand& command) {
    const Privilege privilege = read_privilege();
    std::vector<FeatureCheck> checks = check_machine(privilege);
    // Without rights or types everything there would be missing for that reason, which is said.
    if (privilege.can_trace() && check_kernel_types()) {
        const auto kernel = check_kernel_side();
        checks.insert(checks.end(), kernel.begin(), kernel.end());
    }
    put_text(stdout, command.json ? checks_json(checks) : checks_text(checks));
    TR_TRY(finish_standard_output());
    return can_trace(checks) ? 0 : exit_status(ErrorCode::missing_feature);
}

}  // namespace tracer
