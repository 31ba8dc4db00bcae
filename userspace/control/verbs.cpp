// SPDX-License-Identifier: Apache-2.0
//
// The table of verbs, and what each answers: "ok", the numbers for scripts, and "text" for people.
// Called by the server for each line; by `tracer ctl` for names and usage.
#include "control/verbs.h"

#include "control/words.h"
#include "session/human.h"
#include "session/quantity.h"

#include <array>
#include <cmath>
#include <iterator>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Json = nlohmann::ordered_json;

// Paths and names need not be UTF-8, but an answer is always JSON.
std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

uint64_t rounded(double value) {
    return static_cast<uint64_t>(std::llround(value));
}

double seconds_of(const HistoryExtent& held) {
    return static_cast<double>(held.last_ns - held.first_ns) / 1e9;
}

Json history_json(const LiveStatus& status) {
    if (!status.history) return nullptr;
    return {{"seconds", seconds_of(*status.history)},
            {"events", status.history->events},
            {"bytes", status.history->bytes}};
}

Json chunks_json(const LiveStatus& status) {
    return status.chunks_waiting ? Json(*status.chunks_waiting) : Json(nullptr);
}

std::string status_text(const LiveStatus& status) {
    std::string text = fmt::format("pid {}: {} for {:.1f} s, to {}\n", getpid(), status.target,
                                   status.seconds, status.output);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "  {} events written, {} ({}/s); {} records read ({}/s)\n",
                   human_count(status.events), human_bytes(status.bytes),
                   human_bytes(rounded(status.bytes_per_second)), human_count(status.records),
                   human_count(rounded(status.records_per_second)));
    const LiveStatus::Lost& lost = status.lost;
    if (lost.total() == 0) fmt::format_to(out, "  lost nothing");
    if (lost.total() != 0) {
        fmt::format_to(out, "  LOST {}: {} rings full, {} sink full, {} refused, {} malformed",
                       human_count(lost.total()), human_count(lost.ring_full),
                       human_count(lost.sink_full), human_count(lost.refused),
                       human_count(lost.malformed));
    }
    fmt::format_to(out, "; the fullest ring (of {}) was {:.0f} % full",
                   human_bytes(status.ring_bytes), status.ring_fill * 100);
    if (status.history) {
        fmt::format_to(out, "\n  history: {} events of the last {:.1f} s, {}",
                       human_count(status.history->events), seconds_of(*status.history),
                       human_bytes(status.history->bytes));
    }
    if (status.chunks_waiting) fmt::format_to(out, "\n  {} chunks wait", *status.chunks_waiting);
    if (!status.waiting_for.empty()) {
        fmt::format_to(out, "\n  WAITING for {}: `resume` opens it now", status.waiting_for);
    } else if (status.is_paused) {
        fmt::format_to(out, "\n  PAUSED: `resume` goes on");
    }
    if (status.pauses > 0) {
        fmt::format_to(out, "\n  paused for {:.1f} s of this, {} time{}", status.paused_seconds,
                       status.pauses, status.pauses == 1 ? "" : "s");
    }
    for (const std::string& kept : status.kept) fmt::format_to(out, "\n  kept: {}", kept);
    return text;
}

void run_status(LiveRecording& live, std::span<const std::string>, const Reply& reply) {
    const LiveStatus status = live.status();
    reply(dump({{"ok", true},
                {"pid", getpid()},
                {"seconds", status.seconds},
                {"records", status.records},
                {"records_per_second", status.records_per_second},
                {"events", status.events},
                {"bytes", status.bytes},
                {"bytes_per_second", status.bytes_per_second},
                {"lost",
                 {{"ring_full", status.lost.ring_full},
                  {"sink_full", status.lost.sink_full},
                  {"refused", status.lost.refused},
                  {"malformed", status.lost.malformed}}},
                {"ring_bytes", status.ring_bytes},
                {"ring_fill", status.ring_fill},
                {"output", status.output},
                {"format", status.format},
                {"target", status.target},
                {"kept", status.kept},
                {"sink_changes", status.sink_changes},
                {"history", history_json(status)},
                {"chunks_waiting", chunks_json(status)},
                {"paused", status.is_paused},
                {"paused_seconds", status.paused_seconds},
                {"pauses", status.pauses},
                {"waiting_for", status.waiting_for},
                {"text", status_text(status)}}));
}

void run_flush(LiveRecording& live, std::span<const std::string>, const Reply& reply) {
    live.flush();
    reply(dump({{"ok", true}, {"text", "handed on what was recorded so far"}}));
}

