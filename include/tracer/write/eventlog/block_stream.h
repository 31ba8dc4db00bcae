// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/eventlog/block_buffer.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tracer::eventlog {

// Puts pieces of any length into a sink that takes 64 KiB at a time and may refuse at any of them,
// so that each piece is there whole or not at all: one that was taken in part is completed before
// anything else. Not thread safe. Borrows the sink.
class WholeWriter {
public:
    explicit WholeWriter(ByteSink& sink) : sink_(&sink) {}

    // Takes all of `bytes`, or nothing of it.
    [[nodiscard]] BlockFate put(std::span<const std::byte> bytes);
    // Tries to complete the last piece; whether nothing is owed any more.
    bool pay();
    // Bytes of a piece taken in part that the sink has not taken yet.
    [[nodiscard]] size_t owed_bytes() const { return owed_.size() - paid_; }
    [[nodiscard]] ByteSink& sink() const { return *sink_; }

private:
    ByteSink* sink_;
    std::vector<std::byte> owed_;
    size_t paid_ = 0;
};

// How blocks stand in the log.
enum class BlockMode : uint8_t {
    closed,  // each with its length: what GHC writes, and what every reader takes
    // With length 0, "until the next marker", as one who does not know the length yet must write
    // it: what one capability hands over in a row is one block, so frequent flushes of a log with
    // few capabilities cost no marker each. For streams that are read as they come.
    open_ended,
};

// One log over one sink: header, blocks, end. A block that finds no room is dropped whole (its
// buffer counts it and tells of it). Not thread safe. Borrows the sink.
class BlockStream : public BlockDestination {
public:
    explicit BlockStream(ByteSink& sink, BlockMode mode = BlockMode::closed)
        : out_(sink), mode_(mode) {}

    // Fails when there is no room for all of it, and then writes nothing of it.
    [[nodiscard]] Status write_header(const Dialect& dialect);
    [[nodiscard]] BlockFate write_block(std::span<const std::byte> block,
                                        const BlockInfo& info) override;
    // The mark of the end. Blocks may still follow: readers read on.
    [[nodiscard]] Status write_end();
    // Completes what was taken in part, if it can; then the sink's own flush.
    void flush();
    // Bytes that the last block's marker promises and the sink has not taken yet.
    [[nodiscard]] size_t owed_bytes() const { return out_.owed_bytes(); }

private:
    WholeWriter out_;
    BlockMode mode_;
    std::optional<CapNo> open_cap_;  // of the open-ended block that the log ends with
};

}  // namespace tracer::eventlog
