// SPDX-License-Identifier: Apache-2.0
//
// A log in which every event of the format stands once, written by the tracer's own writer.
#pragma once

#include "tracer/write/eventlog/block_buffer.h"
#include "tracer/write/eventlog/poster.h"

#include <string>
#include <vector>

namespace tracer::test {

// Where the buffers of one log hand over their blocks: header, blocks as they come, end marker.
class EventlogText : public eventlog::BlockDestination {
public:
    explicit EventlogText(const eventlog::Dialect& dialect);
    [[nodiscard]] eventlog::BlockFate write_block(std::span<const std::byte> block,
                                                  const eventlog::BlockInfo& info) override;
    void end();
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    void append(std::span<const std::byte> bytes);

    std::string bytes_;
};

struct EveryEventOptions {
    eventlog::Dialect dialect;
    // Readers before ghc-events 0.18 lose their place at the definition that GHC writes since 9.4.
    bool has_ticky_definition = true;
};

// Sound for every validator. Empty: a buffer could not be opened or refused an event.
[[nodiscard]] std::string write_every_event(const EveryEventOptions& options);

}  // namespace tracer::test