void run_stop(LiveRecording& live, std::span<const std::string>, const Reply& reply) {
    live.stop();
    reply(dump({{"ok", true}, {"text", "the recording ends"}}));
}

std::string joined(std::span<const std::string> words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

void run_mark(LiveRecording& live, std::span<const std::string> words, const Reply& reply) {
    if (Status marked = live.mark(joined(words)); !marked) {
        reply(error_answer(marked.error()));
        return;
    }
    reply(dump({{"ok", true}, {"text", "marked"}}));
}

void run_snapshot(LiveRecording& live, std::span<const std::string> words, const Reply& reply) {
    if (Status taken = live.snapshot(words.empty() ? "ctl snapshot" : joined(words)); !taken) {
        reply(error_answer(taken.error()));
        return;
    }
    reply(dump({{"ok", true}, {"text", "a file of what is held is being written"}}));
}

// For the rings as --buffer takes it; for the sink a size.
Result<BuffersChange> parse_buffers(std::span<const std::string> words) {
    BuffersChange change;
    auto rings = parse_buffer(words[0]);
    if (!rings) return tl::unexpected(std::move(rings).error().within("buffers"));
    change.rings = *rings;
    if (words.size() < 2) return change;
    auto sink = parse_size(words[1]);
    if (!sink) return tl::unexpected(std::move(sink).error().within("buffers"));
    change.sink_bytes = *sink;
    return change;
}

void run_buffers(LiveRecording& live, std::span<const std::string> words, const Reply& reply) {
    const auto change = parse_buffers(words);
    if (!change) {
        reply(error_answer(change.error()));
        return;
    }
    const auto changed = live.change_buffers(*change);
    if (!changed) {
        reply(error_answer(changed.error()));
        return;
    }
    std::string text = fmt::format("rings of {} each", human_bytes(changed->ring_bytes));
    if (changed->sink_bytes != 0) {
        text += fmt::format(", {} of buffers for the output", human_bytes(changed->sink_bytes));
    }
    reply(dump({{"ok", true},
                {"ring_bytes", changed->ring_bytes},
                {"sink_bytes", changed->sink_bytes},
                {"text", text}}));
}

void run_chunks(LiveRecording& live, std::span<const std::string> words, const Reply& reply) {
    if (!words.empty() && words.front() != "now") {
        reply(error_answer(
            {.code = ErrorCode::usage,
             .what = fmt::format("chunks: unexpected \"{}\"", printable(words.front())),
             .hint = "chunks now: ends the one that is being written"}));
        return;
    }
    auto taken = live.take_chunk(!words.empty());
    if (!taken) {
        reply(error_answer(taken.error()));
        return;
    }
    const size_t bytes = taken->chunk ? taken->chunk->size : 0;
    Json json{{"ok", true}, {"payload_bytes", bytes}, {"waiting", taken->waiting}};
    if (!taken->chunk) {
        json["text"] = "no chunk is whole yet; `chunks now` ends the one that is being written";
        reply(dump(json));
        return;
    }
    json["number"] = taken->number;
    json["text"] = fmt::format("chunk {} follows, {}", taken->number, human_bytes(bytes));
    reply({dump(json), std::move(*taken->chunk)});
}

void reply_gate(const Result<GateChange>& change, bool is_paused, const Reply& reply) {
    if (!change) {
        reply(error_answer(change.error()));
        return;
    }
    std::string text = is_paused ? "paused" : "resumed";
    if (!change->is_changed) {
        text = is_paused ? fmt::format("is paused already, for {:.1f} s", change->paused_seconds)
                         : "is not paused";
    } else if (!is_paused) {
        text += fmt::format(" after {:.1f} s", change->paused_seconds);
    }
    reply(dump({{"ok", true},
                {"paused", is_paused},
                {"changed", change->is_changed},
                {"text", std::move(text)}}));
}

void run_pause(LiveRecording& live, std::span<const std::string>, const Reply& reply) {
    reply_gate(live.pause(), true, reply);
}

void run_resume(LiveRecording& live, std::span<const std::string>, const Reply& reply) {
    reply_gate(live.resume(), false, reply);
}

// The words behind the target; each may stand once, in any order.
Result<SinkChange> parse_change(std::span<const std::string> words) {
    SinkChange change;
    bool has_keeping = false;
    bool has_header = false;
    for (const std::string& word : words) {
        const bool is_keeping = word == "keep-old" || word == "close-old";
        const bool is_header = word == "header" || word == "no-header";
        if (!is_keeping && !is_header) {
            return fail(ErrorCode::usage, fmt::format("sink: unexpected \"{}\"", printable(word)),
                        "keep-old or close-old, header or no-header");
        }
        if (std::exchange(is_keeping ? has_keeping : has_header, true)) {
            return fail(ErrorCode::usage, fmt::format("sink: \"{}\" is one too many", word),
                        "keep-old or close-old, header or no-header");
        }
        if (is_keeping) change.keep_old = word == "keep-old";
        if (is_header) {
            change.start = word == "header" ? SinkStart::reads_alone : SinkStart::goes_on;
        }
    }
    return change;
}

void run_sink(LiveRecording& live, std::span<const std::string> words, const Reply& reply) {
    auto change = parse_change(words.subspan(1));
    if (change && words.front().empty()) {
        change = fail(ErrorCode::usage, "sink: the target's name is empty");
    }
    if (!change) {
        reply(error_answer(change.error()));
        return;
    }
    const auto done = [reply](const Result<SinkChanged>& changed) {
        if (!changed) {
            reply(error_answer(changed.error()));
            return;
        }
        reply(dump({{"ok", true},
                    {"output", changed->output},
                    {"output_before", changed->output_before},
                    {"kept", changed->is_kept},
                    {"text", fmt::format("writes to {} now; {} is {}", changed->output,
                                         changed->output_before,
                                         changed->is_kept ? "kept" : "being closed")}}));
    };
    if (words.front() == "restore") {
        live.restore_sink(*change, done);
        return;
    }
    change->target = words.front();
    live.change_sink(*change, done);
}

constexpr size_t kTextWordsMax = kRequestBytesMax;

constexpr std::array kVerbs{
    Verb{"status", "", "rates, losses, how full the rings are, where it goes", 0, 0, run_status},
    Verb{"flush", "", "hands on what was recorded so far, so that readers see it", 0, 0, run_flush},
    Verb{"stop", "", "ends the recording in order, and waits until its file is whole", 0, 0,
         run_stop},
    Verb{"mark", "TEXT", "puts a text on the timeline, now", 1, kTextWordsMax, run_mark},
    Verb{"snapshot", "[REASON]", "writes what --keep holds to a file", 0, kTextWordsMax,
         run_snapshot},
    Verb{"buffers", "SIZE[/cpu] [SINK-SIZE]",
         "makes the rings (as --buffer) and the output's buffers larger or smaller, nothing lost",
         1, 2, run_buffers},
    Verb{"chunks", "[now]", "takes the chunks that --chunks keeps, each a whole trace", 0, 1,
         run_chunks},
    Verb{"pause", "", "records nothing but births, names and ends of tasks, until resume", 0, 0,
         run_pause},
    Verb{"resume", "", "goes on after pause, or opens what waits", 0, 0, run_resume},
    Verb{"sink", "FILE|unix:PATH|tcp:HOST:PORT|-|restore [keep-old|close-old] [header|no-header]",
         "goes on elsewhere, no event lost between", 1, 3, run_sink},
};

}  // namespace

