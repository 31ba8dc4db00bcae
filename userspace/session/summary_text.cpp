// SPDX-License-Identifier: Apache-2.0
//
// The summary for a person. The rate of loss comes before everything else: a reader who stops
// after one line must know it. Rows that are zero are left out unless asked for.
#include "session/summary_text.h"

#include "session/human.h"
#include "session/summary_packs.h"
#include "session/summary_spans.h"
#include "sink/compressed_copy.h"
#include "tracer/write/formats.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tracer {
namespace {

using Lines = std::back_insert_iterator<std::string>;

void add_loss_line(const Summary& summary, Lines out) {
    const uint64_t lost = summary.loss.total();
    if (lost == 0) return;
    if (summary.attempts == 0) {
        // A capture that was cut before its counters: how many there should be is not known.
        fmt::format_to(out, "LOST {} events", human_count(lost));
    } else {
        fmt::format_to(out, "LOST {:.2g} % of all events: {} of {}", summary.loss_rate() * 100,
                       human_count(lost), human_count(summary.attempts + summary.loss.missed));
    }
    if (summary.ring_bytes_enough > summary.ring_bytes) {
        fmt::format_to(out, "; rings of {} were too small, --buffer {}/cpu would have been enough",
                       human_bytes(summary.ring_bytes), size_option(summary.ring_bytes_enough));
    }
    fmt::format_to(out, "\n");
}

std::string ended_by_text(const Summary& summary) {
    if (summary.ended_by == "interrupted") return "stopped by a signal";
    if (summary.ended_by == "stopped") return "stopped on request";
    if (summary.ended_by == "duration") return "stopped after the time asked for";
    if (summary.ended_by == "stop-when") {
        return fmt::format("stopped when {}", printable(summary.stop_condition));
    }
    if (summary.ended_by == "max-size") return "stopped at --max-size";
    if (summary.ended_by == "targets-ended") return "stopped when its targets ended";
    if (summary.ended_by == "output-failed") return "STOPPED: the output could not be written";
    if (summary.ended_by == "input-end") return "the whole capture";
    if (summary.ended_by == "input-malformed") return "STOPPED: the rest cannot be read";
    return summary.ended_by;
}

// More rows than this would push the first line, which says what was lost, off the screen.
constexpr size_t kRowsMax = 20;

// What the probe's clauses kept out, and what is left stands for.
void add_kept_out(const Summary::Probe& probe, Lines out) {
    std::string text;
    const auto add = [&](const char* cause, uint64_t count) {
        if (count == 0) return;
        fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ",
                       human_count(count), cause);
    };
    add("condition false", probe.condition);
    add("condition unknown (unreadable)", probe.unknown);
    add("sampled out", probe.sampled_out);
    add("over the rate", probe.throttled);
    add("ends of spans not recorded", probe.unopened);
    add("after --max-size", probe.after_limit);
    if (!text.empty()) fmt::format_to(out, "{:>42}  not recorded: {}\n", "", text);
    if (probe.sample_every != 0) {
        fmt::format_to(out, "{:>42}  each event is 1 of {}: {} stand for {}\n", "",
                       human_count(probe.sample_every), human_count(probe.sampled_written),
                       human_count(probe.stand_for()));
    }
}

// A pack's text may be a table of names over several lines of its file, which nobody typed: its
// beginning is enough beside the pack's name.
std::string shown_spec(const Summary::Probe& probe, bool verbose) {
    constexpr size_t kBytesMax = 100;
    constexpr std::string_view kMore = "...";
    if (probe.pack.empty() || verbose) return printable(probe.spec);
    std::string text;
    for (const char c : probe.spec) {
        if (c == ' ' && text.ends_with(' ')) continue;
        text += c;
    }
    if (text.size() > kBytesMax) {
        size_t end = kBytesMax - kMore.size();
        // Not within a character of UTF-8.
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        text = text.substr(0, end).append(kMore);
    }
    return printable(text);
}

