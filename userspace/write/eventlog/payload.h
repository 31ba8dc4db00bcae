// SPDX-License-Identifier: Apache-2.0
//
// The payload of a variable event: how long it will be, what is wrong with it, and the writing of
// it as it is or as the format can hold it.
#pragma once

#include "tracer/write/eventlog/block_buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::eventlog {

using Parts = std::span<const BlockBuffer::Part>;

// A message of lost blocks with its header, at the front of a block; room for one is always kept.
inline constexpr size_t kLossMessageBytesMax = 96;

// The largest payload that a block in a buffer of this size has room for.
[[nodiscard]] size_t payload_bytes_max(size_t capacity_bytes);

struct PayloadPlan {
    Fault fault = Fault::none;  // the first that writing the parts as they are would be
    size_t bytes = 0;           // without a fault: exactly
};
[[nodiscard]] PayloadPlan plan_payload(Parts parts, size_t bytes_max);

// No repaired payload of these parts is longer.
[[nodiscard]] size_t bytes_when_repaired(Parts parts, size_t bytes_max);

// Writes parts that a plan found no fault with, and returns the byte after.
[[nodiscard]] std::byte* write_payload(std::byte* at, Parts parts);

struct RepairedPayload {
    size_t bytes = 0;
    uint64_t cut = 0;       // texts and lists that lost their end
    uint64_t replaced = 0;  // texts with something that was not UTF-8
};
// Writes what can be said of the parts in at most `room`, which holds their fixed fields.
[[nodiscard]] RepairedPayload write_repaired_payload(std::span<std::byte> room, Parts parts);

}  // namespace tracer::eventlog
