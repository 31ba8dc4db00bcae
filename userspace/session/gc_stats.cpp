// SPDX-License-Identifier: Apache-2.0
//
// Time in OCaml's collector from the events of its rings. Only time between the begin and the end
// of phases that were both seen is counted, and a gap ends what is open at its beginning: neither a
// lost end nor one that never comes makes a pause of hours. Relies on the order within each ring.
// Called by `tracer gc-stats`.
#include "session/gc_stats.h"

#include "tracer/abi/ring_layout.h"
#include "tracer/ring/ocaml_versions.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace tracer {
namespace {

using ring::EventKind;

// What phases are to these statistics.
enum class PhaseRole : uint8_t { work, minor, major_slice, waiting, program };

PhaseRole role_of(std::string_view name) {
    if (name == "minor") return PhaseRole::minor;
    if (name == "major_slice") return PhaseRole::major_slice;
    if (name == "stw_api_barrier" || name == "minor_leave_barrier") return PhaseRole::waiting;
    if (name == "domain_condition_wait") return PhaseRole::program;
    return PhaseRole::work;
}

class DomainClock {
public:
    DomainClock(uint32_t domain, uint32_t life, uint64_t begin_ns) : begin_ns_(begin_ns) {
        stats_.domain = domain;
        stats_.life = life;
    }

    void begin(uint32_t phase, PhaseRole role, uint64_t now_ns) {
        if (role == PhaseRole::program) return;
        stats_.minor_collections += role == PhaseRole::minor ? 1 : 0;
        stats_.major_slices += role == PhaseRole::major_slice ? 1 : 0;
        open_.push_back({phase, role, now_ns});
    }

    // What is inside of it and did not end, ends with it.
    void end(uint32_t phase, uint64_t now_ns) {
        const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                        [&](const Open& open) { return open.phase == phase; });
        if (found == open_.rend()) return;
        const auto depth = static_cast<size_t>(open_.rend() - found) - 1;
        add_waiting(depth, now_ns);
        if (depth == 0) {
            stats_.gc_ns += now_ns - open_.front().begin_ns;
            stats_.pauses_ns.push_back(now_ns - open_.front().begin_ns);
        }
        open_.resize(depth);
    }

    void counter(std::string_view name, uint64_t value) {
        if (name == "minor_allocated") stats_.allocated_bytes += value;
        if (name == "minor_promoted") stats_.promoted_bytes += value;
    }

    // Nothing is known from the loss's begin, which is now unless nothing was read before it, to
    // its end.
    void lose(const ring::Lost& lost, uint64_t now_ns) {
        close_open(now_ns);
        if (lost.begin_ns != 0 && lost.end_ns > lost.begin_ns) {
            stats_.gap_ns += lost.end_ns - lost.begin_ns;
        }
    }

    DomainGcStats finish(uint64_t now_ns) {
        close_open(now_ns);
        const uint64_t whole_ns = now_ns - begin_ns_;
        stats_.observed_ns = whole_ns - std::min(whole_ns, stats_.gap_ns);
        std::ranges::sort(stats_.pauses_ns);
        return std::move(stats_);
    }

private:
    struct Open {
        uint32_t phase;
        PhaseRole role;
        uint64_t begin_ns;
    };

    // Of those from `depth` on, the outermost one that waits.
    void add_waiting(size_t depth, uint64_t now_ns) {
        const auto is_waiting = [](const Open& open) { return open.role == PhaseRole::waiting; };
        if (std::any_of(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(depth), is_waiting)) {
            return;
        }
        const auto found =
            std::find_if(open_.begin() + static_cast<ptrdiff_t>(depth), open_.end(), is_waiting);
        if (found != open_.end()) stats_.waiting_ns += now_ns - found->begin_ns;
    }

    // Time in the collector, but no pause: nobody saw how long it was.
    void close_open(uint64_t now_ns) {
        if (open_.empty()) return;
        add_waiting(0, now_ns);
        stats_.gc_ns += now_ns - open_.front().begin_ns;
        open_.clear();
    }

