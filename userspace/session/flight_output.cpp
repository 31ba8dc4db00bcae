// SPDX-License-Identifier: Apache-2.0
//
// decoder -> TriggeredHistory -> EventHistory, and from there, when a trigger is pulled, to
// SnapshotFiles. All but the writing of files is done by the thread that drains.
#include "session/flight_output.h"

#include "session/clock.h"
#include "session/own_record.h"

#include <optional>
#include <span>
#include <utility>

namespace tracer {
namespace {

constexpr std::string_view kCategory = "tracer";
constexpr std::string_view kName = "snapshot";

// What has been pulled and waits for what follows.
struct Pending {
    uint64_t trigger_ns = 0;
    std::string reason;
};

// Shows each event to the conditions before the history takes it.
class TriggeredHistory final : public TraceWriter {
public:
    explicit TriggeredHistory(const FlightOptions& options)
        : history_(options.history),
          watch_(options.triggers),
          has_triggers_(!options.triggers.empty()),
          cooldown_ns_(options.cooldown_ns) {}

    Status open() override { return {}; }
    void define(const model::Thread& thread) override {
        if (has_triggers_) watch_.define(thread);
        history_.define(thread);
    }
    void define(const model::Point& point) override {
        if (point.category == kCategory && point.name == kName) mark_ = point.index;
        if (has_triggers_) watch_.define(point);
        history_.define(point);
    }
    WriteStatus write(const model::Event& event) override {
        const Trigger* pulled = has_triggers_ ? watch_.look_at(event, history_) : nullptr;
        const WriteStatus status = history_.write(event);
        if (pulled != nullptr) pull(event.time_ns, pulled->text, false);
        return status;
    }
    Status begin_chunk() override { return {}; }
    Status close() override { return {}; }
    const WriterCounters& counters() const override { return history_.counters(); }

    // `is_request`: whatever came before.
    void pull(uint64_t time_ns, const std::string& reason, bool is_request) {
        const bool is_too_soon = last_ns_ && time_ns < *last_ns_ + cooldown_ns_;
        if (!is_request && (pending_ || is_too_soon)) {
            skipped_ += 1;
            return;
        }
        if (!is_request) last_ns_ = time_ns;
        write_mark(time_ns, reason);
        // One that waits is written with the request, a little earlier than it would have been.
        if (pending_) {
            pending_->reason += "; " + reason;
        } else {
            pending_ = Pending{time_ns, reason};
        }
    }

    [[nodiscard]] const std::optional<Pending>& pending() const { return pending_; }
    [[nodiscard]] std::optional<Pending> take_pending() {
        return std::exchange(pending_, std::nullopt);
    }
    [[nodiscard]] EventHistory& history() { return history_; }
    [[nodiscard]] const EventHistory& history() const { return history_; }
    [[nodiscard]] uint64_t skipped() const { return skipped_; }

private:
    void write_mark(uint64_t time_ns, const std::string& reason) {
        if (!mark_) return;
        const model::Value text{.type = model::ValueType::string, .text = reason};
        // Never without room.
        static_cast<void>(history_.write(
            {time_ns, model::Instant{*mark_, model::kIdleThread, {&text, 1}}, model::kNoCpu}));
    }

    EventHistory history_;
    TriggerWatch watch_;
    const bool has_triggers_;
    const uint64_t cooldown_ns_;
    std::optional<model::PointIndex> mark_;
    std::optional<uint64_t> last_ns_;  // of a condition's snapshot
    std::optional<Pending> pending_;
    uint64_t skipped_ = 0;
};

class Flight final : public FlightOutput, private RecordHandler {
public:
    Flight(RecordingDefinitions definitions, FlightOptions options)
        : options_(std::move(options)),
          files_(options_.files),
          writer_(options_),
          decoder_(Decoder::make(std::move(definitions), writer_)) {}

    // Before the first event.
    [[nodiscard]] Status keep_in(const std::string& folder) {
        return writer_.history().keep_in(folder);
    }

