// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/chunked_sink.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracer {

// One output of a tee.
struct TeeBranch {
    std::string name;  // in errors and reports
    std::unique_ptr<ByteSink> sink;
};

enum class TeeBranchState : uint8_t {
    open,         // takes every record
    out_of_step,  // lost a record for want of room; closed until a chunk begins
    failed,       // its sink has an error; closed for good
};

struct TeeBranchReport {
    std::string name;
    TeeBranchState state = TeeBranchState::open;
    uint64_t bytes = 0;  // committed to it
    // What it did not get, for whatever reason; with no branch open, what the tee had no room for.
    uint64_t lost_records = 0;
    uint64_t lost_bytes = 0;
    std::optional<Error> error;  // failed: why
};

struct TeeOptions {
    // No chunk is asked for sooner than this after a branch fell out of step: its opening goes to
    // every branch, and a reader that is always too slow is not to flood the others with openings.
    uint64_t rejoin_ns_min = 1'000'000'000;
};

// Gives every record whole to two or more sinks (a file and a socket, say). A slow or broken one
// loses alone.
//
// What a branch means after a loss: a record that it missed may have been a name that later records
// refer to, so it gets nothing more in mid-stream; every record it misses is counted. When it has
// room again (and rejoin_ns_min has passed) branch_needs_chunk() and chunk_is_due() say so, and the
// next chunk, which says header and definitions again, brings it back into step. A branch whose
// sink has failed stays closed.
//
// Chunks: next_chunk() is passed on to every branch that is itself a ChunkedSink; the others take
// the chunk's opening in mid-stream. A Fuchsia trace may be continued so. Where a format has no
// second header in one stream (a GHC eventlog), give the tee either only chunked branches or none,
// and do not ask for chunks in the latter case: a branch that lost something then stays closed.
//
// reserve() is "no room" only when no branch takes records. health() is good as long as one branch
// has not failed; branches() tells which have. close() closes all and returns every branch's error
// in one. Threads as for every ByteSink. Each record costs one copy a branch. The sinks must let a
// reservation go uncommitted, as all of ours do: that is how the tee asks whether there is room
// again.
class TeeSink : public ChunkedSink {
public:
    // Of the producing thread.
    [[nodiscard]] virtual bool branch_needs_chunk() = 0;
    // In the order given. Any thread.
    [[nodiscard]] virtual std::vector<TeeBranchReport> branches() const = 0;
};

// Takes the sinks over. Fewer than two, or a missing one, is a usage error.
[[nodiscard]] Result<std::unique_ptr<TeeSink>> make_tee_sink(std::vector<TeeBranch> branches,
                                                             const TeeOptions& options = {});

}  // namespace tracer