void add_row(const Summary::Probe& probe, const SummaryTextOptions& options, Lines out) {
    fmt::format_to(out, "{:>14} {:>14} {:>12}  {}{}{}\n", human_count(probe.hits),
                   human_count(probe.written), human_count(probe.ring_full),
                   shown_spec(probe, options.verbose), probe.pack.empty() ? "" : "  # ",
                   probe.pack);
    add_kept_out(probe, out);
    if (options.verbose && probe.filtered + probe.retried > 0) {
        fmt::format_to(out, "{:>42}  filtered {}, read at the second try {}\n", "",
                       human_count(probe.filtered), human_count(probe.retried));
    }
}

std::string count_of(uint64_t count, const char* thing) {
    return fmt::format("{} {}{}", human_count(count), thing, count == 1 ? "" : "s");
}

// The rows left out, as one.
Summary::Probe sum_of(std::span<const Summary::Probe> probes) {
    Summary::Probe sum;
    size_t never_hit = 0;
    for (const Summary::Probe& probe : probes) {
        sum.hits += probe.hits;
        sum.written += probe.written;
        sum.ring_full += probe.ring_full;
        sum.condition += probe.condition;
        sum.unknown += probe.unknown;
        sum.sampled_out += probe.sampled_out;
        sum.throttled += probe.throttled;
        sum.unopened += probe.unopened;
        sum.after_limit += probe.after_limit;
        if (probe.hits == 0) ++never_hit;
    }
    sum.spec = fmt::format("{} more probes, {} of them never hit (-v lists all)",
                           human_count(probes.size()), human_count(never_hit));
    return sum;
}

// In the order they were named; with more than kRowsMax the busiest.
void add_table(const Summary& summary, const SummaryTextOptions& options, Lines out) {
    if (summary.probes.empty()) return;
    fmt::format_to(out, "{:>14} {:>14} {:>12}  {}\n", "hits", "written", "lost", "probe");
    const std::span<const Summary::Probe> all = summary.probes;
    for (const Summary::Probe& probe : all.first(summary.builtin_count)) {
        add_row(probe, options, out);
    }
    std::vector<Summary::Probe> named;
    // What a pack brought and nothing hit is no news.
    std::ranges::copy_if(all.subspan(summary.builtin_count), std::back_inserter(named),
                         [&](const Summary::Probe& probe) {
                             return options.verbose || probe.pack.empty() || probe.hits != 0;
                         });
    if (options.verbose || named.size() <= kRowsMax) {
        for (const Summary::Probe& probe : named) add_row(probe, options, out);
        return;
    }
    std::vector<Summary::Probe> sorted = std::move(named);
    std::ranges::stable_sort(sorted, std::greater{}, &Summary::Probe::hits);
    const std::span<const Summary::Probe> rows = sorted;
    for (const Summary::Probe& probe : rows.first(kRowsMax)) add_row(probe, options, out);
    add_row(sum_of(rows.subspan(kRowsMax)), {}, out);
}

void add_counts(const char* title,
                std::initializer_list<std::pair<const char*, uint64_t>> counts,
                bool with_zeros,
                Lines out) {
    std::string text;
    for (const auto& [name, count] : counts) {
        if (count == 0 && !with_zeros) continue;
        fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", name,
                       human_count(count));
    }
    if (!text.empty()) fmt::format_to(out, "{}: {}\n", title, text);
}

void add_late_line(const LateCounts& late, bool verbose, Lines out) {
    if (late.files > 0) {
        fmt::format_to(out, "armed late: {} in {}, at most {:.1f} ms after it was mapped\n",
                       count_of(late.sites, "site"), count_of(late.files, "file"),
                       static_cast<double>(late.delay_max_ns) / 1e6);
    }
    add_counts("files run late",
               {{"left out", late.files_left_out},
                {"gone before they could be opened", verbose ? late.files_gone : 0},
                {"mappings not told by the kernel", late.mappings_lost}},
               false, out);
}

