// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/chunked_sink.h"
#include "tracer/write/sinks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tracer {

// What becomes of a chunk once it is closed; never of one that is being written, since a compressed
// file that was cut does not open.
enum class ChunkCompression {
    none,
    // NAME.zst (zstd) in the place of NAME, made by a thread of its own at the lowest priority: it
    // appears whole, then the plain one goes. Killed at any time, each chunk is there whole, once.
    zstd,
};

struct RotatingSinkOptions {
    // Buffers, owner, thread and syncs, as for one file; `owner` is given every chunk. At least two
    // buffers are taken: one chunk's end and the next one's opening.
    FileSinkOptions file = {};
    ChunkLimits limits = {};
    // How much is kept, the chunk being written included; 0: all. The oldest chunks are deleted
    // before a new file is made or a buffer written that would exceed it, so the disk never holds
    // more; the current chunk is never deleted, whatever its size. With keep_files = 1 an old chunk
    // is gone before the new one says anything: 2 or more keep a past.
    uint64_t keep_files = 0;
    uint64_t keep_bytes = 0;
    // With keep_bytes a chunk counts twice while it is compressed. close() waits for the last.
    ChunkCompression compression = ChunkCompression::none;
};

// Chunks that were to be compressed and stay as they are.
struct PlainChunks {
    uint64_t count = 0;
    std::string reason;  // of the first
};

// A row of files, each of which reads alone. From the path DIR/NAME.SUFFIX they are called
//     DIR/NAME-00000001-20260131T101500Z.SUFFIX
// a number from 1 that grows with every chunk, and the UTC time at which the chunk began. The
// number comes first because the wall clock may be set back: one sink's files sort by time. A name
// that is taken is passed over (the number grows), so nothing is ever replaced, and no symbolic
// link is followed in the last part of a name; give each of several recordings in one folder a NAME
// of its own. Each file is new, 0600, and given to the owner. Only files that this sink made are
// deleted: one that was put in place of ours, or moved away, is left alone.
//
// Threads as for every ByteSink: one producer; health(), bytes_committed() and what begins with
// chunks_ or chunk_paths from any thread. Files are opened, written, synced, closed and deleted by
// the sink's own thread; the first error of any of them (a full disk, a folder that is gone, an old
// chunk that cannot be deleted) is kept and ends the sink; what is written by then stays, in whole
// records.
class RotatingSink : public ChunkedSink {
public:
    // The chunks that are there, oldest first, the one being written last.
    [[nodiscard]] virtual std::vector<std::string> chunk_paths() const = 0;
    [[nodiscard]] virtual uint64_t chunks_deleted() const = 0;
    // All of them after close().
    [[nodiscard]] virtual PlainChunks chunks_left_plain() const = 0;
};

// Makes the first file at once, so that a bad path is an error here. `path` is made absolute: a
// later change of the working folder does not matter.
[[nodiscard]] Result<std::unique_ptr<RotatingSink>> open_rotating_sink(
    const std::string& path, const RotatingSinkOptions& options);

}  // namespace tracer
