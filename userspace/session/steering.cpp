// SPDX-License-Identifier: Apache-2.0
//
// A running recording's answers: status, flush, stop, mark, and the change of its sink.
//
// A change of the sink: it is opened on the opening thread, the output exchanges it between two
// turns of the drain thread, and the one before is kept as it is, or closed on the closing thread.
// So no event falls between the two sinks, and nobody waits for a slow one but who asked. Made by
// recording.cpp; asked by the layer `control`.
#include "session/steering.h"

#include "session/buffer_size.h"
#include "session/clock.h"
#include "session/human.h"
#include "session/output_file.h"
#include "session/own_record.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr size_t kWarningsMax = 50;

// The same for two spellings of one file's name, whether it exists or not.
std::string key_of(const std::string& target) {
    if (is_socket_target(target) || target == "-") return target;
    std::error_code error;
    const auto whole = std::filesystem::absolute(target, error);
    if (error) return target;
    const auto path = std::filesystem::weakly_canonical(whole, error);
    return error ? target : path.string();
}

double per_second(uint64_t count, uint64_t ns) {
    return ns == 0 ? 0 : static_cast<double>(count) * 1e9 / static_cast<double>(ns);
}

}  // namespace

model::Point mark_point(model::PointIndex index) {
    return own_point(index, "mark", {{"text", model::ValueType::string}});
}

ProbeDefinition mark_definition(model::PointIndex index) {
    return own_definition(TR_PROBE_mark, index, "mark", {model::ValueType::string});
}

Result<std::unique_ptr<Steering>> Steering::make(SteeringParts parts) {
    TR_ASSIGN(auto opener, SideThread::make());
    TR_ASSIGN(auto closer, SideThread::make());
    return std::unique_ptr<Steering>(
        new Steering(std::move(parts), std::move(opener), std::move(closer)));
}

Steering::Steering(SteeringParts parts,
                   std::unique_ptr<SideThread> opener,
                   std::unique_ptr<SideThread> closer)
    : parts_(std::move(parts)),
      opener_(std::move(opener)),
      closer_(std::move(closer)),
      asked_ns_(parts_.armed_ns) {
    places_.push_back({.target = parts_.names.output});
    parts_.watch.add_readable(opener_->fd(), [this] { opener_->run_done(); });
    parts_.watch.add_readable(closer_->fd(), [this] { closer_->run_done(); });
}

Steering::~Steering() {
    finish();
    parts_.watch.forget_readable(opener_->fd());
    parts_.watch.forget_readable(closer_->fd());
}

LiveStatus Steering::status() {
    OutputFacts facts;
    parts_.drain.call([&] { facts = parts_.output.facts(); });
    const DrainProgress& progress = parts_.drain.progress();
    const uint64_t now_ns = boottime_ns();
    LiveStatus status;
    status.seconds = static_cast<double>(now_ns - parts_.armed_ns) / 1e9;
    status.records = progress.records.load(std::memory_order_relaxed);
    status.events = facts.events;
    status.bytes = parts_.output.bytes();
    const uint64_t since_ns = now_ns - asked_ns_;
    status.records_per_second = per_second(status.records - asked_records_, since_ns);
    status.bytes_per_second = per_second(status.bytes - asked_bytes_, since_ns);
    asked_ns_ = now_ns;
    asked_records_ = status.records;
    asked_bytes_ = status.bytes;
    status.ring_bytes = parts_.ring_bytes;
    status.ring_fill = parts_.drain.take_fill_max();
    status.lost.ring_full = progress.lost.load(std::memory_order_relaxed);
    status.lost.sink_full = std::max(facts.writer.no_room, facts.decoder.lost_to_sink);
    status.lost.refused = facts.writer.refused;
    status.lost.malformed = facts.decoder.malformed;
    status.output = places_[current_].target;
    status.format = parts_.names.format;
    status.target = parts_.names.target;
    for (const Kept& kept : kept_) status.kept.push_back(places_[kept.place].target);
    status.sink_changes = changes_;
    if (facts.files.is_history) status.history = facts.files.history;
    if (facts.files.is_in_memory) status.chunks_waiting = facts.files.chunks_waiting;
    if (const RecordGate* gate = parts_.gate; gate != nullptr) {
        status.is_paused = !gate->is_open();
        if (gate->is_waiting() || progress.is_waiting) status.waiting_for = parts_.waits_for;
        status.paused_seconds = static_cast<double>(gate->paused_ns(now_ns)) / 1e9;
        status.pauses = gate->closings();
    }
    return status;
}

void Steering::flush() {
    parts_.drain.call([this] { parts_.output.flush(); });
}

void Steering::stop() {
    parts_.watch.end_by(EndCause::stopped);
}

Status Steering::mark(std::string_view text) {
    if (text.empty()) return fail(ErrorCode::usage, "a mark needs a text", "mark TEXT");
    if (text.size() > kOwnTextBytesMax) {
        return fail(ErrorCode::usage,
                    fmt::format("the text of a mark has at most {} bytes", kOwnTextBytesMax));
    }
    const uint64_t now_ns = boottime_ns();
    ++marks_;
    parts_.late.add({now_ns, make_own_hit({.probe_id = TR_PROBE_mark,
                                           .pid = static_cast<uint32_t>(getpid()),
                                           .tid = static_cast<uint32_t>(gettid()),
                                           .time_ns = now_ns,
                                           .text = text})});
    return {};
}