void add_ring_lines(const std::vector<RingTally>& rings, Lines out) {
    for (const RingTally& ring : rings) {
        fmt::format_to(out, "rings of process {} ({}): {}", ring.pid, ring.runtime,
                       count_of(ring.events, "event"));
        if (ring.lost_events > 0) {
            fmt::format_to(out, ", {}{} lost", ring.is_exact ? "" : "about ",
                           human_count(ring.lost_events));
        }
        fmt::format_to(out, "\n");
    }
}

void add_ledger(const Summary& summary, const SummaryTextOptions& options, Lines out) {
    const Summary::Loss& loss = summary.loss;
    add_counts("lost",
               {{"ring full", loss.ring_full},
                {"missed by the kernel", loss.missed},
                {"output full", loss.sink_full},
                {"refused by the format", loss.refused},
                {"malformed", loss.malformed},
                {"abandoned in the rings", loss.abandoned},
                {"overwritten in programs' own rings", loss.overwritten},
                {"not yet written when the output failed, about", loss.unwritten}},
               options.verbose, out);
    const Summary::Spans& spans = summary.spans;
    add_counts("spans repaired",
               {{"ends without a begin", spans.orphan_ends},
                {"unwound", spans.unwound},
                {"cut by loss", spans.cut_by_loss},
                {"closed at their thread's exit", spans.closed_at_exit},
                {"open at the end", spans.closed_at_end},
                {"key begun again", spans.key_reused},
                {"crossed", spans.crossed},
                {"key unreadable", spans.key_missing},
                {"nested too deep", spans.too_deep},
                {"more open keys than followed", spans.keys_beyond_limit},
                {"without a line of their own", spans.lines_beyond_limit}},
               options.verbose, out);
    add_counts("also",
               {{"ends of spans begun before the recording, the probes or a fork, or in a pause",
                 spans.begun_before},
                {"ends of spans whose begins were kept out", spans.begin_kept_out},
                {"spans open when it was paused", spans.closed_at_pause},
                {"strings cut", summary.strings_cut},
                {"arguments unreadable", summary.arguments_missing},
                {"wakeups of running threads left out", summary.wakeups_dropped},
                {"written late", summary.late},
                {"filtered", options.verbose ? summary.filtered : 0}},
               false, out);
    if (options.verbose) {
        for (const Summary::Ring& ring : summary.rings) {
            fmt::format_to(out, "ring {}: {} attempts = {} received + {} lost\n", ring.name,
                           human_count(ring.attempts), human_count(ring.received),
                           human_count(ring.lost));
        }
    }
    if (!summary.disagreements.empty()) {
        fmt::format_to(out, "internal warning: counters disagree (please report this):\n");
        for (const std::string& text : summary.disagreements) {
            fmt::format_to(out, "  {}\n", text);
        }
    } else if (summary.is_checked) {
        const bool has_kept_out = std::ranges::any_of(
            summary.probes, [](const Summary::Probe& probe) { return probe.kept_out() != 0; });
        fmt::format_to(out, "checked: hits = written + lost{}, for every probe and ring\n",
                       has_kept_out ? " + not recorded" : "");
    }
}

double seconds_between(uint64_t first_ns, uint64_t last_ns) {
    return static_cast<double>(last_ns - std::min(first_ns, last_ns)) / 1e9;
}

void add_snapshot_lines(const Summary& summary, const Lines& out) {
    fmt::format_to(out, "history: {} events of the last {:.3f} s held at the end, {}\n",
                   human_count(summary.files.history.events),
                   seconds_between(summary.files.history.first_ns, summary.files.history.last_ns),
                   human_bytes(summary.files.history.bytes));
    for (const SnapshotFile& file : summary.files.snapshots) {
        fmt::format_to(out, "{} {}: {} events of {:.3f} s, because {}{}{}\n",
                       file.error.empty() ? "wrote" : "NOT WHOLE:", printable(file.path),
                       human_count(file.events), seconds_between(file.first_ns, file.last_ns),
                       printable(file.reason), file.error.empty() ? "" : "; ", file.error);
    }
    if (summary.files.snapshots.empty()) fmt::format_to(out, "no snapshot was written\n");
    const SnapshotSkips& skipped = summary.files.skipped;
    if (skipped.total() == 0) return;
    fmt::format_to(out,
                   "{} triggers without a file of their own: {} within --cooldown, {} beyond "
                   "--snapshots or --max-size, {} while others were being written\n",
                   human_count(skipped.total()), skipped.cooldown, skipped.limit, skipped.busy);
}

