// SPDX-License-Identifier: Apache-2.0
//
// One function for the life of a recording, one for the stop order. Threads: this one (signals,
// timers, targets, the status line), the drain thread, the discovery thread, and the sink's own.
// The recorder's consuming side, the merger and the output are handed to the drain thread by
// start() and come back with stop(). Called by the CLI; tests run it over a fake recorder.
#include "session/recording.h"

#include "packs/pack_refusals.h"
#include "session/clock.h"
#include "session/record_gate.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <span>

#include <fmt/format.h>

namespace tracer {
namespace {

// After the last target's end: its exit and last switch are recorded a moment later than its
// pidfd says so.
constexpr std::chrono::milliseconds kGraceAfterTargets{20};
// After ^C, which went to the command of `-- cmd` too: time for it to end in the trace.
constexpr std::chrono::milliseconds kGraceForCommand{2000};

void write_clocks(Output& output) {
    const tr_clock clocks = read_clocks();
    output.handler().on_record(std::as_bytes(std::span(&clocks, 1)));
}

// Processes that fit a selection may come for as long as one waits: then a command's end alone is
// the recording's.
Status watch_targets(EndWatch& watch,
                     const Targets& targets,
                     const ChildProcess* child,
                     bool has_selection) {
    if (has_selection) return child != nullptr ? watch.add_process(child->pid()) : Status{};
    for (const uint32_t pid : targets.pids) TR_TRY(watch.add_process(pid));
    for (const Targets::Thread& thread : targets.threads) {
        TR_TRY(watch.add_thread(thread.tid, thread.pid));
    }
    if (child != nullptr) TR_TRY(watch.add_process(child->pid()));
    return {};
}

RingWatchOptions with_recorder(RingWatchOptions options, const KernelRecorder& recorder) {
    options.is_recorded = [&recorder](uint32_t pid) { return recorder.is_recorded(pid); };
    return options;
}

class Recording {
public:
    Recording(KernelRecorder& recorder,
              Output& output,
              EndWatch& watch,
              ChildProcess* child,
              const RecordingOptions& options)
        : recorder_(recorder),
          output_(output),
          watch_(watch),
          child_(child),
          options_(options),
          packs_(options.packs),
          merger_(recorder),
          ring_watch_(rings_, with_recorder(options.rings, recorder)),
          gate_(recorder, rings_, late_),
          drain_(recorder, merger_, output, late_, rings_, options.drain) {
        if (options.mappings != nullptr || !options.discovery.selection.is_empty()) {
            DiscoveryOptions discovery = options.discovery;
            discovery.on_program = [this](uint32_t pid) { ring_watch_.expect(pid); };
            discovery_.emplace(recorder, options.mappings, late_, std::move(discovery));
        }
        watch_.raise_by([this] { return raised(); });
        watch_.on_user_signal([this] { take_user_signal(); });
    }
    ~Recording() {
        if (start_timer_.valid()) watch_.forget_readable(start_timer_.get());
        watch_.raise_by({});
        watch_.on_user_signal({});
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    Result<RecordingResult> run();

private:
    Status begin();
    Status arm_start();
    void note_started();
    [[nodiscard]] bool is_waiting() const { return gate_.is_waiting() || waits_for_event_; }
    [[nodiscard]] std::string waits_for() const {
        return options_.start ? options_.start->text : options_.start_event;
    }
    Status start_timers(bool with_duration);
    void take_opened();
    void let_go();
    Error never_opened(EndCause cause);
    void begin_steering();
    EndCause record();
    std::optional<EndCause> raised();
    RecordingResult stop(EndCause cause);
    [[nodiscard]] Summary summarize(const KernelCounters& counters, bool is_empty);
    void note_end(Summary& summary, EndCause cause);
    void note_times(Summary& summary, uint64_t disarmed_ns) const;
    void close_other_sinks(Summary& summary);
    void report_status();
    void take_user_signal();

    KernelRecorder& recorder_;
    Output& output_;
    EndWatch& watch_;
    ChildProcess* child_;
    const RecordingOptions& options_;
    std::vector<PackedFile> packs_;  // of the start, as they were attached
    Merger merger_;
    LateQueue late_;
    RingReader rings_;
    RingWatch ring_watch_;
    RecordGate gate_;
    DrainThread drain_;
    std::optional<Discovery> discovery_;
    UniqueFd start_timer_;
    uint64_t armed_ns_ = 0;
    uint64_t opened_ns_ = 0;  // of one that waited
    bool waits_for_event_ = false;
    std::vector<std::string> warnings_;
    std::unique_ptr<Steering> steering_;  // null: nobody steers
};

Result<RecordingResult> Recording::run() {
    TR_TRY(begin());
    const EndCause cause = record();
    // What makes the condition of the start true may be on its way.
    if (waits_for_event_) {
        drain_.call([] {});
        note_started();
    }
    if (is_waiting()) return tl::unexpected(never_opened(cause));
    return stop(cause);
}

// Draining starts before attaching: the snapshot of all tasks alone can fill a small ring.
Status Recording::begin() {
    write_clocks(output_);
    // Whoever is killed from here on leaves a file that opens.
    output_.flush();
    waits_for_event_ = output_.is_waiting();
    drain_.start(watch_.wake_fd());
    if (child_ != nullptr) recorder_.add_target(child_->pid());
    Status attached;
    // Closed first: what attaching does to the machine is not in the trace.
    if (options_.start) attached = gate_.wait_closed([this] { take_opened(); });
    if (attached) attached = recorder_.attach([this] { return watch_.take_signal(); });
    if (!attached && watch_.signal() != 0) {
        const char* name = sigabbrev_np(watch_.signal());
        attached = fail(ErrorCode::interrupted,
                        fmt::format("interrupted by SIG{} while probes were attached; nothing is "
                                    "recorded",
                                    name != nullptr ? name : "?"));
    }
    if (attached) {
        attached = watch_targets(watch_, options_.targets, child_,
                                 !options_.discovery.selection.is_empty());
    }
    armed_ns_ = boottime_ns();
    // Before the discovery has the recorder attach more.
    note_refused_places(packs_, options_.discovery.plan, recorder_.refused());
    if (child_ != nullptr) ring_watch_.add_process(child_->pid());
    if (attached) ring_watch_.start();
    // Before the child runs: what it starts may bring probes at once.
    if (attached && discovery_) attached = discovery_->start();
    if (attached && child_ != nullptr) attached = child_->release();
    if (attached && options_.start) attached = arm_start();
    if (attached) attached = start_timers(!is_waiting());
    if (attached) {
        // Who reads that all is attached may steer at once.
        begin_steering();
        if (options_.on_attached) options_.on_attached(packs_);
        return {};
    }
    let_go();
    return attached;
}

// Nothing is recorded. The first error is the one to tell; detaching happens again when the
// recorder is destroyed.
void Recording::let_go() {
    if (discovery_) discovery_->stop();
    ring_watch_.stop();
    if (const Status detached = recorder_.detach(); !detached) {
        warnings_.push_back(detached.error().what);
    }
    drain_.stop();
}

Status Recording::start_timers(bool with_duration) {
    const auto tick = options_.on_status ? options_.tick : std::chrono::milliseconds(0);
    return watch_.start_timers(with_duration ? options_.duration : std::nullopt, tick);
}

Status Recording::arm_start() {
    TR_ASSIGN(start_timer_, open_start_timer(*options_.start));
    watch_.add_readable(start_timer_.get(), [this] {
        if (const Status opened = gate_.open(options_.start->text); !opened) {
            warnings_.push_back(opened.error().what);
        }
    });
    return {};
}

// By its time, or by who steers it.
void Recording::take_opened() {
    watch_.forget_readable(start_timer_.get());
    start_timer_.reset();
    opened_ns_ = boottime_ns();
    if (const Status started = start_timers(true); !started) {
        warnings_.push_back(started.error().what);
    }
}

// By the event that the output waited for, or by who steers it.
void Recording::note_started() {
    if (!waits_for_event_ || drain_.progress().is_waiting) return;
    waits_for_event_ = false;
    opened_ns_ = boottime_ns();
    if (const Status started = start_timers(true); !started) {
        warnings_.push_back(started.error().what);
    }
}

Error Recording::never_opened(EndCause cause) {
    let_go();
    if (steering_) {
        steering_->finish();
        if (options_.on_live) options_.on_live(nullptr);
    }
    return Error{
        .code = cause == EndCause::interrupted ? ErrorCode::interrupted : ErrorCode::not_found,
        .what = fmt::format("ended ({}) before {}: nothing is recorded", end_cause_text(cause),
                            waits_for()),
        .hint = "`tracer ctl resume` opens a recording that waits"};
}

void Recording::begin_steering() {
    if (!options_.on_live) return;
    auto steering = Steering::make({.drain = drain_,
                                    .output = output_,
                                    .late = late_,
                                    .watch = watch_,
                                    .names = options_.names,
                                    .armed_ns = armed_ns_,
                                    .real_time = options_.drain.real_time,
                                    .flight = options_.flight,
                                    .recorder = &recorder_,
                                    .ring_bytes = options_.ring_bytes,
                                    .gate = &gate_,
                                    .waits_for = waits_for()});
    if (!steering) {
        warnings_.push_back(fmt::format("not to be steered: {}", steering.error().what));
        return;
    }
    steering_ = std::move(*steering);
    options_.on_live(steering_.get());
}

// A sink that fails ends the recording, unless there is another to go back to.
std::optional<EndCause> Recording::raised() {
    note_started();
    const std::optional<EndCause> cause = drain_.raised();
    if (cause == EndCause::output_failed && steering_ && steering_->fall_back()) {
        return drain_.raised();
    }
    return cause;
}

EndCause Recording::record() {
    const EndCause cause = watch_.wait([this] { report_status(); });
    if (cause == EndCause::targets_ended) {
        // Nobody is left to wait for; a signal still cuts the grace short.
        watch_.pause(kGraceAfterTargets);
    }
    if (cause == EndCause::interrupted && watch_.signal() == SIGINT && child_ != nullptr) {
        watch_.wait_for_targets(kGraceForCommand);
    }
    return cause;
}

// Records that userspace made: so it is us who counts them.
void count_own(KernelCounters& counters, uint32_t probe_id, uint64_t records) {
    if (records == 0) return;
    auto row = std::ranges::find(counters.probes, probe_id, &KernelCounters::Probe::probe_id);
    if (row == counters.probes.end()) row = counters.probes.insert(row, {probe_id, {}});
    row->counters.hits += records;
}

// The stop order: no more discoveries, detach, drain to empty, read the counters, compare them with
// what came, end the format, close the sink.
RecordingResult Recording::stop(EndCause cause) {
    if (discovery_) discovery_->stop();
    ring_watch_.stop();
    // From here on nothing is a hit, however long it takes to let go of the probes.
    const uint64_t disarmed_ns = boottime_ns();
    if (const Status detached = recorder_.detach(); !detached) {
        warnings_.push_back(detached.error().what);
    }
    drain_.stop();
    const bool is_empty = drain_.drain_to_empty([this] { return watch_.take_signal(); });
    merger_.finish(boottime_ns(), drain_.limit().handler());
    KernelCounters counters = recorder_.counters();
    if (discovery_) {
        count_own(counters, TR_PROBE_armed, discovery_->records());
        count_own(counters, TR_PROBE_titled, discovery_->titles());
    }
    count_own(counters, TR_PROBE_ring, rings_.records());
    if (steering_) count_own(counters, TR_PROBE_mark, steering_->marks());
    count_own(counters, TR_PROBE_paused, gate_.closings());
    count_own(counters, TR_PROBE_resumed, gate_.openings());
    write_clocks(output_);

    RecordingResult result;
    result.output = output_.finish(boottime_ns(), counters);
    result.summary = summarize(counters, is_empty);
    note_times(result.summary, disarmed_ns);
    note_end(result.summary, cause);

    output_.flush();
    // One that came meanwhile asked for what happens next anyway; it must not cost the file's end.
    if (watch_.take_signal()) result.summary.warnings.push_back("interrupted a second time");
    if (options_.on_closing) options_.on_closing();
    // Closing the sink may wait for a slow disk or a reader that stopped reading; every record in
    // it is whole.
    EndWatch::let_signals_kill();
    const Status closed = output_.close();
    result.summary.bytes = output_.bytes();
    // Files are made, and deleted, up to here.
    result.summary.files = output_.facts().files;
    if (const HistoryDisk& disk = result.summary.files.history_disk; disk.segments_given_up > 0) {
        result.summary.warnings.push_back(fmt::format(
            "the disk did not keep all of the history ({}): what was before was forgotten earlier",
            disk.error.empty() ? "it is slower than events come" : disk.error));
    }
    if (const PlainChunks& plain = result.summary.files.left_plain; plain.count > 0) {
        result.summary.warnings.push_back(
            fmt::format("{} files are not compressed: {}", plain.count, plain.reason));
    }
    // What closing reports is the sink's first error, and the cause of any that came before it.
    if (!closed) result.output = closed;
    close_other_sinks(result.summary);
    const uint64_t missing = steering_ ? steering_->bytes_missing() : 0;
    if (!closed || missing > 0) count_unwritten(result.summary, output_.bytes_written() - missing);
    return result;
}

void Recording::note_times(Summary& summary, uint64_t disarmed_ns) const {
    const uint64_t paused_ns = gate_.paused_ns(disarmed_ns);
    // It was closed before it was armed.
    const uint64_t opened_ns = armed_ns_ > opened_ns_ ? armed_ns_ : opened_ns_;
    summary.seconds = static_cast<double>(disarmed_ns - opened_ns - paused_ns) / 1e9;
    summary.paused_seconds = static_cast<double>(paused_ns) / 1e9;
    summary.pauses = gate_.closings();
    summary.waited_seconds = static_cast<double>(opened_ns - armed_ns_) / 1e9;
}

void Recording::close_other_sinks(Summary& summary) {
    if (!steering_) return;
    steering_->finish();
    summary.sinks = steering_->sinks();
    summary.warnings.insert(summary.warnings.end(), steering_->warnings().begin(),
                            steering_->warnings().end());
    if (options_.on_live) options_.on_live(nullptr);
}

Summary Recording::summarize(const KernelCounters& counters, bool is_empty) {
    std::vector<ProbeDefinition> probes = options_.probes;
    std::vector<PackedFile> packs = packs_;
    if (discovery_) {
        probes.insert(probes.end(), discovery_->probes().begin(), discovery_->probes().end());
        packs.insert(packs.end(), discovery_->packed().begin(), discovery_->packed().end());
    }
    Summary summary =
        make_summary({.kernel = counters,
                      .merger = merger_.counters(),
                      .rings = merger_.rings(),
                      .output = output_,
                      .probes = probes,
                      .packs = std::move(packs),
                      .ring_bytes = steering_ ? steering_->ring_bytes() : options_.ring_bytes,
                      .abandoned = !is_empty,
                      .after_limit = drain_.limit().left_out(),
                      .record_sched = options_.record_sched});
    if (discovery_) summary.armed_late = discovery_->counts();
    add_shared_rings(summary, rings_.tallies());
    return summary;
}

void Recording::note_end(Summary& summary, EndCause cause) {
    summary.ended_by = end_cause_text(cause);
    summary.stop_condition = output_.met_condition();
    if (child_ != nullptr) {
        const std::string end = child_->reap();
        summary.command_end =
            end.empty() ? fmt::format("{} (pid {}) still runs", child_->path(), child_->pid())
                        : fmt::format("{} {}", child_->path(), end);
    }
    if (!drain_.priority_warning().empty()) warnings_.push_back(drain_.priority_warning());
    if (const uint64_t pauses = drain_.progress().pauses; pauses > 0 && summary.loss.total() > 0) {
        warnings_.push_back(fmt::format(
            "draining used up its {} % of a CPU {} times: events come faster than they can be "
            "written; record fewer (--pid, fewer probes, --no-sched)",
            options_.drain.share_percent, pauses));
    }
    if (!drain_.late_error().empty()) warnings_.push_back(drain_.late_error());
    if (discovery_) {
        warnings_.insert(warnings_.end(), discovery_->warnings().begin(),
                         discovery_->warnings().end());
    }
    warnings_.insert(warnings_.end(), ring_watch_.warnings().begin(), ring_watch_.warnings().end());
    summary.warnings.insert(summary.warnings.begin(), recorder_.warnings().begin(),
                            recorder_.warnings().end());
    summary.warnings.insert(summary.warnings.end(), warnings_.begin(), warnings_.end());
}

void Recording::take_user_signal() {
    if (options_.flight != nullptr) {
        drain_.call([this] { options_.flight->request("SIGUSR1"); });
        return;
    }
    const std::string text = "SIGUSR1: no history is kept; --keep 30s keeps one to write";
    if (std::ranges::find(warnings_, text) == warnings_.end()) warnings_.push_back(text);
}

void Recording::report_status() {
    if (!options_.on_status) return;
    const DrainProgress& progress = drain_.progress();
    options_.on_status({.seconds = static_cast<double>(boottime_ns() - armed_ns_) / 1e9,
                        .records = progress.records.load(std::memory_order_relaxed),
                        .lost = progress.lost.load(std::memory_order_relaxed),
                        .bytes = output_.bytes(),
                        .ring_fill = progress.fill.load(std::memory_order_relaxed),
                        .is_paused = !gate_.is_open(),
                        .waiting_for = is_waiting() ? waits_for() : ""});
}

}  // namespace

Result<RecordingResult> run_recording(KernelRecorder& recorder,
                                      Output& output,
                                      EndWatch& watch,
                                      ChildProcess* child,
                                      const RecordingOptions& options) {
    return Recording(recorder, output, watch, child, options).run();
}

}  // namespace tracer
