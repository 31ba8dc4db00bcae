// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/ring_recording.h"
#include "tracer/base/result.h"
#include "tracer/ring/cursor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// What garbage collection cost one domain, in one of the lives of its ring.
struct DomainGcStats {
    uint32_t domain = 0;       // the ring's number, which OCaml gives to later domains again
    uint32_t life = 0;         // of that ring, from 1
    uint64_t observed_ns = 0;  // from its first event to its end, without gaps
    uint64_t gap_ns = 0;       // within which events were lost: nothing is known of it
    // In the collector: within any of its phases but domain_condition_wait, which is the program's
    // own waiting. Also while the domain is blocked and another thread collects for it.
    uint64_t gc_ns = 0;
    uint64_t waiting_ns = 0;  // of gc_ns: at barriers, for other domains
    // One each time the collector ran: outermost phases, whole ones only, shortest first.
    std::vector<uint64_t> pauses_ns;
    uint64_t minor_collections = 0;
    uint64_t major_slices = 0;
    uint64_t allocated_bytes = 0;  // in the minor heap, headers included
    uint64_t promoted_bytes = 0;

    [[nodiscard]] uint64_t working_ns() const { return gc_ns - waiting_ns; }
    [[nodiscard]] double gc_share() const {
        return observed_ns == 0 ? 0 : static_cast<double>(gc_ns) / static_cast<double>(observed_ns);
    }
};

struct GcStats {
    std::string ocaml;  // "5.4", "5.1 to 5.2"
    uint32_t pid = 0;
    std::vector<DomainGcStats> domains;  // by domain and life
    std::vector<uint64_t> pauses_ns;     // of all of them, shortest first
    uint64_t events_lost = 0;
    uint64_t words_lost = 0;
    bool is_loss_exact = true;
};

// bad_input: no event is there, or phases mean different things in the versions that may have
// written it.
[[nodiscard]] Result<GcStats> compute_gc_stats(const RingRecording& recording);

// The value that `share` (0 to 1) of them do not exceed; 0 of none. Sorted ones.
[[nodiscard]] uint64_t percentile(const std::vector<uint64_t>& sorted, double share);

[[nodiscard]] std::string gc_stats_text(const GcStats& stats);
[[nodiscard]] std::string gc_stats_json(const GcStats& stats);

}  // namespace tracer
