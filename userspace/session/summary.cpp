// SPDX-License-Identifier: Apache-2.0
//
// The ledger. Four parties count on their own: the kernel's programs (hits, ring_full), each
// ring's sequence, the merger (records, gaps) and the output (received, written). Here their sums
// are held against each other; where they differ although nothing explains it, the summary says
// so instead of choosing one. Called once, at the end of a recording.
#include "session/summary.h"

#include "session/buffer_size.h"
#include "session/human.h"
#include "session/summary_packs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

// The ring's own header and, on average, an integer argument or two.
constexpr uint64_t kTypicalRecordBytes = 64;

std::string builtin_name(uint32_t probe_id) {
    switch (probe_id) {
        case TR_PROBE_sched_switch:
            return "sched:switch (built in)";
        case TR_PROBE_sched_wakeup:
            return "sched:wakeup (built in)";
        case TR_PROBE_task:
            return "tasks of the whole machine (built in)";
        case TR_PROBE_armed:
            return "tracer:probes armed (built in)";
        case TR_PROBE_titled:
            return "tracer:process titles (built in)";
        case TR_PROBE_mark:
            return "tracer:mark (built in)";
        case TR_PROBE_paused:
            return "tracer:paused (built in)";
        case TR_PROBE_resumed:
            return "tracer:resumed (built in)";
        case TR_PROBE_ring:
            return "events of programs' own rings (built in)";
        default:
            return fmt::format("unknown (id {})", probe_id);
    }
}

// Everything else is counted of hits.
bool has_run(const tr_probe_counters& counters) {
    return counters.hits + counters.filtered + counters.bad_probe + counters.ring_full != 0;
}

void add_counters(Summary::Probe& sum, const tr_probe_counters& counters) {
    sum.hits += counters.hits;
    sum.ring_full += counters.ring_full;
    sum.filtered += counters.filtered;
    sum.retried += counters.retried;
    sum.condition += counters.condition;
    sum.unknown += counters.unknown;
    sum.sampled_out += counters.sampled_out;
    sum.throttled += counters.throttled;
    sum.unopened += counters.unopened;
}

void add_probes(Summary& summary, const SummaryInputs& inputs) {
    std::map<uint32_t, const ProbeDefinition*> specs;
    for (const ProbeDefinition& probe : inputs.probes) specs[probe.probe_id] = &probe;
    const PackNames packs(inputs.packs);
    // The user's own and a pack's of the same text are told apart.
    std::map<std::pair<std::string, std::string>, size_t> rows;
    for (const KernelCounters::Probe& probe : inputs.kernel.probes) {
        const auto spec = specs.find(probe.probe_id);
        const bool is_defined = spec != specs.end();
        const uint64_t written = inputs.output.received(probe.probe_id);
        // Ids between the built-in ones and the user's first belong to nobody.
        if (!is_defined && !has_run(probe.counters) && written == 0) continue;
        const std::string name = is_defined ? spec->second->spec : builtin_name(probe.probe_id);
        const std::string pack = packs.name_of(probe.probe_id);
        const auto [row, is_new] = rows.emplace(std::pair(name, pack), summary.probes.size());
        if (is_new) summary.probes.push_back({.spec = name, .pack = pack});
        if (is_new && !is_defined) ++summary.builtin_count;
        Summary::Probe& sum = summary.probes[row->second];
        add_counters(sum, probe.counters);
        sum.written += written;
        if (probe.probe_id < inputs.after_limit.size()) {
            sum.after_limit += inputs.after_limit[probe.probe_id];
        }
        if (is_defined && spec->second->sample_every != 0) {
            sum.sample_every = spec->second->sample_every;
            sum.sampled_written += written;
            sum.sampled_lost += probe.counters.ring_full;
        }
        summary.filtered += probe.counters.filtered;
        if (probe.counters.bad_probe != 0) {
            summary.disagreements.push_back(
                fmt::format("{}: {} runs with an unknown cookie", name, probe.counters.bad_probe));
        }
    }
}

