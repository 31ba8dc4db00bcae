// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/byte_sink.h"

namespace tracer::test {

// Writes every record of the Fuchsia trace format through the public interface, each for a reason
// one could have. Read it as the interface's tour. Adds test failures where the stream refuses.
void write_fxt_demo(ByteSink& sink);

}  // namespace tracer::test
