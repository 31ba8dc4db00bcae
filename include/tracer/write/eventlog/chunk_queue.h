// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace tracer::eventlog {

struct ChunkQueueOptions {
    size_t chunk_bytes = 1 << 20;  // a chunk is full when the next block would make it longer
    size_t bytes_max = 64 << 20;   // of everything not yet popped; past it there is no room
};

// A log in memory, which the program itself takes away in chunks: header and whole blocks, in
// order, so that chunks one after the other are the log. Blocks that would go over the bound are
// lost, counted and told of like those of any other full sink. Thread safe.
//
//   ChunkQueue queue;
//   log.start(queue.make_sink());
//   ...
//   log.flush();
//   for (auto chunk = queue.pop(); !chunk.empty(); chunk = queue.pop()) send(chunk);
class ChunkQueue {
public:
    explicit ChunkQueue(const ChunkQueueOptions& options = {});

    // The end that a log writes to; may outlive the queue. flush() and close() end the chunk that
    // is being filled, so that everything handed over can be popped.
    [[nodiscard]] std::unique_ptr<ByteSink> make_sink();

    // The oldest full chunk, which is the caller's from now on; empty: there is none.
    [[nodiscard]] std::vector<std::byte> pop();

    // Not yet popped, the chunk being filled included.
    [[nodiscard]] size_t bytes() const;

    class State;

private:
    std::shared_ptr<State> state_;
};

}  // namespace tracer::eventlog
