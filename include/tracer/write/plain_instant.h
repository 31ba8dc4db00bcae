// SPDX-License-Identifier: Apache-2.0
//
// The commonest event by far, in the form in which it costs least: an instant whose arguments are
// all integers or pointers, none missing. It says nothing that model::Instant could not say.
#pragma once

#include "tracer/model/event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tracer {

struct PlainInstant {
    uint64_t time_ns;
    model::PointIndex point;
    model::ThreadIndex thread;
    // Of the point's arguments, as it declares them: s32, u32, s64, u64 or pointer.
    std::span<const model::ValueType> types;
    // For each of them 8 bytes in host order that hold it as model::Value::bits does. At any
    // alignment, for they may still lie where the kernel put them. Borrowed, as values are.
    std::span<const std::byte> words;
    uint16_t cpu = model::kNoCpu;
};

// The same instant as a model event, valid as long as this object. Of more arguments than a point
// can have it takes the first ones.
class ExpandedInstant {
public:
    static constexpr size_t kArgumentsMax = 15;

    explicit ExpandedInstant(const PlainInstant& plain) {
        const size_t count =
            std::min({plain.types.size(), plain.words.size() / sizeof(uint64_t), values_.size()});
        for (size_t i = 0; i < count; ++i) {
            values_[i].type = plain.types[i];
            std::memcpy(&values_[i].bits, plain.words.data() + i * sizeof(uint64_t),
                        sizeof(uint64_t));
        }
        event_ = {plain.time_ns, model::Instant{plain.point, plain.thread, {values_.data(), count}},
                  plain.cpu};
    }
    ~ExpandedInstant() = default;
    ExpandedInstant(const ExpandedInstant&) = delete;
    ExpandedInstant& operator=(const ExpandedInstant&) = delete;

    [[nodiscard]] const model::Event& event() const { return event_; }

private:
    std::array<model::Value, kArgumentsMax> values_;
    model::Event event_;
};

}  // namespace tracer
