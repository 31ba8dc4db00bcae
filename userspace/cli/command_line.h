// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack_plan.h"
#include "session/buffer_size.h"
#include "session/output_file.h"
#include "session/selection.h"
#include "session/start_time.h"
#include "session/targets.h"
#include "session/top/top_drawing.h"
#include "session/trigger.h"
#include "tracer/base/result.h"
#include "tracer/ring/ocaml_versions.h"
#include "write/lines/make_lines_writer.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tracer {

// How much is printed, and how: common to the commands that end with a summary.
struct Verbosity {
    bool quiet = false;
    bool verbose = false;
    bool json = false;
};

// Which packs are used, and those of the user's beside ours.
struct PackOptions {
    PackRequest request;
    std::vector<std::string> files;  // --pack
};

// What is kept in memory, and when it is written.
struct FlightRequest {
    HistoryLimits history;  // bytes_max 0: a part of free memory, or of the disk
    std::string folder;     // of a history on a disk; empty: in memory
    std::chrono::nanoseconds before{0};
    std::chrono::nanoseconds after{0};
    std::chrono::nanoseconds cooldown{0};
    std::vector<Trigger> triggers;
    uint64_t files_max = 0;
    ChunkCompression compression = ChunkCompression::none;
};

// A recording in memory, in chunks that are taken from there.
struct ChunkRequest {
    ChunkLimits limits;
    uint64_t bytes_max = 0;  // 0: a part of free memory
};

// `tracer tail`: lines on standard output instead of a file.
struct TailRequest {
    lines::LineOptions lines;
};

// `tracer top`: counts and durations on standard output instead of a file.
struct TopRequest {
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
    bool is_json = false;
    TopView view;
};

struct RecordCommand {
    std::vector<uint32_t> ids;
    std::vector<NamespacedId> namespaced_ids;
    SelectionRequest selection;
    bool all = false;
    bool tree = false;
    bool wait = false;                 // for probes that no file has yet, also with --pid alone
    std::vector<std::string> command;  // after "--"
    std::vector<std::string> probes;   // -e texts
    PackOptions packs;
    std::string output_path;  // empty: the default name
    std::string format_name;  // empty: by the suffix
    std::optional<std::chrono::nanoseconds> duration;
    std::vector<Trigger> start_when;
    std::vector<Trigger> stop_when;
    std::optional<StartTime> start;  // none: open once all is armed
    uint64_t bytes_max = 0;          // 0: no limit
    Rotation rotation;
    std::optional<FlightRequest> flight;  // --keep
    std::optional<ChunkRequest> chunks;
    std::optional<BufferRequest> buffer;
    uint32_t drain_percent = 50;
    bool real_time = true;
    bool sched = true;
    bool rings = true;  // of programs that write events to rings they share
    bool force_perf_links = false;
    bool fast_sites = false;  // probes on 5-byte nops
    bool debuginfod = false;
    std::optional<int> ready_fd;  // told when everything is armed
    bool ctl = true;              // `tracer ctl` may steer it
    Verbosity verbosity;
    std::optional<TailRequest> tail;
    std::optional<TopRequest> top;

    // Whether a probe that is found nowhere yet is waited for instead of refused.
    [[nodiscard]] bool waits_for_probes() const {
        return wait || all || tree || !selection.is_empty();
    }
};

struct ListCommand {
    std::vector<uint32_t> ids;
    std::vector<NamespacedId> namespaced_ids;
    std::string file;
    std::string pattern;  // empty: everything
    bool json = false;
    bool debuginfod = false;
};

struct ExplainCommand {
    std::vector<uint32_t> ids;
    std::vector<NamespacedId> namespaced_ids;
    std::vector<std::string> command;  // after "--"
    std::vector<std::string> probes;   // -e texts
    bool json = false;
    bool debuginfod = false;
};

// `tracer packs`: which there are, what is in one, what it would do to processes.
struct PacksCommand {
    std::string name;           // empty: all
    std::vector<uint32_t> ids;  // only with a name
    PackOptions options;
    bool json = false;
    bool debuginfod = false;
};

// `tracer pack check` and `tracer pack template`, for authors.
struct PackCheckCommand {
    std::vector<std::string> files;
    bool json = false;
};
struct PackTemplateCommand {
    std::string name;
};

struct DoctorCommand {
    bool json = false;
};

struct ConvertCommand {
    std::string input_path;
    ring::OcamlVersions ocaml;  // of a file of rings
    std::string output_path;
    std::string format_name;
    Verbosity verbosity;
};

// `tracer ctl`: asks a recording that runs.
struct CtlCommand {
    std::optional<uint32_t> pid;     // none: the only one
    std::vector<std::string> words;  // a verb of control/verbs.h and what follows it; or "list"
    bool json = false;
    std::string output = ".";  // of chunks: a folder, or "-"
};

// `tracer rings`
struct RingsCommand {
    bool events = false;  // the user events that are registered too
    bool json = false;
};

struct GcStatsCommand {
    std::string input_path;
    ring::OcamlVersions ocaml;
    bool json = false;
};

// --help and --version.
struct PrintCommand {
    std::string text;
};

using Command = std::variant<RecordCommand,
                             ListCommand,
                             ExplainCommand,
                             PacksCommand,
                             PackCheckCommand,
                             PackTemplateCommand,
                             DoctorCommand,
                             ConvertCommand,
                             GcStatsCommand,
                             RingsCommand,
                             CtlCommand,
                             PrintCommand>;

// `arguments` without the program's name. Wrong input is a usage error that names the option.
[[nodiscard]] Result<Command> parse_command_line(std::span<const std::string> arguments);

}  // namespace tracer