    RecordHandler& handler() override { return *this; }
    Status add(const std::vector<model::Point>& points,
               const std::vector<ProbeDefinition>& probes) override {
        decoder_->add(points, probes);
        return {};
    }
    // Also called while nothing comes.
    void flush() override { write_if_due(boottime_ns()); }
    // A file that fails costs no other, and no recording.
    Status health() const override { return {}; }
    uint64_t bytes() const override { return files_.bytes(); }
    uint64_t bytes_now() override { return files_.bytes(); }

    Status check_switch() const override {
        return fail(ErrorCode::missing_feature, "what is kept in memory goes to snapshots alone",
                    "ctl snapshot writes one");
    }
    bool is_appendable() const override { return false; }
    Status switch_sink(std::unique_ptr<ByteSink>& /*sink*/, SinkStart /*start*/) override {
        return check_switch();
    }

    void request(std::string reason) override {
        writer_.pull(now_ns(), reason, true);
        write_if_due(now_ns());
    }
    HistoryExtent extent() const override { return writer_.history().extent(); }

    Status finish(uint64_t now_ns, const KernelCounters& /*counters*/) override {
        decoder_->finish(now_ns);
        if (options_.at_end) writer_.pull(now_ns, "the recording ended", true);
        if (writer_.pending()) write_pending();
        return {};
    }
    Status close() override { return files_.finish(); }
    uint64_t bytes_written() const override { return files_.bytes(); }

    OutputFacts facts() const override {
        return {
            .events = writer_.counters().events,
            .first_ns = decoder_->first_ns(),
            .last_ns = decoder_->last_ns(),
            .decoder = decoder_->counters(),
            .writer = writer_.counters(),
            .spans = decoder_->span_tallies(),
            .files = {.paths = {},
                      .left_plain = files_.left_plain(),
                      .is_history = true,
                      .snapshots = files_.files(),
                      .skipped = {.cooldown = writer_.skipped(), .limit = limit_, .busy = busy_},
                      .history = extent(),
                      .history_disk = writer_.history().disk()}};
    }
    uint64_t received(uint32_t probe_id) const override { return decoder_->hits(probe_id); }

private:
    void on_record(std::span<const std::byte> record) override {
        decoder_->on_record(record);
        write_if_due(decoder_->last_ns());
    }
    void on_records(std::span<const RecordView> records) override {
        decoder_->on_records(records);
        write_if_due(decoder_->last_ns());
    }
    // As far as events have come: those that follow are not before it.
    [[nodiscard]] uint64_t now_ns() const {
        return decoder_->last_ns() != 0 ? decoder_->last_ns() : boottime_ns();
    }

    void write_if_due(uint64_t now_ns) {
        const auto& pending = writer_.pending();
        if (pending && now_ns >= pending->trigger_ns + options_.after_ns) write_pending();
    }

    void write_pending() {
        Pending pending = *writer_.take_pending();
        const uint64_t from_ns = options_.before_ns != 0 && pending.trigger_ns > options_.before_ns
                                     ? pending.trigger_ns - options_.before_ns
                                     : 0;
        switch (files_.write(writer_.history().view(), from_ns, pending.trigger_ns,
                             std::move(pending.reason))) {
            case SnapshotFiles::Taken::yes:
                return;
            case SnapshotFiles::Taken::no_more_files:
                limit_ += 1;
                return;
            case SnapshotFiles::Taken::is_busy:
                busy_ += 1;
                return;
        }
    }

    const FlightOptions options_;
    SnapshotFiles files_;
    TriggeredHistory writer_;
    std::unique_ptr<Decoder> decoder_;
    uint64_t limit_ = 0;
    uint64_t busy_ = 0;
};

}  // namespace

model::Point snapshot_point(model::PointIndex index) {
    return own_point(index, std::string(kName), {{"reason", model::ValueType::string}});
}

Result<std::unique_ptr<FlightOutput>> make_flight_output(RecordingDefinitions definitions,
                                                         FlightOptions options) {
    const std::string folder = options.history_folder;
    auto flight = std::make_unique<Flight>(std::move(definitions), std::move(options));
    if (!folder.empty()) TR_TRY(flight->keep_in(folder));
    return flight;
}

}  // namespace tracer
