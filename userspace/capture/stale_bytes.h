// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/probe_definition.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracer {

// Knows which bytes of a record the kernel's programs wrote. They reserve a few constant sizes in a
// ring that is used again and again, and what they leave untouched are bytes of earlier records: of
// other processes, of arguments nobody asked for. Captures are given away, so those are zeroed when
// a record is copied into one, where it costs the hot path nothing.
class StaleBytes {
public:
    void add(const std::vector<ProbeDefinition>& probes);

    // `record`: whole, at least a header. A hit of a probe that was never added keeps its header
    // alone: without a definition nobody can read the rest.
    void clear(std::span<std::byte> record) const;

private:
    struct Layout {
        uint16_t slot_count = 0;
        uint16_t strings = 0;  // bit i: slot i is a struct tr_string_slot
    };

    void clear_hit(std::span<std::byte> record, uint32_t probe_id, uint16_t unreadable) const;

    std::vector<Layout> layouts_;  // by probe id
};

}  // namespace tracer
