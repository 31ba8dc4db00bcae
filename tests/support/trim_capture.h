// SPDX-License-Identifier: Apache-2.0
//
// Makes a capture fit to be kept in the tree: small, and without what tells of the machine it was
// recorded on.
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracer::test {

// Keeps the hits, at most the first `hits_max`, with the lives of the processes that they are of,
// and gaps and clocks. Leaves out: the names of the host and of the recorder's command line, the
// arguments of the process, all other processes, folders of the programs that were run, the
// scheduler's records. What the probes themselves have recorded stays, for the author to look at.
[[nodiscard]] Result<std::vector<std::byte>> trim_capture(std::span<const std::byte> capture,
                                                          uint64_t hits_max = UINT64_MAX);

}  // namespace tracer::test
