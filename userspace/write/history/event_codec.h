// SPDX-License-Identifier: Apache-2.0
//
// One model event as bytes of our own memory, and back. No format for files: the layout is that of
// this program's structs.
#pragma once

#include "tracer/model/event.h"
#include "tracer/write/plain_instant.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::history {

// Of the event as encode() writes it. Of more values than a point can have it takes the first ones.
[[nodiscard]] size_t encoded_size(const model::Event& event);

// `room` is of that size.
void encode(const model::Event& event, std::span<std::byte> room);

// The event at the front of the bytes. Its texts lie in the bytes, its values in this object.
class DecodedEvent {
public:
    explicit DecodedEvent(std::span<const std::byte> bytes);
    DecodedEvent(const DecodedEvent&) = delete;
    DecodedEvent& operator=(const DecodedEvent&) = delete;
    ~DecodedEvent() = default;

    [[nodiscard]] model::Event& event() { return event_; }
    [[nodiscard]] size_t size() const { return size_; }

private:
    std::array<model::Value, ExpandedInstant::kArgumentsMax> values_;
    model::Event event_;
    size_t size_ = 0;
};

}  // namespace tracer::history
