// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <optional>
#include <string>

namespace tracer {

// Where "everything is armed" is told, beside the line for people.
struct ReadinessRequest {
    std::optional<int> fd;      // --ready-fd: gets one newline, and is closed
    std::string notify_socket;  // $NOTIFY_SOCKET of a service manager, a path or '@' and a name
};

// Of --ready-fd, before anything is started: open for writing, or a usage error.
[[nodiscard]] Status check_readiness(const ReadinessRequest& request);

// Tells it, once; never waits. What nobody takes is a warning's text; empty: all was taken.
[[nodiscard]] std::string tell_readiness(const ReadinessRequest& request);

}  // namespace tracer