Status Steering::snapshot(const std::string& reason) {
    if (parts_.flight == nullptr) {
        return fail(ErrorCode::usage, "this recording keeps no history: all of it is in its file",
                    "tracer --keep 30s keeps one");
    }
    parts_.drain.call([&] { parts_.flight->request(reason); });
    return {};
}

Result<BuffersChanged> Steering::change_buffers(const BuffersChange& change) {
    BuffersChanged changed{.ring_bytes = parts_.ring_bytes};
    if (change.rings) {
        const MachineLoad load = read_machine_load(false);
        TR_ASSIGN(const uint64_t bytes, choose_ring_bytes(change.rings, load, false));
        // Of who changes them faster than the old ones may go.
        const uint64_t old_bytes = parts_.recorder->old_ring_bytes();
        if (old_bytes > load.memory_available_bytes / 16) {
            return fail(ErrorCode::limit,
                        fmt::format("the rings before still hold {}", human_bytes(old_bytes)),
                        "they go ten seconds after their last use: try again then");
        }
        TR_TRY(parts_.recorder->make_other_rings(bytes));
        parts_.drain.call([this] { parts_.recorder->add_other_rings(); });
        TR_TRY(parts_.recorder->use_other_rings());
        parts_.ring_bytes = bytes;
        changed.ring_bytes = bytes;
    }
    parts_.drain.call(
        [&] { changed.sink_bytes = parts_.output.change_buffers(change.sink_bytes); });
    return changed;
}

Result<TakenChunk> Steering::take_chunk(bool end_current) {
    Result<TakenChunk> taken;
    parts_.drain.call([&] { taken = parts_.output.take_chunk(end_current); });
    return taken;
}

Result<GateChange> Steering::pause() {
    return change_gate(false);
}

Result<GateChange> Steering::resume() {
    return change_gate(true);
}

Result<GateChange> Steering::change_gate(bool opens) {
    if (parts_.gate == nullptr) {
        return fail(ErrorCode::missing_feature, "this recording cannot be paused");
    }
    RecordGate& gate = *parts_.gate;
    GateChange change{.is_changed = gate.is_open() != opens};
    // Opened by hand, the event that it waits for is not waited for any more.
    if (opens && parts_.drain.progress().is_waiting) {
        parts_.drain.call([this] { parts_.output.start_now(); });
        change.is_changed = true;
    }
    TR_TRY(opens ? gate.open("tracer ctl resume") : gate.close("tracer ctl pause"));
    change.paused_seconds = static_cast<double>(gate.last_closed_ns(boottime_ns())) / 1e9;
    return change;
}

void Steering::add_readable(int fd, std::function<void()> handler) {
    parts_.watch.add_readable(fd, std::move(handler));
}

void Steering::forget_readable(int fd) {
    parts_.watch.forget_readable(fd);
}

Status Steering::check_change(const SinkChange& change) const {
    TR_TRY(parts_.output.check_switch());
    if (is_ending_) return fail(ErrorCode::limit, "the recording is about to end");
    if (is_changing_) {
        return fail(ErrorCode::limit, "another change of the sink is under way", "try again");
    }
    if (change.keep_old && kept_.size() >= kKeptMax) {
        return fail(ErrorCode::limit, fmt::format("{} sinks are kept already", kKeptMax),
                    "let go of some: sink restore");
    }
    return {};
}

bool Steering::is_in_use(const std::string& target) const {
    const std::string key = key_of(target);
    if (key_of(places_[current_].target) == key) return true;
    return std::ranges::any_of(
        kept_, [&](const Kept& kept) { return key_of(places_[kept.place].target) == key; });
}

void Steering::change_sink(const SinkChange& change, SinkChangeDone done) {
    if (Status possible = check_change(change); !possible) {
        done(tl::unexpected(std::move(possible).error()));
        return;
    }
    // A file that is replaced loses its name, and with it all that is in it.
    if (is_in_use(change.target)) {
        done(fail(ErrorCode::usage, fmt::format("{} is in use by this recording", change.target),
                  "choose another name"));
        return;
    }
    is_changing_ = true;
    opener_->post([this, change, done = std::move(done)]() -> std::function<void()> {
        // Who changes faster than disks and readers take the end of what was before waits here.
        closer_->wait_until_below(kClosingMax);
        auto opened = std::make_shared<Result<std::unique_ptr<ByteSink>>>(
            open_sink(change.target, parts_.real_time));
        return [this, change, done, opened] { take_opened(change, std::move(*opened), done); };
    });
}

void Steering::take_opened(const SinkChange& change,
                           Result<std::unique_ptr<ByteSink>> opened,
                           const SinkChangeDone& done) {
    is_changing_ = false;
    if (!opened) {
        done(tl::unexpected(std::move(opened).error()));
        return;
    }
    if (is_ending_) {
        // Nothing is in it, so nothing can get lost in it.
        static_cast<void>((*opened)->close());
        done(fail(ErrorCode::limit, "the recording ended before"));
        return;
    }
    places_.push_back({.target = change.target});
    done(exchange(std::move(*opened), places_.size() - 1, change));
}

