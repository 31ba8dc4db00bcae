// SPDX-License-Identifier: Apache-2.0
//
// The options of a recording that goes on and on: files that rotate, and a flight recorder. Called
// by command_line.cpp.
#include "cli/options.h"
#include "cli/start_time.h"
#include "cli/units.h"

#include <charconv>
#include <ctime>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tracer {
namespace {

constexpr const char* kGroup = "Long recordings";
constexpr std::chrono::nanoseconds kCooldown = std::chrono::seconds(10);
constexpr uint64_t kSnapshots = 100;

template <typename T>
Status take(const std::optional<std::string>& text,
            const char* option,
            Result<T> (*parse)(std::string_view),
            T& out) {
    if (!text) return {};
    auto value = parse(*text);
    if (!value) return tl::unexpected(std::move(value).error().within(option));
    out = *value;
    return {};
}

// A number alone counts files.
Status take_kept_files(const std::string& text, Rotation& out) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), out.keep_files);
    if (error == std::errc() && end == text.data() + text.size() && out.keep_files != 0) return {};
    out.keep_files = 0;
    return take(std::optional(text), "--rotate-keep", parse_size, out.keep_bytes);
}

Status take_rotation(const LiveTexts& texts, RecordCommand& command) {
    if (!texts.rotate) {
        if (!texts.rotate_keep) return {};
        return fail(ErrorCode::usage, "--rotate-keep needs --rotate", "--rotate 1G, or 10m");
    }
    SizeAndTime limits;
    TR_TRY(take(texts.rotate, "--rotate", parse_size_and_time, limits));
    command.rotation.limits = {.chunk_bytes = limits.bytes,
                               .chunk_age_ns = static_cast<uint64_t>(limits.time.count())};
    if (texts.rotate_keep) TR_TRY(take_kept_files(*texts.rotate_keep, command.rotation));
    if (command.output_path == "-") {
        return fail(ErrorCode::usage, "--rotate: standard output is no row of files",
                    "name a file: -o trace.fxt");
    }
    return {};
}

Status take_flight(const LiveTexts& texts, RecordCommand& command) {
    if (!texts.keep) {
        const bool has_any = !texts.when.empty() || texts.before || texts.after || texts.cooldown ||
                             texts.snapshots || texts.keep_in;
        if (!has_any) return {};
        return fail(ErrorCode::usage,
                    "--keep-in, --when, --before, --after, --cooldown and --snapshots need --keep",
                    "--keep 30s keeps the last 30 seconds in memory");
    }
    if (texts.rotate) {
        return fail(ErrorCode::usage, "--keep and --rotate exclude each other",
                    "--keep writes files when something happens, --rotate writes all the time");
    }
    if (command.output_path == "-") {
        return fail(ErrorCode::usage, "--keep: snapshots are files, and standard output is none",
                    "name a file: -o trace.fxt");
    }
    if (!texts.stop_when.empty()) {
        return fail(ErrorCode::usage, "--keep and --stop-when exclude each other",
                    "--when writes what is kept, and --snapshots 1 no more than that");
    }
    FlightRequest flight;
    SizeAndTime kept;
    TR_TRY(take(texts.keep, "--keep", parse_size_and_time, kept));
    flight.history = {.bytes_max = kept.bytes,
                      .age_ns_max = static_cast<uint64_t>(kept.time.count())};
    flight.folder = texts.keep_in.value_or("");
    flight.cooldown = kCooldown;
    TR_TRY(take(texts.before, "--before", parse_duration, flight.before));
    TR_TRY(take(texts.after, "--after", parse_duration, flight.after));
    TR_TRY(take(texts.cooldown, "--cooldown", parse_duration, flight.cooldown));
    for (const std::string& text : texts.when) {
        TR_ASSIGN(Trigger trigger, parse_trigger(text));
        flight.triggers.push_back(std::move(trigger));
    }
    flight.files_max = texts.snapshots.value_or(kSnapshots);
    command.flight = std::move(flight);
    return {};
}

Status take_chunks(const LiveTexts& texts, RecordCommand& command) {
    if (!texts.chunks) {
        if (!texts.chunk_memory) return {};
        return fail(ErrorCode::usage, "--chunk-memory needs --chunks", "--chunks 1M, or 10s");
    }
    if (texts.rotate || texts.keep) {
        return fail(ErrorCode::usage, "--chunks excludes --rotate and --keep",
                    "--chunks keeps pieces in memory until `tracer ctl chunks` takes them");
    }
    if (command.output_path == "-") {
        return fail(ErrorCode::usage, "--chunks: what nobody takes becomes files at the end",
                    "name a file: -o trace.fxt");
    }
    if (!command.ctl) {
        return fail(ErrorCode::usage, "--chunks with --no-ctl: nobody could take them");
    }
    ChunkRequest chunks;
    SizeAndTime limits;
    TR_TRY(take(texts.chunks, "--chunks", parse_size_and_time, limits));
    chunks.limits = {.chunk_bytes = limits.bytes,
                     .chunk_age_ns = static_cast<uint64_t>(limits.time.count())};
    TR_TRY(take(texts.chunk_memory, "--chunk-memory", parse_size, chunks.bytes_max));
    command.chunks = chunks;
    return {};
}

Status take_start(const LiveTexts& texts, RecordCommand& command) {
    if (texts.start_after && texts.start_at) {
        return fail(ErrorCode::usage, "--start-after and --start-at exclude each other",
                    "name one of them");
    }
    if (texts.start_after) {
        StartTime start{.text = "--start-after " + *texts.start_after};
        TR_TRY(take(texts.start_after, "--start-after", parse_duration, start.after));
        command.start = std::move(start);
    }
    if (texts.start_at) {
        auto at = parse_start_time(*texts.start_at, time(nullptr));
        if (!at) return tl::unexpected(std::move(at).error().within("--start-at"));
        command.start = StartTime{.text = "--start-at " + *texts.start_at, .at = *at};
    }
    return {};
}

