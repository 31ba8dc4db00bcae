// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/probe_definition.h"
#include "tracer/model/definition.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// A hit of a built-in probe that userspace makes, as if it had come from a ring: the first slot is
// a text (cut at kOwnTextBytesMax), with the numbers behind it.
struct OwnHit {
    uint32_t probe_id = 0;
    uint32_t pid = 0;
    uint32_t tid = 0;
    uint64_t time_ns = 0;
    std::string_view text;
    std::span<const uint64_t> numbers = {};
};

inline constexpr size_t kOwnTextBytesMax = 1024;

[[nodiscard]] std::vector<std::byte> make_own_hit(const OwnHit& hit);

// What such hits are: an instant of the category `tracer`, and the probe that they are of.
[[nodiscard]] model::Point own_point(model::PointIndex index,
                                     std::string name,
                                     std::vector<model::Argument> arguments);
[[nodiscard]] ProbeDefinition own_definition(uint32_t probe_id,
                                             model::PointIndex index,
                                             std::string_view name,
                                             std::vector<model::ValueType> slots);

}  // namespace tracer
