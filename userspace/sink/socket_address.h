// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <chrono>
#include <string>

namespace tracer {

// A stream socket connected to a Unix socket's path or "@NAME"; see socket_sink.h.
[[nodiscard]] Result<UniqueFd> connect_unix(const std::string& path,
                                            std::chrono::milliseconds timeout);

// A stream socket connected to "HOST:PORT"; see socket_sink.h.
[[nodiscard]] Result<UniqueFd> connect_tcp(const std::string& host_and_port,
                                           std::chrono::milliseconds timeout);

}  // namespace tracer