std::span<const Verb> verbs() {
    return kVerbs;
}

Result<const Verb*> find_verb(std::span<const std::string> words) {
    std::string names;
    for (const Verb& verb : kVerbs)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", verb.name);
    if (words.empty()) return fail(ErrorCode::usage, "no command", names);
    for (const Verb& verb : kVerbs) {
        if (verb.name != words.front()) continue;
        const size_t count = words.size() - 1;
        if (count >= verb.words_min && count <= verb.words_max) return &verb;
        return fail(
            ErrorCode::usage,
            fmt::format("{}: too {} words", verb.name, count < verb.words_min ? "few" : "many"),
            fmt::format("{}{}{}", verb.name, verb.arguments.empty() ? "" : " ", verb.arguments));
    }
    constexpr size_t kShownMax = 40;
    return fail(
        ErrorCode::usage,
        fmt::format("unknown command \"{}\"", printable(words.front().substr(0, kShownMax))),
        names);
}

void run_request(LiveRecording& live, std::string_view line, const Reply& reply) {
    const auto words = split_words(line);
    if (!words) {
        reply(error_answer(words.error()));
        return;
    }
    const auto verb = find_verb(*words);
    if (!verb) {
        reply(error_answer(verb.error()));
        return;
    }
    (*verb)->run(live, std::span(*words).subspan(1), reply);
}

std::string error_answer(const Error& error) {
    return dump({{"ok", false},
                 {"error", error.what},
                 {"hint", error.hint},
                 {"exit_status", exit_status(error.code)}});
}

}  // namespace tracer
