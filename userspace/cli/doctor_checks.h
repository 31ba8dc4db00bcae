// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/privilege.h"
#include "probe/kernel_recorder.h"

#include <string>
#include <vector>

namespace tracer {

// What can be seen without loading a program: rights, BTF, lockdown, memory for rings, and with
// rights to trace also tracefs and real-time scheduling.
[[nodiscard]] std::vector<FeatureCheck> check_machine(const Privilege& privilege);

// "ok" or "missing" lines, each missing one with its cure.
[[nodiscard]] std::string checks_text(const std::vector<FeatureCheck>& checks);
// One line of JSON a check: {"name","ok","needed","detail","cure"}.
[[nodiscard]] std::string checks_json(const std::vector<FeatureCheck>& checks);

// Nothing needed is missing.
[[nodiscard]] bool can_trace(const std::vector<FeatureCheck>& checks);

}  // namespace tracer
