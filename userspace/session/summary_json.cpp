// SPDX-License-Identifier: Apache-2.0
//
// The summary for a program: one line of JSON, its schema in README.md. Keys are only ever added.
// Text that is not UTF-8 (paths, names) gets replacement characters, so that the line is always
// JSON.
#include "session/summary_packs.h"
#include "session/summary_spans.h"
#include "session/summary_text.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Json = nlohmann::ordered_json;

Json probes_json(const Summary& summary) {
    Json rows = Json::array();
    for (const Summary::Probe& probe : summary.probes) {
        if (probe.is_never_hit()) continue;
        Json row = {{"spec", probe.spec},
                    {"hits", probe.hits},
                    {"written", probe.written},
                    {"lost", {{"ring_full", probe.ring_full}}},
                    {"kept_out",
                     {{"condition", probe.condition},
                      {"unknown", probe.unknown},
                      {"sampled_out", probe.sampled_out},
                      {"throttled", probe.throttled},
                      {"unopened", probe.unopened},
                      {"after_limit", probe.after_limit}}},
                    {"filtered", probe.filtered},
                    {"retried", probe.retried}};
        if (!probe.pack.empty()) row["pack"] = probe.pack;
        if (probe.sample_every != 0) {
            row["sampled"] = {{"one_of", probe.sample_every}, {"stand_for", probe.stand_for()}};
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Json packs_json(const Summary& summary) {
    Json files = Json::array();
    for (const PackedFile& file : summary.packs) files.push_back(packed_file_json(file));
    return files;
}

Json rings_json(const Summary& summary) {
    Json rows = Json::array();
    for (const Summary::Ring& ring : summary.rings) {
        rows.push_back({{"name", ring.name},
                        {"attempts", ring.attempts},
                        {"received", ring.received},
                        {"lost", ring.lost}});
    }
    return rows;
}

Json log2_json(const DurationHistogram& durations) {
    Json rows = Json::array();
    const auto counts = durations.by_power_of_two();
    for (size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        rows.push_back({i == 0 ? 0 : uint64_t{1} << (i - 1), counts[i]});
    }
    return rows;
}

Json durations_json(const Summary& summary) {
    Json rows = Json::array();
    for (const SpanTally& span : summary.durations) {
        Json ends = Json::object();
        for (size_t i = 0; i < span.ends.size(); ++i) {
            const auto cause = static_cast<model::SpanEndCause>(i);
            if (cause != model::SpanEndCause::crossed) ends[cause_key(cause)] = span.ends[i];
        }
        const DurationHistogram& durations = span.durations;
        rows.push_back({{"span", span.name},
                        {"spec", span.spec},
                        {"count", durations.count()},
                        {"p50_ns", durations.percentile_ns(500)},
                        {"p90_ns", durations.percentile_ns(900)},
                        {"p99_ns", durations.percentile_ns(990)},
                        {"max_ns", durations.max_ns()},
                        {"log2", log2_json(durations)},
                        {"ends", std::move(ends)},
                        {"orphan_ends", span.orphan_ends},
                        {"begun_before", span.begun_before},
                        {"begin_kept_out", span.begin_kept_out},
                        {"crossed", span.crossed},
                        {"key_missing", span.key_missing},
                        {"beyond_limit", span.beyond_limit}});
    }
    return rows;
}

Json shared_rings_json(const Summary& summary) {
    Json rows = Json::array();
    for (const RingTally& ring : summary.shared_rings) {
        rows.push_back({{"pid", ring.pid},
                        {"runtime", ring.runtime},
                        {"events", ring.events},
                        {"dropped", ring.dropped},
                        {"missing", ring.missing},
                        {"lost",
                         {{"events", ring.lost_events},
                          {"words", ring.lost_words},
                          {"exact", ring.is_exact}}}});
    }
    return rows;
}

Json sinks_json(const Summary& summary) {
    Json rows = Json::array();
    for (const Summary::Sink& sink : summary.sinks) {
        Json row = {{"path", sink.path}, {"bytes", sink.bytes}};
        if (!sink.error.empty()) row["error"] = sink.error;
        rows.push_back(std::move(row));
    }
    return rows;
}

double seconds_between(uint64_t first_ns, uint64_t last_ns) {
    return static_cast<double>(last_ns - std::min(first_ns, last_ns)) / 1e9;
}

Json history_json(const Summary& summary) {
    if (!summary.files.is_history) return nullptr;
    const HistoryExtent& held = summary.files.history;
    return {{"seconds", seconds_between(held.first_ns, held.last_ns)},
            {"events", held.events},
            {"bytes", held.bytes}};
}

Json snapshots_json(const Summary& summary) {
    Json rows = Json::array();
    for (const SnapshotFile& file : summary.files.snapshots) {
        rows.push_back({{"path", file.path},
                        {"reason", file.reason},
                        {"events", file.events},
                        {"seconds", seconds_between(file.first_ns, file.last_ns)},
                        {"bytes", file.bytes},
                        {"error", file.error}});
    }
    return rows;
}

Json loss_json(const Summary::Loss& loss) {
    return {{"ring_full", loss.ring_full},     {"missed", loss.missed},
            {"sink_full", loss.sink_full},     {"refused", loss.refused},
            {"malformed", loss.malformed},     {"abandoned", loss.abandoned},
            {"overwritten", loss.overwritten}, {"unwritten", loss.unwritten}};
}

Json spans_json(const Summary::Spans& spans) {
    return {{"orphan_ends", spans.orphan_ends},
            {"begun_before", spans.begun_before},
            {"begin_kept_out", spans.begin_kept_out},
            {"unwound", spans.unwound},
            {"cut_by_loss", spans.cut_by_loss},
            {"closed_at_exit", spans.closed_at_exit},
            {"closed_at_end", spans.closed_at_end},
            {"closed_at_pause", spans.closed_at_pause},
            {"until", spans.until},
            {"key_reused", spans.key_reused},
            {"crossed", spans.crossed},
            {"key_missing", spans.key_missing},
            {"too_deep", spans.too_deep},
            {"keys_beyond_limit", spans.keys_beyond_limit},
            {"lines_beyond_limit", spans.lines_beyond_limit}};
}

Json armed_late_json(const LateCounts& late) {
    return {{"files", late.files},
            {"sites", late.sites},
            {"delay_max_us", late.delay_max_ns / 1000},
            {"files_left_out", late.files_left_out},
            {"files_gone", late.files_gone},
            {"mappings_lost", late.mappings_lost}};
}

}  // namespace

std::string summary_json(const Summary& summary) {
    const Json json = {
        {"output",
         {{"path", summary.path},
          {"format", summary.format},
          {"bytes", summary.bytes},
          {"files", summary.files.paths},
          {"files_deleted", summary.files.deleted},
          {"chunks_taken", summary.files.chunks_taken}}},
        {"sinks", sinks_json(summary)},
        {"seconds", summary.seconds},
        {"paused_seconds", summary.paused_seconds},
        {"pauses", summary.pauses},
        {"waited_seconds", summary.waited_seconds},
        {"held_back", summary.held_back},
        {"events", summary.events},
        {"loss_rate", summary.loss_rate()},
        {"probes", probes_json(summary)},
        {"probes_never_hit", std::ranges::count_if(summary.probes, &Summary::Probe::is_never_hit)},
        {"rings", rings_json(summary)},
        {"history", history_json(summary)},
        {"snapshots", snapshots_json(summary)},
        {"snapshots_skipped",
         {{"cooldown", summary.files.skipped.cooldown},
          {"limit", summary.files.skipped.limit},
          {"busy", summary.files.skipped.busy}}},
        {"ring_bytes", summary.ring_bytes},
        {"ring_bytes_enough", summary.ring_bytes_enough},
        {"loss", loss_json(summary.loss)},
        {"spans", spans_json(summary.spans)},
        {"durations", durations_json(summary)},
        {"armed_late", armed_late_json(summary.armed_late)},
        {"shared_rings", shared_rings_json(summary)},
        {"packs", packs_json(summary)},
        {"filtered", summary.filtered},
        {"strings_cut", summary.strings_cut},
        {"arguments_missing", summary.arguments_missing},
        {"wakeups_dropped", summary.wakeups_dropped},
        {"late", summary.late},
        {"gaps", summary.gaps},
        {"checked", summary.is_checked},
        {"agree", summary.disagreements.empty()},
        {"disagreements", summary.disagreements},
        {"warnings", summary.warnings},
        {"command_end", summary.command_end},
        {"ended_by", summary.ended_by},
        {"stop_condition", summary.stop_condition}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tracer
