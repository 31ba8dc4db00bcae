// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/chunk_memory_sink.h"

#include <string>
#include <vector>

namespace tracer {

// Writes the chunks that wait in `chunks` to files named after `path` (rotating_sink.h), one each,
// as long as the disk takes; the files there are. Nothing waits: none.
[[nodiscard]] Result<std::vector<std::string>> write_chunks(ChunkMemorySink& chunks,
                                                            const std::string& path);

}  // namespace tracer
