// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/trace_writer.h"

#include <memory>

namespace tracer::json {

// Borrows the sink.
[[nodiscard]] std::unique_ptr<TraceWriter> make_json_writer(ByteSink& sink);

}  // namespace tracer::json
