// SPDX-License-Identifier: Apache-2.0
//
// What commands say about files of rings: `tracer gc-stats FILE`, and the option that tells which
// OCaml wrote one. Called by the parsers and by main.cpp.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "session/gc_stats.h"
#include "session/human.h"
#include "session/ring_reader.h"
#include "session/ring_recording.h"
#include "session/ring_watch.h"
#include "session/targets.h"
#include "tracer/ring/cursor.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {

CLI::Option* add_ocaml_option(CLI::App& app, std::string& text) {
    return app
        .add_option("--ocaml", text,
                    "the OCaml that wrote the rings, 5.0 to 5.5 (default: what the events tell, "
                    "which one minor collection is enough for)")
        ->type_name("VERSION");
}

Result<ring::OcamlVersions> take_ocaml_version(const std::string& text) {
    if (text.empty()) return ring::OcamlVersions{};
    if (const auto versions = ring::parse_ocaml_version(text)) return *versions;
    return fail(ErrorCode::usage, fmt::format("--ocaml {}: not a version with known rings", text),
                "5.0 to 5.5, as in --ocaml 5.4");
}

Result<Command> parse_gc_stats(std::vector<std::string> words) {
    GcStatsCommand command;
    std::string ocaml;
    CLI::App app(std::string{kGcStatsHelp});
    set_up(app, "tracer gc-stats");
    app.add_option("input", command.input_path, "the rings of a process")
        ->type_name("PID.events")
        ->required();
    add_ocaml_option(app, ocaml);
    app.add_flag("--json", command.json, "one line of JSON");
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    TR_ASSIGN(command.ocaml, take_ocaml_version(ocaml));
    return command;
}

Result<int> run_gc_stats(const GcStatsCommand& command) {
    TR_ASSIGN(auto cursor,
              ring::Cursor::open_file(command.input_path, {.versions = command.ocaml}));
    auto recording = read_rings(cursor, command.input_path);
    if (!recording) return tl::unexpected(std::move(recording).error().within(command.input_path));
    auto stats = compute_gc_stats(*recording);
    if (!stats) return tl::unexpected(std::move(stats).error().within(command.input_path));
    put_text(stdout, command.json ? gc_stats_json(*stats) : gc_stats_text(*stats));
    TR_TRY(finish_standard_output());
    return 0;
}

Result<Command> parse_rings(std::vector<std::string> words) {
    RingsCommand command;
    CLI::App app(std::string{kRingsHelp});
    set_up(app, "tracer rings");
    app.add_flag("--events", command.events, "also the events of their own, with their types");
    app.add_flag("--json", command.json, "one line of JSON");
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    return command;
}

namespace {

struct ListedRings {
    uint32_t pid = 0;
    std::string program;
    ring::Producer producer;
    std::vector<ring::UserEvent> user_events;
    std::string problem;  // why the rest is not known
};

std::vector<ListedRings> list_rings() {
    std::vector<ListedRings> found;
    for (const uint32_t pid : list_processes()) {
        const auto versions = ocaml_versions_of_rings(pid);
        if (!versions) continue;
        ListedRings rings{.pid = pid};
        if (const auto status = read_task_status(pid)) rings.program = status->name;
        auto cursor = ring::Cursor::open_process(static_cast<pid_t>(pid), {.versions = *versions});
        if (cursor) {
            rings.producer = cursor->producer();
            rings.user_events = cursor->user_events();
        } else if (cursor.error().code == ErrorCode::not_found) {
            continue;  // it only reads them, or has ended
        } else {
            rings.problem = cursor.error().what;
        }
        found.push_back(std::move(rings));
    }
    std::ranges::sort(found, {}, &ListedRings::pid);
    return found;
}

std::string rings_text(const std::vector<ListedRings>& found, bool with_events) {
    if (found.empty()) {
        return "no process writes events to rings that can be read\n"
               "(OCaml 5 programs do when started with OCAML_RUNTIME_EVENTS_START=1)\n";
    }
    std::string text =
        fmt::format("{:>8}  {:<16}  {:<18}  {}\n", "pid", "program", "runtime", "rings");
    for (const ListedRings& rings : found) {
        const std::string state = !rings.problem.empty() ? rings.problem
                                  : !rings.producer.is_ready
                                      ? std::string("not begun yet")
                                      : fmt::format("{} of {} each{}", rings.producer.ring_count,
                                                    human_bytes(rings.producer.ring_words * 8),
                                                    rings.producer.is_stopped ? ", stopped" : "");
        fmt::format_to(std::back_inserter(text), "{:>8}  {:<16}  {:<18}  {}\n", rings.pid,
                       printable(rings.program), runtime_of(rings.producer), state);
        if (!with_events) continue;
        for (const ring::UserEvent& event : rings.user_events) {
            fmt::format_to(std::back_inserter(text), "{:>8}  {:<7}  {}\n", event.id,
                           to_text(event.type), printable(event.name));
        }
    }
    return text + "tracer --pid PID records them beside the kernel's view\n";
}

std::string rings_json(const std::vector<ListedRings>& found) {
    nlohmann::json rows = nlohmann::json::array();
    for (const ListedRings& rings : found) {
        nlohmann::json events = nlohmann::json::array();
        for (const ring::UserEvent& event : rings.user_events) {
            events.push_back(
                {{"id", event.id}, {"name", event.name}, {"type", to_text(event.type)}});
        }
        rows.push_back({{"pid", rings.pid},
                        {"program", rings.program},
                        {"runtime", runtime_of(rings.producer)},
                        {"rings", rings.producer.ring_count},
                        {"ring_bytes", rings.producer.ring_words * 8},
                        {"stopped", rings.producer.is_stopped},
                        {"problem", rings.problem},
                        {"user_events", std::move(events)}});
    }
    return rows.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> run_rings(const RingsCommand& command) {
    const auto found = list_rings();
    put_text(stdout, command.json ? rings_json(found) : rings_text(found, command.events));
    TR_TRY(finish_standard_output());
    return 0;
}

}  // namespace tracer
