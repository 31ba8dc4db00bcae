// SPDX-License-Identifier: Apache-2.0
//
// For tests of the eventlog's writer: where blocks go, and a reader of what was written that shares
// nothing with it but the table.
#pragma once

#include "tracer/write/eventlog/block_buffer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracer::eventlog::test {

// Keeps blocks, or answers as it is told to.
class BlockKeeper : public BlockDestination {
public:
    [[nodiscard]] BlockFate write_block(std::span<const std::byte> block,
                                        const BlockInfo& info) override {
        if (fate == BlockFate::taken) {
            bytes.insert(bytes.end(), block.begin(), block.end());
            infos.push_back(info);
        }
        return fate;
    }

    BlockFate fate = BlockFate::taken;
    std::vector<std::byte> bytes;
    std::vector<BlockInfo> infos;
};

struct ReadEvent {
    EventId id{};
    uint64_t time_ns = 0;
    std::optional<CapNo> cap;  // of its block; none: outside every block or in the global one
    std::vector<std::byte> payload;
    bool is_in_block = false;

    [[nodiscard]] std::string text() const {
        return {reinterpret_cast<const char*>(payload.data()), payload.size()};
    }
    [[nodiscard]] uint64_t number(size_t at, size_t bytes) const;
};

struct ReadLog {
    std::map<uint16_t, uint16_t> declared;  // id -> size
    std::vector<ReadEvent> events;          // block markers left out
    size_t blocks = 0;
    size_t open_ended_blocks = 0;
    size_t end_markers = 0;
    std::string fault;  // empty: every byte was understood
};

// A whole log. Events outside blocks, blocks that do not end with an event, events that go back in
// time within a block, undeclared ids and a cut last event are faults.
[[nodiscard]] ReadLog read_log(std::span<const std::byte> bytes);

// What follows a header: blocks and perhaps an end.
[[nodiscard]] ReadLog read_blocks(std::span<const std::byte> bytes);

[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

[[nodiscard]] std::vector<std::byte> load_bytes(const std::string& path);

}  // namespace tracer::eventlog::test
