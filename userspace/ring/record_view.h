// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/abi/ring_layout.h"
#include "tracer/ring/cursor.h"

#include <cstdint>
#include <span>

namespace tracer::ring {

// The first word of a record, taken apart.
struct RecordHeader {
    explicit RecordHeader(uint64_t word)
        : words(static_cast<uint32_t>(word >> TR_RING_LENGTH_SHIFT)),
          id(static_cast<uint32_t>(word >> TR_RING_ID_SHIFT) & TR_RING_ID_MASK),
          type(static_cast<uint8_t>(word >> TR_RING_TYPE_SHIFT & TR_RING_TYPE_MASK)),
          is_user((word >> TR_RING_USER_BIT & 1) != 0),
          sequence(word & TR_RING_SEQUENCE_MASK) {}

    uint32_t words;  // of the whole record; 0 in no valid one
    uint32_t id;
    uint8_t type;
    bool is_user;
    uint64_t sequence;

    [[nodiscard]] bool is_filler() const { return !is_user && type == TR_RING_FILLER && id == 0; }
};

// The event of a record that is no filler; two words at least, which the event borrows.
[[nodiscard]] Event make_event(const RecordHeader& header, std::span<const uint64_t> record);

}  // namespace tracer::ring