    DomainGcStats stats_;
    uint64_t begin_ns_;
    std::vector<Open> open_;  // outermost first
};

// A domain's ring while it lives, and the rings of those before it.
class AllDomains {
public:
    explicit AllDomains(const RingRecording& recording) : recording_(recording) {}

    std::vector<DomainGcStats> run() {
        for (const RingItem& item : recording_.items) take(item);
        for (auto& [ring, clock] : living_) ended_.push_back(clock.finish(recording_.last_ns));
        std::ranges::sort(ended_, {}, [](const DomainGcStats& stats) {
            return std::pair(stats.domain, stats.life);
        });
        return std::move(ended_);
    }

private:
    DomainClock& clock_of(const RingItem& item) {
        if (const auto known = living_.find(item.ring); known != living_.end()) {
            return known->second;
        }
        const uint32_t life = ++lives_[item.ring];
        return living_.try_emplace(item.ring, item.ring, life, item.time_ns).first->second;
    }

    void end_life(const RingItem& item) {
        const auto known = living_.find(item.ring);
        if (known == living_.end()) return;
        ended_.push_back(known->second.finish(item.time_ns));
        living_.erase(known);
    }

    void take(const RingItem& item) {
        if (item.is_loss) {
            clock_of(item).lose(recording_.losses[item.payload_index], item.time_ns);
            return;
        }
        const ring::OcamlVersions versions = recording_.producer.versions;
        if (item.kind == EventKind::begin) {
            const PhaseRole role = role_of(ring::phase_name(versions, item.id));
            clock_of(item).begin(item.id, role, item.time_ns);
        } else if (item.kind == EventKind::end) {
            clock_of(item).end(item.id, item.time_ns);
        } else if (item.kind == EventKind::counter) {
            clock_of(item).counter(ring::counter_name(item.id), static_cast<uint64_t>(item.value));
        } else if (item.kind == EventKind::lifecycle && item.id == TR_RING_DOMAIN_SPAWN) {
            // Its end may be among what was lost.
            end_life(item);
            clock_of(item);
        } else if (item.kind == EventKind::lifecycle && item.id == TR_RING_DOMAIN_TERMINATE) {
            end_life(item);
        } else {
            clock_of(item);
        }
    }

    const RingRecording& recording_;
    std::map<uint32_t, DomainClock> living_;  // by ring
    std::map<uint32_t, uint32_t> lives_;
    std::vector<DomainGcStats> ended_;
};

}  // namespace

uint64_t percentile(const std::vector<uint64_t>& sorted, double share) {
    if (sorted.empty()) return 0;
    // The nearest rank: the smallest value that at least this share does not exceed.
    const double rank = share * static_cast<double>(sorted.size());
    auto index = static_cast<size_t>(rank);
    if (static_cast<double>(index) == rank && index > 0) --index;
    return sorted[std::min(index, sorted.size() - 1)];
}

Result<GcStats> compute_gc_stats(const RingRecording& recording) {
    if (recording.items.empty()) return fail(ErrorCode::bad_input, "the rings have no events");
    if (!recording.producer.versions.is_known_enough()) {
        return fail(ErrorCode::bad_input, "which OCaml wrote the rings cannot be told from them",
                    "--ocaml 5.3 says which it was");
    }
    GcStats stats{.ocaml = to_text(recording.producer.versions), .pid = recording.pid};
    stats.domains = AllDomains(recording).run();
    for (const DomainGcStats& domain : stats.domains) {
        stats.pauses_ns.insert(stats.pauses_ns.end(), domain.pauses_ns.begin(),
                               domain.pauses_ns.end());
    }
    std::ranges::sort(stats.pauses_ns);
    for (const ring::Lost& lost : recording.losses) {
        stats.events_lost += lost.events;
        stats.words_lost += lost.words;
        stats.is_loss_exact &= lost.is_exact;
    }
    return stats;
}

}  // namespace tracer
