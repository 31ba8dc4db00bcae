// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/trace_writer.h"

#include <memory>

namespace tracer::fxt {

[[nodiscard]] std::unique_ptr<TraceWriter> make_fxt_writer(ByteSink& sink);

}  // namespace tracer::fxt