void add_rings(Summary& summary, const SummaryInputs& inputs) {
    const auto& received = inputs.rings;
    const auto& rings = inputs.kernel.rings;
    for (size_t i = 0; i < rings.size(); ++i) {
        const bool is_task_ring = i + 1 == rings.size();
        Summary::Ring ring{.name = is_task_ring ? "tasks" : fmt::format("cpu{}", i),
                           .attempts = rings[i].attempts,
                           .received = i < received.size() ? received[i].records
                                                           : rings[i].attempts - rings[i].lost,
                           .lost = rings[i].lost};
        summary.attempts += ring.attempts;
        summary.loss.ring_full += ring.lost;
        if (inputs.abandoned && ring.attempts > ring.received + ring.lost) {
            summary.loss.abandoned += ring.attempts - ring.received - ring.lost;
        }
        summary.rings.push_back(std::move(ring));
    }
}

// hits = written + lost + kept out by probe, attempts = received + lost by ring, and what the
// sequence's gaps say is what the kernel says. A malformed record belongs to no probe, and explains
// a difference.
void compare(Summary& summary, const SummaryInputs& inputs) {
    if (inputs.abandoned) return;
    const uint64_t malformed = summary.loss.malformed;
    for (const Summary::Probe& probe : summary.probes) {
        const uint64_t seen = probe.written + probe.ring_full + probe.kept_out();
        if (probe.hits >= seen && probe.hits - seen <= malformed) continue;
        summary.disagreements.push_back(
            fmt::format("{}: {} hits, but {} written + {} lost + {} kept out", probe.spec,
                        probe.hits, probe.written, probe.ring_full, probe.kept_out()));
    }
    // finish() has made one ledger a ring; a capture read back has none.
    const size_t count = std::min(summary.rings.size(), inputs.rings.size());
    for (size_t i = 0; i < count; ++i) {
        const Summary::Ring& ring = summary.rings[i];
        const uint64_t seen = ring.received + ring.lost;
        if (ring.attempts < seen || ring.attempts - seen > malformed) {
            summary.disagreements.push_back(
                fmt::format("ring {}: {} attempts, but {} received + {} lost", ring.name,
                            ring.attempts, ring.received, ring.lost));
        }
        const uint64_t in_gaps = inputs.rings[i].lost_in_gaps;
        if (in_gaps != ring.lost) {
            summary.disagreements.push_back(fmt::format(
                "ring {}: {} lost, but its gaps add up to {}", ring.name, ring.lost, in_gaps));
        }
    }
}

void warn_if_empty(Summary& summary, const SummaryInputs& inputs) {
    // What is missing may be just what was hit.
    if (inputs.abandoned) return;
    uint64_t user_hits = 0;
    uint64_t user_filtered = 0;
    uint64_t all_hits = 0;
    // Packs come unasked: that a program has not collected garbage yet is no mistake.
    const PackNames packs(inputs.packs);
    const bool has_named_any = std::ranges::any_of(
        inputs.probes,
        [&](const ProbeDefinition& probe) { return packs.name_of(probe.probe_id).empty(); });
    for (const KernelCounters::Probe& probe : inputs.kernel.probes) {
        all_hits += probe.counters.hits;
        if (probe.probe_id < TR_PROBE_FIRST_USER) continue;
        if (!packs.name_of(probe.probe_id).empty()) continue;
        user_hits += probe.counters.hits;
        user_filtered += probe.counters.filtered;
    }
    if (has_named_any && user_hits == 0) {
        summary.warnings.push_back(
            user_filtered > 0
                ? fmt::format("no probe was hit by the recorded processes, but {} times by "
                              "others: is this the right --pid?",
                              user_filtered)
                : std::string("no probe was hit: the program did not come by there in this time, "
                              "or runs another copy of the file (`tracer list --pid N`)"));
    } else if (all_hits == 0) {
        summary.warnings.push_back(
            inputs.record_sched
                ? "the trace is empty: the recorded processes slept all the time"
                : "the trace is empty: with --no-sched only processes' births and deaths are "
                  "recorded; name probes with -e");
    }
}

}  // namespace

double Summary::loss_rate() const {
    const uint64_t lost = loss.total();
    const uint64_t all = attempts + loss.missed;
    if (all == 0) return 0;
    return std::min(1.0, static_cast<double>(lost) / static_cast<double>(all));
}

