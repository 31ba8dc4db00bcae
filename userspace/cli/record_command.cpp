// SPDX-License-Identifier: Apache-2.0
//
// `tracer` itself: from the parsed command line to a running recording, cheapest check first, so
// that a mistake costs neither a started program nor a file. The life of the recording is in
// session/recording.h.
#include "cli/commands.h"
#include "cli/kernel_side.h"
#include "cli/pack_preparation.h"
#include "cli/print.h"
#include "cli/privilege.h"
#include "cli/probe_plan.h"
#include "cli/readiness.h"
#include "cli/top_display.h"
#include "control/place.h"
#include "control/server.h"
#include "session/buffer_size.h"
#include "session/human.h"
#include "session/output_file.h"
#include "session/recording.h"
#include "session/status_line.h"
#include "session/summary_packs.h"
#include "session/targets.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    // The last byte stays 0 whatever the call does to a name that is too long.
    if (gethostname(name.data(), name.size() - 1) != 0) return {};
    return name.data();
}

// As the shell gave it to us, words separated by spaces.
std::string own_command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    for (char& c : text) {
        if (c == '\0') c = ' ';
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

// For who asks from another folder.
std::string absolute_output(const std::string& path) {
    if (path == "-") return path;
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute.string();
}

template <typename Files>
SeenFiles stamps_of(const Files& files) {
    SeenFiles seen;
    for (const auto& file : files) {
        if (const auto stamp = stamp_of(file.open_path)) seen.add(*stamp);
    }
    return seen;
}

// What is recorded is read at once: a turn of draining that finds little costs little, and is
// handed on however little it found.
void show_at_once(DrainOptions& drain) {
    drain.wait = std::chrono::milliseconds(50);
    drain.flush_every = std::chrono::nanoseconds(0);
}

// As many again as there are, twice: a program that is replaced needs the same once more.
uint32_t late_programs_max(const AttachPlan& plan) {
    constexpr size_t kMin = 4096;
    constexpr size_t kMax = 32768;
    return static_cast<uint32_t>(std::clamp(2 * plan.probes.size(), kMin, kMax));
}

// What a recording is made of before it runs, in the order it is made.
class Preparation {
public:
    explicit Preparation(const RecordCommand& command)
        : command_(command), own_pid_(static_cast<uint32_t>(getpid())) {}

    Status prepare();
    Result<int> run();

private:
    Status find_targets();
    Status plan();
    void plan_packs_too();
    Status open_kernel();
    Status open_output();
    Status open_sink();
    [[nodiscard]] FlightOptions flight_options() const;
    [[nodiscard]] OutputConditions conditions() const {
        return {.start = command_.start_when, .stop = command_.stop_when};
    }
    [[nodiscard]] RecordingDefinitions definitions() const;
    [[nodiscard]] model::Recording recording() const;
    [[nodiscard]] DiscoveryOptions discovery_options() const;
    void say_what_is_recorded(const std::vector<PackedFile>& packs) const;
    void on_attached(const std::vector<PackedFile>& packs) const;
    [[nodiscard]] RecordingOptions recording_options();
    [[nodiscard]] Result<int> come_to_nothing(Error error);
    // In the terminal, or to who reads for it.
    [[nodiscard]] bool is_shown() const { return command_.tail || command_.top; }
    void show_top(RecordingOptions& options, Status& shown);
    void watch_reader();
    [[nodiscard]] std::optional<int> come_to_readers_end(const RecordingResult& result) const;
    // What it is called beside its output, in answers to `tracer ctl`.
    [[nodiscard]] std::string target_text() const;
    void on_live(LiveRecording* live);

    const RecordCommand& command_;
    const uint32_t own_pid_;
    ReadinessRequest readiness_;
    std::vector<EventSpec> events_;
    std::optional<PackPlanner> planner_;  // nullopt: without packs
    OutputTarget target_;
    std::optional<EndWatch> watch_;
    Targets targets_;
    Selection selection_;
    std::optional<ChildProcess> child_;
    std::unique_ptr<MappingWatch> mappings_;  // null: no file that comes later has probes
    std::string watch_warning_;               // why not
    PlannedProbes planned_;
    SeenFiles seen_;
    SeenFiles named_;
    PackStart packs_;
    std::vector<ProbeDefinition> own_definitions_;  // of hits that are made here
    uint64_t ring_bytes_ = 0;
    std::unique_ptr<KernelRecorder> recorder_;
    std::unique_ptr<Output> output_;
    FlightOutput* flight_ = nullptr;          // output_, if it is one
    std::unique_ptr<ControlServer> control_;  // while the recording runs
    std::unique_ptr<TopDisplay> top_;         // of `top` alone
    bool is_reader_gone_ = false;             // of what `tail` or `top` shows
};

Status Preparation::prepare() {
    TR_ASSIGN(target_, choose_output(command_.output_path, command_.format_name));
    const bool is_in_pieces = command_.flight || command_.rotation.is_on() || command_.chunks;
    if (is_in_pieces && target_.format == nullptr) {
        return fail(ErrorCode::usage,
                    "--rotate, --keep and --chunks write traces, and a capture is none",
                    "name another format: -o trace.fxt");
    }
    const bool has_conditions = !command_.stop_when.empty() || !command_.start_when.empty();
    if (has_conditions && target_.format == nullptr) {
        return fail(ErrorCode::usage,
                    "--start-when and --stop-when see events, and a raw capture has only records",
                    "name another format: -o trace.fxt");
    }
    readiness_.fd = command_.ready_fd;
    if (const char* manager = std::getenv("NOTIFY_SOCKET")) readiness_.notify_socket = manager;
    TR_TRY(check_readiness(readiness_));
    TR_ASSIGN(events_, parse_probes(command_.probes));
    TR_ASSIGN(planner_, make_pack_planner(command_));
    TR_TRY(find_targets());
    TR_TRY(check_privilege(read_privilege()));
    TR_TRY(check_pid_namespace(read_pid_namespace()));
    TR_TRY(check_kernel_types());
    if (command_.fast_sites) TR_TRY(check_fast_sites());
    TR_TRY(plan());
    // Before the first thread and the child: both inherit what happens to signals.
    TR_ASSIGN(watch_, EndWatch::make());
    if (command_.top) {
        TR_ASSIGN(top_, TopDisplay::make(*command_.top));
    }
    if (!command_.command.empty()) {
        auto child = ChildProcess::start(command_.command);
        if (!child) return tl::unexpected(std::move(child).error());
        child_.emplace(std::move(*child));
    }
    TR_TRY(open_kernel());
    return open_output();
}

Status Preparation::find_targets() {
    TR_ASSIGN(targets_, resolve_targets({.ids = command_.ids,
                                         .namespaced_ids = command_.namespaced_ids,
                                         .with_children = command_.tree,
                                         .own_pid = own_pid_}));
    TR_ASSIGN(selection_, Selection::make(command_.selection, SelectionSystem::of_this_machine()));
    return {};
}

Status Preparation::plan() {
    // Watched before the files are collected: none can come between unseen.
    if (are_of_files(events_) || planner_) {
        auto watch = MappingWatch::open();
        if (watch) mappings_ = std::move(*watch);
        if (!watch) {
            watch_warning_ =
                fmt::format("files that are run later get no probes: {}", watch.error().what);
        }
    }
    TR_ASSIGN(planned_, plan_probes(events_, command_, targets_, selection_, mappings_ != nullptr));
    if (mappings_) {
        // At once: a name may lead to another file as soon as the recording has begun.
        seen_ = stamps_of(planned_.files.files());
        named_ = stamps_of(planned_.plan.files);
    }
    plan_packs_too();
    const auto next = [this] {
        return model::PointIndex{static_cast<uint32_t>(planned_.plan.points.size())};
    };
    if (command_.flight) planned_.plan.points.push_back(snapshot_point(next()));
    if (command_.ctl) {
        own_definitions_.push_back(mark_definition(next()));
        planned_.plan.points.push_back(mark_point(next()));
    }
    if (command_.ctl || command_.start) {
        own_definitions_.push_back(paused_definition(next()));
        planned_.plan.points.push_back(paused_point(next()));
        own_definitions_.push_back(resumed_definition(next()));
        planned_.plan.points.push_back(resumed_point(next()));
    }
    if (mappings_) {
        own_definitions_.push_back(armed_definition(next()));
        planned_.plan.points.push_back(armed_point(next()));
        if (planner_ && planner_->has_titles()) {
            own_definitions_.push_back(titled_definition(next()));
            planned_.plan.points.push_back(titled_point(next()));
        }
    }
    return {};
}

// Behind what the user named, which comes first wherever it matters.
void Preparation::plan_packs_too() {
    if (!planner_) return;
    const PackStartRequest request = pack_start_request(command_, targets_, selection_, own_pid_);
    packs_ = plan_packs(*planner_, request, planned_.plan);
    for (std::string& warning : packs_.found.warnings) {
        planned_.plan.warnings.push_back(std::move(warning));
    }
}

Status Preparation::open_kernel() {
    const bool all_switches = command_.all && command_.sched;
    const MachineLoad load = read_machine_load(all_switches && !command_.buffer);
    TR_ASSIGN(ring_bytes_, choose_ring_bytes(command_.buffer, load, all_switches));
    KernelOptions options{.record_all = command_.all,
                          .pids = targets_.pids,
                          .follow_children = command_.tree,
                          .record_sched = command_.sched,
                          .ring_bytes = ring_bytes_,
                          .own_pid = own_pid_,
                          .force_perf_links = command_.force_perf_links,
                          .late_programs_max = mappings_ ? late_programs_max(planned_.plan) : 0};
    const auto is_gated = [](const EventSpec& event) {
        return !event.all([](const ProbeSpec& spec) { return spec.clauses.text.empty(); });
    };
    // A span whose function is left by jumps to others needs a gate too (return_way.h).
    constexpr uint32_t kLateJumpsMax = 256;
    options.late_gates_max = std::min(options.late_programs_max, kLateJumpsMax);
    if (std::ranges::any_of(events_, is_gated) || (planner_ && planner_->has_gates())) {
        options.late_gates_max = options.late_programs_max;
    }
    for (const Targets::Thread& thread : targets_.threads) options.tids.push_back(thread.tid);
    options.only_pids = only_processes(command_, targets_, selection_);
    options.selection = selection_.rules();
    TR_ASSIGN(recorder_, open_kernel_side(planned_.plan, options));
    planned_.plan.programs = {};  // several MB, in the kernel by now
    return {};
}

Status Preparation::open_output() {
    if (target_.path.empty()) {
        std::string_view name = targets_.name;
        uint32_t id = command_.ids.empty() ? 0 : command_.ids.front();
        if (child_) {
            name = std::string_view(child_->path()).substr(child_->path().rfind('/') + 1);
            id = child_->pid();
        } else if (command_.all) {
            name = "system";
        } else if (targets_.name.empty()) {
            name = "selection";
        }
        const std::string_view suffix =
            target_.format != nullptr ? target_.format->suffix : kCaptureSuffix;
        target_.path = default_output_path(name, id, suffix, time(nullptr));
    }
    return open_sink();
}

Status Preparation::open_sink() {
    if (command_.flight) {
        TR_ASSIGN(auto flight, make_flight_output(definitions(), flight_options()));
        flight_ = flight.get();
        output_ = std::move(flight);
        return {};
    }
    if (command_.chunks) {
        ChunkMemoryOptions options{.limits = command_.chunks->limits,
                                   .bytes_max = command_.chunks->bytes_max};
        if (options.bytes_max == 0) options.bytes_max = default_history_bytes();
        TR_ASSIGN(output_, open_chunk_output(*target_.format, definitions(), options, target_.path,
                                             conditions()));
        return {};
    }
    if (command_.rotation.is_on()) {
        TR_ASSIGN(auto files,
                  open_rotating_output_sink(target_.path, command_.rotation, command_.real_time));
        TR_ASSIGN(output_, open_rotating_output(*target_.format, definitions(), std::move(files),
                                                conditions()));
        return {};
    }
    if (top_) {
        output_ = make_top_output(definitions(), top_->output_options());
        return top_->open(command_.real_time);
    }
    if (command_.tail) {
        TR_ASSIGN(auto sink, open_shown_sink(command_.real_time));
        auto writer = lines::make_lines_writer(*sink, command_.tail->lines);
        TR_ASSIGN(output_, open_shown_output(std::move(writer), definitions(), std::move(sink)));
        return {};
    }
    const bool is_text = target_.format != nullptr && target_.format->is_text;
    TR_ASSIGN(auto sink, open_output_sink(target_.path, command_.real_time, is_text));
    if (target_.format == nullptr) {
        TR_ASSIGN(output_, open_capture_output(definitions(), std::move(sink)));
    } else {
        TR_ASSIGN(output_,
                  open_trace_output(*target_.format, definitions(), std::move(sink), conditions()));
    }
    return {};
}

FlightOptions Preparation::flight_options() const {
    const FlightRequest& request = *command_.flight;
    FlightOptions options;
    options.history = request.history;
    options.history_folder = request.folder;
    if (options.history.bytes_max == 0) {
        options.history.bytes_max = request.folder.empty() ? default_history_bytes()
                                                           : default_history_bytes(request.folder);
    }
    options.before_ns = static_cast<uint64_t>(request.before.count());
    options.after_ns = static_cast<uint64_t>(request.after.count());
    options.cooldown_ns = static_cast<uint64_t>(request.cooldown.count());
    options.triggers = request.triggers;
    options.at_end = request.triggers.empty();
    options.files = {.path = target_.path,
                     .format = target_.format,
                     .recording = recording(),
                     .files_max = request.files_max,
                     .bytes_max = command_.bytes_max,
                     .compression = request.compression};
    return options;
}

RecordingDefinitions Preparation::definitions() const {
    RecordingDefinitions definitions;
    definitions.points = planned_.plan.points;
    definitions.probes = planned_.plan.probes;
    definitions.probes.insert(definitions.probes.end(), own_definitions_.begin(),
                              own_definitions_.end());
    definitions.record_all = command_.all;
    definitions.pids = targets_.pids;
    if (child_) definitions.pids.push_back(child_->pid());
    for (const Targets::Thread& thread : targets_.threads) definitions.tids.push_back(thread.tid);
    for (const ProcessTitle& title : packs_.found.titles) {
        definitions.names.push_back({.pid = title.pid, .tid = 0, .name = title.name});
    }
    definitions.follow_children = command_.tree;
    definitions.own_pid = own_pid_;
    definitions.host_name = host_name();
    definitions.command_line = own_command_line();
    definitions.recording = recording();
    return definitions;
}

model::Recording Preparation::recording() const {
    model::Recording recording;
    const std::vector<uint32_t> pids = targets_.processes();
    const size_t processes = pids.size() + (child_ ? 1 : 0);
    // A program whose runtime tells of its own threads is the recording's one process, whatever it
    // starts: formats with words for them can say these of one only.
    const bool has_runtime = std::ranges::any_of(planned_.plan.points, [](const model::Point& it) {
        return it.role != model::PointRole::none;
    });
    const bool is_of_many = command_.tree && !has_runtime;
    if (command_.all || is_of_many || !selection_.is_empty() || processes != 1) {
        recording.arguments = read_arguments(own_pid_);
    } else if (child_) {
        recording.pid = child_->pid();
        recording.parent_pid = own_pid_;
        recording.arguments = command_.command;
    } else {
        recording.pid = pids.front();
        recording.arguments = read_arguments(recording.pid);
        if (const auto status = read_task_status(recording.pid)) {
            recording.parent_pid = status->parent_pid;
        }
    }
    if (command_.all) {
        const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        recording.cpu_count = static_cast<uint16_t>(std::clamp(cpus, 0L, 0xffffL));
    }
    return recording;
}

DiscoveryOptions Preparation::discovery_options() const {
    DiscoveryOptions options;
    options.events = events_;
    options.compile = compile_options(command_);
    options.plan = planned_.plan;
    options.seen = seen_;
    options.named = named_;
    options.packs = planner_ ? &*planner_ : nullptr;
    options.packed = packs_.seen;
    for (const Targets::Thread& thread : targets_.threads) options.processes.push_back(thread.pid);
    options.selection = selection_;
    options.own_pid = own_pid_;
    options.programs_max = late_programs_max(planned_.plan);
    options.real_time = command_.real_time;
    return options;
}

void Preparation::say_what_is_recorded(const std::vector<PackedFile>& packs) const {
    for (const WaitingProbe& probe : planned_.plan.waiting) {
        put_text(stderr, fmt::format("tracer: waiting for {}: {}\n", probe.spec, probe.reason));
    }
    for (const std::string& line : selection_.waiting_lines()) {
        put_text(stderr, fmt::format("tracer: {}\n", line));
    }
    for (const std::string& line : recognised_lines(packs)) {
        put_text(stderr, fmt::format("tracer: {}\n", line));
    }
    size_t sites = planned_.plan.tracepoints.size();
    for (const AttachFile& file : planned_.plan.files) sites += file.sites.size();
    std::string where =
        fmt::format("to {}", target_.path == "-" ? "standard output" : printable(target_.path));
    if (command_.rotation.is_on())
        where = fmt::format("to files named after {}", printable(target_.path));
    if (command_.chunks) where = "to memory, `tracer ctl chunks` takes it from there";
    if (command_.flight) {
        where = command_.ctl ? "to memory, `tracer ctl snapshot` writes"
                             : fmt::format("to memory, `kill -USR1 {}` writes", own_pid_);
        where += fmt::format(" a file named after {}", printable(target_.path));
    }
    if (command_.start) {
        put_text(stderr, fmt::format("tracer: armed; records from {} on{}\n", command_.start->text,
                                     command_.ctl ? ", or `tracer ctl resume`" : ""));
    }
    put_text(stderr,
             fmt::format("tracer: recording {}, {} probe site{}, rings of {} each; ^C ends it\n",
                         where, sites, sites == 1 ? "" : "s", human_bytes(ring_bytes_)));
}

std::string Preparation::target_text() const {
    if (child_) return fmt::format("{} (pid {})", child_->path(), child_->pid());
    if (command_.all) return "every process";
    if (!selection_.is_empty()) return "a selection of processes";
    return targets_.name.empty()
               ? fmt::format("{} processes", targets_.processes().size())
               : fmt::format("{} (pid {})", targets_.name, targets_.processes().front());
}

// A recording without a socket is as good as any, so what hinders one is a warning.
void Preparation::on_live(LiveRecording* live) {
    control_.reset();
    if (live == nullptr) return;
    const auto serve = [&]() -> Status {
        TR_ASSIGN(const std::string folder,
                  control_folder(geteuid(), std::getenv("XDG_RUNTIME_DIR")));
        TR_ASSIGN(ControlSocket socket, ControlSocket::make(folder, own_pid_));
        TR_ASSIGN(control_, ControlServer::make(*live, geteuid()));
        return control_->listen(std::move(socket));
    };
    if (const Status served = serve(); !served) {
        put_text(stderr, fmt::format("tracer: warning: `tracer ctl` cannot reach this recording: "
                                     "{} (--no-ctl: not asked for)\n",
                                     served.error().what));
    }
}

void Preparation::on_attached(const std::vector<PackedFile>& packs) const {
    if (!command_.verbosity.quiet) say_what_is_recorded(packs);
    if (const std::string problem = tell_readiness(readiness_); !problem.empty()) {
        put_text(stderr,
                 fmt::format("tracer: warning: nobody was told that all is armed: {}\n", problem));
    }
}

RecordingOptions Preparation::recording_options() {
    RecordingOptions options;
    options.probes = planned_.plan.probes;
    options.packs = packs_.found.files;
    options.targets = targets_;
    options.record_sched = command_.sched;
    options.ring_bytes = ring_bytes_;
    options.duration = command_.duration;
    options.start = command_.start;
    for (const Trigger& condition : command_.start_when) {
        options.start_event += fmt::format(
            "{}{}", options.start_event.empty() ? "--start-when " : " or ", condition.text);
    }
    options.mappings = mappings_.get();
    options.discovery = discovery_options();
    options.rings.is_on = command_.rings;
    options.rings.all = command_.all || !selection_.is_empty();
    options.rings.pids = targets_.pids;
    options.rings.follow_children = command_.tree;
    options.rings.own_pid = own_pid_;
    options.rings.real_time = command_.real_time;
    options.drain.real_time = command_.real_time;
    options.drain.share_percent = command_.drain_percent;
    // Of a flight recorder it limits the files.
    options.drain.output_bytes_max = flight_ != nullptr ? 0 : command_.bytes_max;
    options.flight = flight_;
    if (is_shown()) show_at_once(options.drain);
    options.names = {.output = absolute_output(target_.path),
                     .format = std::string(target_.format_name()),
                     .target = target_text()};
    if (command_.ctl) options.on_live = [this](LiveRecording* live) { on_live(live); };
    options.on_attached = [this](const auto& packs) { on_attached(packs); };
    return options;
}

// Everything that is drawn comes and goes with the recording.
void Preparation::show_top(RecordingOptions& options, Status& shown) {
    options.on_status = [this](const RecordingStatus& status) { top_->note_status(status); };
    options.on_attached = [this](const auto& packs) {
        on_attached(packs);
        top_->begin(*watch_, target_text(), ring_bytes_);
    };
    options.on_closing = [this, &shown] { shown = top_->finish(); };
}

// Nobody waits for a line in the background: a reader of pipes may have been gone for long before
// the next is written.
void Preparation::watch_reader() {
    struct stat info {};
    if (!is_shown() || fstat(STDOUT_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode)) return;
    watch_->add_readable(STDOUT_FILENO, [this] {
        is_reader_gone_ = true;
        watch_->forget_readable(STDOUT_FILENO);
        watch_->end_by(EndCause::output_failed);
    });
}

// Who has read enough goes away; that is no fault, and what was on its way is missed by nobody.
std::optional<int> Preparation::come_to_readers_end(const RecordingResult& result) const {
    const bool is_refused = !result.output && result.output.error().sys_errno == EPIPE;
    if (!is_shown() || (!is_reader_gone_ && !is_refused)) return std::nullopt;
    if (!command_.verbosity.quiet) {
        put_text(stderr, fmt::format("tracer: the reader went away after {} events in {:.3f} s\n",
                                     human_count(result.summary.events), result.summary.seconds));
    }
    return 0;
}

// Nothing was recorded: a file holds a header at most, and would only puzzle.
Result<int> Preparation::come_to_nothing(Error error) {
    const std::vector<std::string> files = output_->facts().files.paths;
    for (const std::string& file : files) remove_output(file);
    if (files.empty() && flight_ == nullptr && !command_.chunks) remove_output(target_.path);
    if (error.code != ErrorCode::interrupted) return tl::unexpected(std::move(error));
    report_error(error);
    return 128 + watch_->signal();  // as a shell says of a program that a signal ended
}

Result<int> Preparation::run() {
    StatusLine line(stderr);
    if (planner_ && !command_.verbosity.quiet) {
        for (const auto& text : catalog_lines(planner_->catalog(), command_.verbosity.verbose)) {
            put_text(stderr, fmt::format("tracer: {}\n", text));
        }
    }
    auto early_warnings = planned_.plan.warnings;
    if (!watch_warning_.empty()) early_warnings.push_back(watch_warning_);
    early_warnings.insert(early_warnings.end(), recorder_->warnings().begin(),
                          recorder_->warnings().end());
    RecordingOptions options = recording_options();
    if (!command_.verbosity.quiet) {
        if (line.is_on() && !is_shown()) {
            options.on_status = [&line](const RecordingStatus& status) { line.show(status); };
        }
        options.on_closing = [&line] { line.show_text("writing the rest; ^C ends at once"); };
        for (const std::string& text : early_warnings) {
            put_text(stderr, fmt::format("tracer: warning: {}\n", text));
        }
    }
    watch_reader();
    Status shown;
    if (top_) show_top(options, shown);
    auto result =
        run_recording(*recorder_, *output_, *watch_, child_ ? &*child_ : nullptr, options);
    line.clear();
    if (!result) return come_to_nothing(std::move(result).error());
    if (!shown) result->output = shown;
    if (const auto status = come_to_readers_end(*result)) return *status;
    Summary& summary = result->summary;
    summary.path = target_.path;
    summary.format = target_.format_name();
    if (!watch_warning_.empty()) summary.warnings.push_back(watch_warning_);
    if (top_ && top_->not_shown() > 0) {
        summary.warnings.push_back(
            fmt::format("{} intervals were not shown: the reader was slow", top_->not_shown()));
    }
    summary.warnings.insert(summary.warnings.begin(), planned_.plan.warnings.begin(),
                            planned_.plan.warnings.end());
    if (!command_.verbosity.quiet && !command_.verbosity.json) {
        // Each is told once; JSON is read without what came before it.
        std::erase_if(summary.warnings, [&](const std::string& text) {
            return std::ranges::find(early_warnings, text) != early_warnings.end();
        });
    }
    return report_result(*result, command_.verbosity);
}

}  // namespace

Result<int> run_record(const RecordCommand& command) {
    Preparation preparation(command);
    TR_TRY(preparation.prepare());
    return preparation.run();
}

}  // namespace tracer