void add_file_lines(const Summary& summary, const Lines& out) {
    const std::string deleted =
        summary.files.deleted == 0
            ? ""
            : fmt::format(", {} older ones deleted", human_count(summary.files.deleted));
    fmt::format_to(out, "wrote {} files{}: {}", summary.files.paths.size(), deleted,
                   printable(summary.files.paths.front()));
    if (summary.files.paths.size() > 1)
        fmt::format_to(out, " to {}", printable(summary.files.paths.back()));
    const Format* format = find_format_by_name(summary.format);
    const bool is_compressed = summary.files.paths.front().ends_with(kZstdSuffix);
    fmt::format_to(out, "{}\n",
                   format != nullptr
                       ? fmt::format("; each by itself: {}{}",
                                     is_compressed ? "`zstd -d`, then " : "", format->opening)
                       : "");
}

}  // namespace

std::string summary_text(const Summary& summary, const SummaryTextOptions& options) {
    std::string text;
    const Lines out = std::back_inserter(text);
    add_loss_line(summary, out);
    fmt::format_to(out, "{} events in {:.3f} s, {} ({})\n", human_count(summary.events),
                   summary.seconds, human_bytes(summary.bytes), ended_by_text(summary));
    if (summary.waited_seconds > 0) {
        fmt::format_to(out, "opened {:.3f} s after it was armed\n", summary.waited_seconds);
        if (summary.held_back > 0) {
            fmt::format_to(out,
                           "{} events before that are among those written below, and not in "
                           "the file\n",
                           human_count(summary.held_back));
        }
    }
    if (summary.pauses > 0) {
        fmt::format_to(out, "paused {}, {:.3f} s beside these\n",
                       summary.pauses == 1 ? "once" : fmt::format("{} times", summary.pauses),
                       summary.paused_seconds);
    }
    if (!summary.command_end.empty()) fmt::format_to(out, "{}\n", summary.command_end);
    add_table(summary, options, out);
    add_late_line(summary.armed_late, options.verbose, out);
    add_ring_lines(summary.shared_rings, out);
    text += pack_lines(summary.packs, options.verbose);
    text += span_table(summary.durations, options.verbose);
    add_ledger(summary, options, out);
    for (const std::string& warning : summary.warnings) {
        fmt::format_to(out, "warning: {}\n", warning);
    }
    if (summary.files.is_history) {
        add_snapshot_lines(summary, out);
        return text;
    }
    if (summary.files.is_in_memory) {
        fmt::format_to(out, "{} chunks were taken from memory{}\n", summary.files.chunks_taken,
                       summary.files.paths.empty() ? "" : "; of those that were not:");
        if (summary.files.paths.empty()) return text;
    }
    if (summary.path == "-" || !options.is_written) return text;
    if (!summary.files.paths.empty()) {
        add_file_lines(summary, out);
        return text;
    }
    if (const Format* format = find_format_by_name(summary.format); format != nullptr) {
        fmt::format_to(out, "wrote {}; {}\n", printable(summary.path), format->opening);
        // The last first: that is where the recording's end is.
        for (size_t i = summary.sinks.size(); i-- > 1;) {
            fmt::format_to(out, "  and {}, {}\n", printable(summary.sinks[i].path),
                           human_bytes(summary.sinks[i].bytes));
            if (summary.sinks.size() - i == kRowsMax) {
                fmt::format_to(out, "  and {} others (--json names them)\n", i - 1);
                break;
            }
        }
    } else {
        const std::string path = printable(summary.path);
        fmt::format_to(out, "wrote {}; `tracer convert {} -o FILE.fxt` makes a trace of it\n", path,
                       path);
    }
    return text;
}

}  // namespace tracer