Result<SinkChanged> Steering::exchange(std::unique_ptr<ByteSink> sink,
                                       size_t place,
                                       const SinkChange& change) {
    Status switched;
    parts_.drain.call([&] {
        switched = parts_.output.switch_sink(sink, change.start);
        if (!switched) return;
        parts_.drain.forget_failure();
        // No moment at which the new file holds nothing.
        parts_.output.flush();
    });
    if (!switched) {
        close_later(std::move(sink), place);
        return tl::unexpected(std::move(switched).error());
    }
    ++changes_;
    const size_t before = std::exchange(current_, place);
    places_[before].committed = sink->bytes_committed();
    // One that has failed takes nothing any more.
    const bool keeps = change.keep_old && sink->health().has_value();
    SinkChanged changed{.output = places_[current_].target,
                        .output_before = places_[before].target,
                        .is_kept = keeps};
    if (keeps) {
        const bool is_ended =
            change.start == SinkStart::reads_alone && !parts_.output.is_appendable();
        kept_.push_back({std::move(sink), before, is_ended});
    } else {
        close_later(std::move(sink), before);
    }
    return changed;
}

void Steering::restore_sink(const SinkChange& change, SinkChangeDone done) {
    Status possible = check_change(change);
    if (possible && kept_.empty()) {
        possible = fail(ErrorCode::not_found, "no sink is kept to go back to",
                        "`sink TARGET keep-old` keeps the one before");
    }
    if (possible && kept_.back().is_ended) {
        possible =
            fail(ErrorCode::usage,
                 fmt::format("{} is complete: the format has written its end there",
                             places_[kept_.back().place].target),
                 "`sink TARGET keep-old no-header` leaves it open for `sink restore no-header`");
    }
    if (possible && change.start == SinkStart::reads_alone && !parts_.output.is_appendable()) {
        possible = fail(ErrorCode::usage,
                        "a file of this format holds one header, and the kept one has it",
                        "sink restore no-header");
    }
    if (!possible) {
        done(tl::unexpected(std::move(possible).error()));
        return;
    }
    Kept kept = std::move(kept_.back());
    kept_.pop_back();
    done(exchange(std::move(kept.sink), kept.place, change));
}

bool Steering::fall_back() {
    if (is_ending_) return false;
    const bool is_appendable = parts_.output.is_appendable();
    for (size_t i = kept_.size(); i-- > 0;) {
        if (kept_[i].is_ended || !kept_[i].sink->health()) continue;
        Kept kept = std::move(kept_[i]);
        kept_.erase(kept_.begin() + static_cast<long>(i));
        // With its own header where there may be two: what the failed sink had said is not there.
        const SinkStart start = is_appendable ? SinkStart::reads_alone : SinkStart::goes_on;
        const auto changed = exchange(std::move(kept.sink), kept.place, {.start = start});
        if (!changed) return false;
        if (warnings_.size() < kWarningsMax) {
            warnings_.push_back(fmt::format("{} failed: what came after is in {} again",
                                            changed->output_before, changed->output));
        }
        return true;
    }
    return false;
}

void Steering::close_later(std::unique_ptr<ByteSink> sink, size_t place) {
    const std::shared_ptr<ByteSink> closing = std::move(sink);
    closer_->post([this, closing, place]() -> std::function<void()> {
        const Status closed = closing->close();
        return [this, closing, place, closed] { note_closed(place, *closing, closed); };
    });
}

void Steering::note_closed(size_t place, const ByteSink& sink, const Status& closed) {
    places_[place].committed = sink.bytes_committed();
    if (closed) return;
    Place& failed = places_[place];
    failed.missing = sink.bytes_committed() - sink.bytes_written();
    failed.error = closed.error().what;
    if (warnings_.size() >= kWarningsMax) return;
    warnings_.push_back(fmt::format("sink {}: {}; {} of {} bytes did not get there", failed.target,
                                    failed.error, failed.missing, failed.committed));
}

void Steering::finish() {
    if (std::exchange(is_ending_, true)) return;
    opener_->finish();
    for (Kept& kept : kept_) note_closed(kept.place, *kept.sink, kept.sink->close());
    kept_.clear();
    closer_->finish();
}

std::vector<Summary::Sink> Steering::sinks() const {
    std::vector<Summary::Sink> rows;
    if (changes_ == 0) return rows;
    uint64_t others = 0;
    for (size_t i = 0; i < places_.size(); ++i) {
        if (i != current_) others += places_[i].committed;
    }
    for (size_t i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        const uint64_t bytes = i == current_ ? parts_.output.bytes_written() - others
                                             : place.committed - place.missing;
        rows.push_back({.path = place.target, .bytes = bytes, .error = place.error});
    }
    return rows;
}

uint64_t Steering::bytes_missing() const {
    uint64_t missing = 0;
    for (const Place& place : places_) missing += place.missing;
    return missing;
}

}  // namespace tracer