void add_window_options(CLI::App& app, LiveTexts& texts) {
    app.add_option("--start-after", texts.start_after,
                   "arm everything, and record from this time on: 5s, 2m; -d counts from then; "
                   "`tracer ctl resume` opens it earlier")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--start-at", texts.start_at,
                   "the same at a time of day, local: 14:30, 14:30:05, 2026-12-01T14:30")
        ->type_name("TIME")
        ->group(kGroup);
    add_repeatable(app, "--start-when", texts.start_when,
                   "write nothing until a condition comes true (as of --when; any of several): the "
                   "event that makes it true is the first in the file; -d counts from then")
        ->type_name("CONDITION")
        ->group(kGroup);
    add_repeatable(app, "--stop-when", texts.stop_when,
                   "end the recording, within moments, once a condition comes true (as of --when; "
                   "any of several); the event that makes it true is in the file")
        ->type_name("CONDITION")
        ->group(kGroup);
}

void add_piece_options(CLI::App& app, LiveTexts& texts) {
    app.add_option("--rotate", texts.rotate,
                   "begin a new file after this size or time: 1G, 10m, 1G,10m (m is minutes); each "
                   "opens by itself, and names sort by time: FILE-00000001-TIME.fxt")
        ->type_name("SIZE|TIME")
        ->group(kGroup);
    app.add_option("--rotate-keep", texts.rotate_keep,
                   "keep the newest files, so many (5) or so large together (10G), and delete "
                   "older ones (default: keep all)")
        ->type_name("N|SIZE")
        ->group(kGroup);
    app.add_flag(
           "--zstd", texts.zstd,
           "compress each file of --rotate and --keep once it is closed (FILE.zst); `zstd -d` "
           "before it is opened")
        ->group(kGroup);
    app.add_option("--chunks", texts.chunks,
                   "write no file: keep the trace in memory in pieces of this size or time, each "
                   "of which opens by itself, until `tracer ctl chunks` takes them; what nobody "
                   "takes is written to FILE-00000001-TIME.fxt at the end")
        ->type_name("SIZE|TIME")
        ->group(kGroup);
    app.add_option("--chunk-memory", texts.chunk_memory,
                   "of all pieces (default: 1/16 of free memory, 1G at most); what has no room is "
                   "lost, and counted")
        ->type_name("SIZE")
        ->group(kGroup);
}

void add_flight_options(CLI::App& app, LiveTexts& texts) {
    app.add_option("--keep", texts.keep,
                   "keep the last events in memory only: 30s, 512M, or both (default of the size: "
                   "1/16 of free memory, 1G at most); they are written to FILE-0001-TIME.fxt at "
                   "SIGUSR1, when a --when comes true, and without --when at the end")
        ->type_name("TIME|SIZE")
        ->group(kGroup);
    app.add_option("--keep-in", texts.keep_in,
                   "keep them on a disk instead, in a file without a name in this folder (default "
                   "of the size: a quarter of the free space, 16G at most)")
        ->type_name("FOLDER")
        ->group(kGroup);
    add_repeatable(app, "--when", texts.when,
                   "write what is kept when 'span(NAME) > 50ms', 'event(NAME)', "
                   "'event(NAME) > 1000/s', 'counter(NAME, FIELD) < 5', 'exit(PROCESS) != 0' or "
                   "'crash'; '3 of 10: ...' for 3 of the last 10; NAME as in the trace, with * "
                   "and ?")
        ->type_name("CONDITION")
        ->group(kGroup);
    app.add_option("--before", texts.before,
                   "of what is kept, write what came this long before (default: all)")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--after", texts.after, "and what comes this long after it (default: nothing)")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--cooldown", texts.cooldown,
                   "listen to no --when for this long after one came true (default: 10s)")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--snapshots", texts.snapshots,
                   "write no more files than this (default: 100); --max-size limits their sum")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}).description(""))
        ->type_name("N")
        ->group(kGroup);
}

}  // namespace

void add_live_options(CLI::App& app, LiveTexts& texts) {
    add_window_options(app, texts);
    add_piece_options(app, texts);
    add_flight_options(app, texts);
}

Status take_live_options(const LiveTexts& texts, RecordCommand& command) {
    TR_TRY(take_rotation(texts, command));
    TR_TRY(take_start(texts, command));
    for (const std::string& text : texts.start_when) {
        TR_ASSIGN(Trigger condition, parse_trigger(text, "--start-when"));
        command.start_when.push_back(std::move(condition));
    }
    if (!command.start_when.empty() && (command.start || texts.keep)) {
        return fail(ErrorCode::usage, "--start-when excludes --start-after, --start-at and --keep",
                    "--keep with --when keeps what came before an event too");
    }
    for (const std::string& text : texts.stop_when) {
        TR_ASSIGN(Trigger condition, parse_trigger(text, "--stop-when"));
        command.stop_when.push_back(std::move(condition));
    }
    TR_TRY(take_flight(texts, command));
    TR_TRY(take_chunks(texts, command));
    if (!texts.zstd) return {};
    // One file is whole when the recording has ended: whoever wants it smaller then says so.
    if (!texts.rotate && !texts.keep) {
        return fail(ErrorCode::usage, "--zstd compresses the files of --rotate and --keep",
                    "afterwards: zstd --rm FILE");
    }
    command.rotation.compression = ChunkCompression::zstd;
    if (command.flight) command.flight->compression = ChunkCompression::zstd;
    return {};
}

}  // namespace tracer
