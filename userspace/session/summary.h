// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/merger.h"
#include "packs/pack_plan.h"
#include "probe/kernel_recorder.h"
#include "session/end_watch.h"
#include "session/late_counts.h"
#include "session/output.h"
#include "session/ring_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// What a recording did and what it missed: passive, printed by summary_text.h and summary_json.h.
struct Summary {
    std::string path;  // "-": standard output
    OutputFiles files;
    // Where it went after one another, if that was changed while it ran; `path` is the first.
    struct Sink {
        std::string path;
        uint64_t bytes = 0;  // that got there
        std::string error;   // empty: none
    };
    std::vector<Sink> sinks;
    std::string format;
    uint64_t bytes = 0;
    double seconds = 0;  // from attached to detached, without pauses
    double paused_seconds = 0;
    uint64_t pauses = 0;
    double waited_seconds = 0;  // from armed to opened
    uint64_t held_back = 0;     // events before --start-when came true; in none of the files
    uint64_t events = 0;        // written
    std::string ended_by;
    std::string stop_condition;  // that came true; empty: none
    std::string command_end;     // of `-- cmd`: how it ended, or that it still runs

    struct Probe {
        std::string spec;
        std::string pack;  // "python/gc": the pack's probe that this is one of; empty: the user's
        uint64_t hits = 0;
        uint64_t written = 0;    // reached the output
        uint64_t ring_full = 0;  // hits - written - kept_out(), when nothing is wrong
        uint64_t filtered = 0;   // in tasks not asked for: not among hits
        uint64_t retried = 0;
        // Kept out by the probe's own clauses, among hits: not lost.
        uint64_t condition = 0;     // it was false
        uint64_t unknown = 0;       // its operand could not be read
        uint64_t sampled_out = 0;   // by sample 1/N
        uint64_t throttled = 0;     // by rate N/s
        uint64_t unopened = 0;      // ends of spans that were kept out
        uint64_t after_limit = 0;   // came after --max-size was reached
        uint32_t sample_every = 0;  // N of 1/N; 0: not sampled
        [[nodiscard]] bool is_never_hit() const { return hits + filtered == 0; }
        [[nodiscard]] uint64_t kept_out() const {
            return condition + unknown + sampled_out + throttled + unopened + after_limit;
        }
        uint64_t sampled_written = 0;  // of `written`, and of `ring_full`: without ends of spans
        uint64_t sampled_lost = 0;
        // What those stand for: all hits for which the condition, if any, was true.
        [[nodiscard]] uint64_t stand_for() const {
            return sampled_written + sampled_lost + sampled_out + throttled;
        }
    };
    // One a spec, in the order of their ids. Built-in sources come first, and only if they ran.
    std::vector<Probe> probes;
    size_t builtin_count = 0;  // of `probes`

    struct Ring {
        std::string name;
        uint64_t attempts = 0;
        uint64_t received = 0;
        uint64_t lost = 0;
    };
    std::vector<Ring> rings;

    struct Loss {
        uint64_t ring_full = 0;
        uint64_t missed = 0;     // by the kernel
        uint64_t sink_full = 0;  // the output did not keep up
        uint64_t refused = 0;    // the format cannot say it
        uint64_t malformed = 0;
        uint64_t abandoned = 0;    // left in the rings by a second ^C
        uint64_t overwritten = 0;  // by programs in their own rings, before they were read
        uint64_t unwritten = 0;  // on their way when the output failed: by their share of the bytes
        [[nodiscard]] uint64_t total() const {
            return ring_full + missed + sink_full + refused + malformed + abandoned + overwritten +
                   unwritten;
        }
    } loss;

    struct Spans {
        uint64_t orphan_ends = 0;
        uint64_t begun_before = 0;    // ends of spans begun before the recording: no repair
        uint64_t begin_kept_out = 0;  // ends of spans whose begins were kept out: no repair
        uint64_t unwound = 0;
        uint64_t cut_by_loss = 0;
        uint64_t closed_at_exit = 0;
        uint64_t closed_at_end = 0;
        uint64_t closed_at_pause = 0;  // no repair
        uint64_t until = 0;            // ended by their third event: no repair
        uint64_t key_reused = 0;       // another began with their key
        uint64_t crossed = 0;          // ended after what was around them
        uint64_t key_missing = 0;
        uint64_t too_deep = 0;
        uint64_t keys_beyond_limit = 0;
        uint64_t lines_beyond_limit = 0;  // of events and states too
    } spans;
    std::vector<SpanTally> durations;  // of each span that there is

    LateCounts armed_late;
    std::vector<RingTally> shared_rings;  // of programs that write events themselves
    std::vector<PackedFile> packs;        // what was recognised, and what became of its probes

    uint64_t attempts = 0;  // of all rings
    uint64_t filtered = 0;  // sum over probes
    uint64_t strings_cut = 0;
    uint64_t arguments_missing = 0;
    uint64_t wakeups_dropped = 0;
    uint64_t late = 0;  // written out of time order
    uint64_t gaps = 0;
    uint64_t ring_bytes = 0;
    uint64_t ring_bytes_enough = 0;  // 0: nothing was lost there
    std::vector<std::string> warnings;
    bool is_checked = true;  // the sums could be compared: nothing was abandoned or cut off
    std::vector<std::string> disagreements;  // sums that should agree and do not: a bug of ours

    // Of everything that should have been recorded, 0..1.
    [[nodiscard]] double loss_rate() const;
};

// What make_summary() puts together; borrowed for the call.
struct SummaryInputs {
    const KernelCounters& kernel;
    const MergerCounters& merger;
    const std::vector<RingLedger>& rings;  // empty: not known (a capture read back)
    const Output& output;
    const std::vector<ProbeDefinition>& probes;
    std::vector<PackedFile> packs = {};
    uint64_t ring_bytes = 0;                 // 0: not known
    bool abandoned = false;                  // the rings were not drained to their end
    std::vector<uint64_t> after_limit = {};  // by probe id (size_limit.h)
    bool record_sched = true;
};

// Fills in the numbers, compares the sums, and adds the warnings that follow from them.
[[nodiscard]] Summary make_summary(const SummaryInputs& inputs);

// Programs' own rings: their losses, and what to do about them.
void add_shared_rings(Summary& summary, const std::vector<RingTally>& rings);

// The output failed, and of the bytes that the summary counts as written only so many got there:
// moves the rest, and its events, to the losses.
void count_unwritten(Summary& summary, uint64_t bytes_written);

}  // namespace tracer
