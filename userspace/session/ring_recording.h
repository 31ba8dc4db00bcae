// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/ring/cursor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// An event of a ring, kept; the cursor's spans are gone by then.
struct RingItem {
    uint64_t time_ns = 0;  // of a loss that of the last event before it
    uint32_t ring = 0;
    bool is_loss = false;
    bool has_value = false;
    bool is_user = false;
    ring::EventKind kind = ring::EventKind::unknown;
    uint32_t id = 0;
    int64_t value = 0;
    uint32_t payload_index = 0;  // in `texts` or `losses`, of what has one
};

// Everything in a file of rings, by time; each ring's in its own order.
struct RingRecording {
    std::vector<RingItem> items;
    std::vector<std::string> texts;  // payloads of custom events in hexadecimal, allocations
    std::vector<ring::Lost> losses;
    ring::Producer producer;
    uint32_t pid = 0;  // in the producer's own namespace; 0: not known
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;
};

// "folder/1234.events": 1234; 0: named otherwise.
[[nodiscard]] uint32_t pid_in_path(std::string_view path);

// Keeps what a cursor tells, in the order of the telling.
class RingCollector : public ring::Visitor {
public:
    explicit RingCollector(RingRecording& recording) : recording_(recording) {}
    ring::Flow on_event(const ring::Event& event) override;
    ring::Flow on_lost(const ring::Lost& lost) override;

private:
    uint32_t keep(std::string text);

    RingRecording& recording_;
};

// Reads a file whose producer has ended, or what is there of one that still runs. The cursor is
// left at its end, for names. Where the rings do not say whose they are, a path PID.events does.
[[nodiscard]] Result<RingRecording> read_rings(ring::Cursor& cursor, const std::string& path = {});

}  // namespace tracer
