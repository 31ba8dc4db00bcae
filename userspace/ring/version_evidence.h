// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/ring/cursor.h"
#include "tracer/ring/ocaml_versions.h"

#include <cstdint>
#include <vector>

namespace tracer::ring {

// What the events of a file tell about the OCaml version that wrote it.
class VersionEvidence {
public:
    VersionEvidence() = default;
    // Begins with what is known. `ring_count`: 5.0 to 5.2 always have 128, or 16 on 32 bits.
    VersionEvidence(OcamlVersions known, bool has_names, uint32_t ring_count);

    void see(const Event& event);
    // Spans that are open in the ring may have ended.
    void see_loss(uint32_t ring) { open_[ring] = 0; }

    [[nodiscard]] OcamlVersions versions() const { return versions_; }

private:
    void at_least(uint8_t version);
    void at_most(uint8_t version);
    void see_phase(uint32_t id);
    void see_counter(const Event& event);

    OcamlVersions versions_;
    std::vector<uint64_t> open_;  // of each ring: bit i, phase i of the first 64 is open
};

}  // namespace tracer::ring