Summary make_summary(const SummaryInputs& inputs) {
    Summary summary;
    const OutputFacts facts = inputs.output.facts();
    const DecoderCounters& decoder = facts.decoder;
    summary.events = facts.events;
    summary.held_back = facts.held_back;
    summary.bytes = inputs.output.bytes();
    summary.loss.sink_full = std::max(facts.writer.no_room, decoder.lost_to_sink);
    summary.loss.refused = facts.writer.refused;
    summary.loss.missed = inputs.kernel.missed_by_kernel;
    summary.loss.malformed = inputs.merger.malformed + decoder.malformed + decoder.unknown_probes +
                             decoder.unknown_kinds;
    summary.spans = {.orphan_ends = decoder.spans_orphan_end,
                     .begun_before = decoder.spans_begun_before,
                     .begin_kept_out = decoder.spans_begin_kept_out,
                     .unwound = decoder.spans_unwound,
                     .cut_by_loss = decoder.spans_cut_by_loss,
                     .closed_at_exit = decoder.spans_closed_at_exit,
                     .closed_at_end = decoder.spans_closed_at_end,
                     .closed_at_pause = decoder.spans_closed_at_pause,
                     .until = decoder.spans_ended_by_until,
                     .key_reused = decoder.spans_key_reused,
                     .crossed = decoder.spans_crossed,
                     .key_missing = decoder.spans_key_missing,
                     .too_deep = decoder.spans_too_deep,
                     .keys_beyond_limit = decoder.spans_keys_beyond_limit,
                     .lines_beyond_limit = decoder.lines_beyond_limit};
    summary.durations = facts.spans;
    summary.strings_cut = decoder.strings_cut;
    summary.arguments_missing = decoder.arguments_missing;
    summary.wakeups_dropped = decoder.wakeups_dropped;
    summary.late = inputs.merger.late;
    summary.gaps = inputs.merger.gaps;
    summary.ring_bytes = inputs.ring_bytes;
    summary.packs = inputs.packs;
    summary.is_checked = !inputs.abandoned;
    add_probes(summary, inputs);
    add_rings(summary, inputs);
    if (summary.loss.ring_full > 0 && inputs.ring_bytes > 0) {
        summary.ring_bytes_enough = enough_ring_bytes(inputs.ring_bytes, summary.loss.ring_full,
                                                      summary.gaps, kTypicalRecordBytes);
    }
    compare(summary, inputs);
    warn_if_empty(summary, inputs);
    return summary;
}

void add_shared_rings(Summary& summary, const std::vector<RingTally>& rings) {
    summary.shared_rings = rings;
    for (const RingTally& ring : rings) {
        summary.attempts += ring.events + ring.lost_events;
        summary.loss.overwritten += ring.lost_events - ring.malformed_events;
        summary.loss.malformed += ring.malformed_events;
        if (!ring.is_exact && ring.lost_events > 0) {
            summary.warnings.push_back(fmt::format(
                "{} words of process {}'s rings were overwritten before they were read: about {} "
                "events (an estimate: OCaml does not number them; a larger ring, "
                "OCAMLRUNPARAM=e=18, holds more)",
                human_count(ring.lost_words), ring.pid, human_count(ring.lost_events)));
        }
        if (ring.dropped + ring.missing != 0) {
            summary.warnings.push_back(fmt::format(
                "{} events of process {} never got into a ring: {} of signal handlers within a "
                "write, {} of threads without a ring (TRACER_RING_COUNT={} was not enough, or the "
                "disk was full)",
                human_count(ring.dropped + ring.missing), ring.pid, human_count(ring.dropped),
                human_count(ring.missing), ring.ring_count));
        }
        if (!ring.problem.empty()) {
            summary.warnings.push_back(fmt::format("the rings of process {} were read in part: {}",
                                                   ring.pid, ring.problem));
        }
    }
}

void count_unwritten(Summary& summary, uint64_t bytes_written) {
    if (bytes_written >= summary.bytes) return;
    // Rounded down: nothing that is missing is called written.
    const double arrived =
        std::floor(static_cast<double>(summary.events) * static_cast<double>(bytes_written) /
                   static_cast<double>(summary.bytes));
    summary.loss.unwritten = summary.events - static_cast<uint64_t>(arrived);
    summary.events -= summary.loss.unwritten;
    summary.bytes = bytes_written;
}

}  // namespace tracer
