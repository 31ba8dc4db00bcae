// SPDX-License-Identifier: Apache-2.0
//
// The kernel has the last word on a place: some instructions it does not step over, others another
// tool holds, and a file may be gone. The places of packs may fail, so what was planned and what is
// attached differ, which is told here. A span needs
// its begin and one of its ends; relies on the roles that compiling gave the programs. Called by
// the session after each attach.
#include "packs/pack_refusals.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace tracer {
namespace {

struct Places {
    size_t planned = 0;
    size_t refused = 0;
    std::string reason;  // of the first; empty: its instruction

    [[nodiscard]] bool is_gone() const { return planned > 0 && refused >= planned; }
    Places& operator+=(const Places& other) {
        planned += other.planned;
        refused += other.refused;
        if (reason.empty()) reason = other.reason;
        return *this;
    }
};

bool ends_a_span(HitRole role) {
    return is_span_end(role) || role == HitRole::pair_end;
}

class PlaceLedger {
public:
    PlaceLedger(const AttachPlan& plan, std::span<const RefusedPlace> refused) {
        for (const AttachFile& file : plan.files) {
            for (const AttachSite& site : file.sites) ++by_id_[site.probe_id].planned;
        }
        for (const RefusedPlace& place : refused) {
            if (place.is_raise) {
                raises_.emplace(place.probe_id, place.reason);
                continue;
            }
            by_id_[place.probe_id] += {.planned = 0, .refused = 1, .reason = place.reason};
        }
        for (const ProbeDefinition& probe : plan.probes) roles_[probe.probe_id] = probe.role;
    }

    void correct(PackedProbe& probe) const {
        correct_raise(probe);
        correct_places(probe);
    }

private:
    // It is armed, and hit where something else raises the semaphore.
    void correct_raise(PackedProbe& probe) const {
        const auto raise = raises_.lower_bound(probe.first_probe_id);
        if (raise == raises_.end() || raise->first - probe.first_probe_id >= probe.probe_id_count) {
            return;
        }
        probe.status = PackedStatus::silent;
        probe.reason = raise->second;
    }

    void correct_places(PackedProbe& probe) const {
        Places hits;  // begins, or the events themselves
        Places ends;
        Places others;
        for (uint32_t i = 0; i < probe.probe_id_count; ++i) {
            const auto role = roles_.find(probe.first_probe_id + i);
            const auto places = by_id_.find(probe.first_probe_id + i);
            if (role == roles_.end() || places == by_id_.end()) continue;
            const bool is_other = role->second == HitRole::pair_until;
            (is_other ? others : ends_a_span(role->second) ? ends : hits) += places->second;
        }
        Places all = hits;
        all += ends;
        all += others;
        const size_t lost = all.refused;
        if (lost == 0) return;
        if (hits.is_gone() || ends.is_gone()) {
            probe.status = PackedStatus::refused;
            probe.reason = all.reason;
            if (probe.reason.empty()) {
                probe.reason = fmt::format("the kernel can put no probe on its {}",
                                           hits.is_gone() ? "first instruction" : "end");
            }
        } else {
            probe.reason += fmt::format(
                "{}{} of its {} places left out, {}", probe.reason.empty() ? "" : "; ", lost,
                probe.sites, all.reason.empty() ? "where the kernel can put no probe" : all.reason);
        }
        probe.sites -= std::min(probe.sites, lost);
    }

    std::map<uint32_t, Places> by_id_;
    std::map<uint32_t, std::string> raises_;  // why not, by the probe that asked for it
    std::map<uint32_t, HitRole> roles_;
};

}  // namespace

void note_refused_places(std::span<PackedFile> files,
                         const AttachPlan& plan,
                         std::span<const RefusedPlace> refused) {
    if (refused.empty()) return;
    const PlaceLedger ledger(plan, refused);
    for (PackedFile& file : files) {
        for (PackedProbe& probe : file.probes) {
            if (probe.is_armed()) ledger.correct(probe);
        }
    }
    note_lost_replacements(files);
}

void note_lost_replacements(std::span<PackedFile> files) {
    for (PackedFile& file : files) {
        for (PackedProbe& probe : file.probes) {
            if (probe.replaced_by.empty() || probe.status != PackedStatus::off) continue;
            const auto other =
                std::ranges::find(file.probes, probe.replaced_by, &PackedProbe::name);
            if (other == file.probes.end() || other->is_armed()) continue;
            probe.status = PackedStatus::refused;
            probe.reason = fmt::format(
                "{}, which says it too, was to be armed in its place and could not be; -e with its "
                "text (in --json) records this one",
                other->name);
        }
    }
}

}  // namespace tracer
