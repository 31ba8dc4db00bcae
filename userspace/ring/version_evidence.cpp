// SPDX-License-Identifier: Apache-2.0
//
// Which versions are possible follows from ids that only newer ones have, and from where the
// counters of the minor collection come: always within the phase `minor`, which is 10 up to 5.2 and
// 11 from 5.3 on. 10 is `major_mark` there, which encloses no minor collection; 11 was
// `minor_local_roots`, which is within `minor`. One minor collection settles it. Used by cursor.cpp
// for each event.
#include "ring/version_evidence.h"

#include <algorithm>

namespace tracer::ring {
namespace {

constexpr uint32_t kMinorUpTo52 = 10;
constexpr uint32_t kMinorFrom53 = 11;
constexpr uint32_t kCounterMinorPromoted = 4;
constexpr uint32_t kCounterMinorAllocated = 5;

constexpr uint64_t bit(uint32_t phase) {
    return phase < 64 ? uint64_t{1} << phase : 0;
}

}  // namespace

VersionEvidence::VersionEvidence(OcamlVersions known, bool has_names, uint32_t ring_count)
    : versions_(known), open_(ring_count) {
    if (known.oldest == known.newest) return;
    has_names ? at_least(1) : at_most(0);
    if (ring_count != 128 && ring_count != 16) at_least(3);
}

void VersionEvidence::at_least(uint8_t version) {
    versions_.oldest = std::max(versions_.oldest, version);
}

void VersionEvidence::at_most(uint8_t version) {
    versions_.newest = std::min(versions_.newest, version);
}

void VersionEvidence::see(const Event& event) {
    // What is settled, by the user or by contradiction, stays so.
    if (versions_.oldest >= versions_.newest) return;
    switch (event.kind) {
        case EventKind::begin:
            open_[event.ring] |= bit(event.id);
            see_phase(event.id);
            break;
        case EventKind::end:
            open_[event.ring] &= ~bit(event.id);
            see_phase(event.id);
            break;
        case EventKind::counter:
            see_counter(event);
            break;
        case EventKind::alloc:
        case EventKind::lifecycle:
        case EventKind::user_unit:
        case EventKind::user_int:
        case EventKind::user_begin:
        case EventKind::user_end:
        case EventKind::user_custom:
        case EventKind::unknown:
            break;
    }
}

void VersionEvidence::see_phase(uint32_t id) {
    if (id >= 48) {
        at_least(4);
    } else if (id >= 44) {
        at_least(3);
    } else if (id >= 40) {
        at_least(2);
    }
}

void VersionEvidence::see_counter(const Event& event) {
    if (event.id >= 26) {
        at_least(5);
    } else if (event.id >= 17) {
        at_least(3);
    } else if (event.id >= 11) {
        at_least(1);
    } else if (event.id == kCounterMinorPromoted || event.id == kCounterMinorAllocated) {
        const uint64_t open = open_[event.ring];
        if ((open & bit(kMinorUpTo52)) != 0) {
            at_most(2);
        } else if ((open & bit(kMinorFrom53)) != 0) {
            at_least(3);
        }
    }
}

}  // namespace tracer::ring
