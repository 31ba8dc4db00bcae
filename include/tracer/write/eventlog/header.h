// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/eventlog/event_types.h"

#include <cstddef>
#include <vector>

namespace tracer::eventlog {

// What a log begins with: the declaration of every event of the dialect, in ascending order as GHC
// writes them, and the mark after which events stand. Byte for byte GHC 9.10.3's for its own set
// ({.release = Release::ghc_9_10, .has_perf = false}). Some 3 KiB.
[[nodiscard]] std::vector<std::byte> make_header(const Dialect& dialect);

}  // namespace tracer::eventlog
