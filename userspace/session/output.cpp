// SPDX-License-Identifier: Apache-2.0
//
// The two ends that a recording can have: a trace (decoder, writer, sink) and a raw capture (its
// writer, sink). Both own all they write through, in the order that destruction needs. Made by the
// CLI, used by the drain loop and the end of a recording.
#include "session/output.h"

#include "capture/capture_file.h"
#include "session/watched_writer.h"
#include "tracer/base/byte_cursor.h"
#include "tracer/write/chunk_switch.h"

#include <algorithm>
#include <vector>

namespace tracer {
namespace {

class TraceOutput : public Output, private RecordHandler {
public:
    // `rotating`: the sink, if it is one; `watched`: the writer, the same.
    TraceOutput(std::unique_ptr<ByteSink> sink,
                RotatingSink* rotating,
                std::unique_ptr<TraceWriter> writer,
                const WatchedWriter* watched,
                bool is_appendable,
                RecordingDefinitions definitions)
        : sink_(std::move(sink)),
          rotating_(rotating),
          writer_(std::move(writer)),
          watched_(watched),
          is_appendable_(is_appendable),
          decoder_(Decoder::make(std::move(definitions), *writer_)) {}

    RecordHandler& handler() override {
        if (rotating_ != nullptr) return *this;
        return *decoder_;
    }
    Status add(const std::vector<model::Point>& points,
               const std::vector<ProbeDefinition>& probes) override {
        decoder_->add(points, probes);
        return {};
    }
    void flush() override {
        // By its age, while nothing comes.
        if (rotating_ != nullptr) begin_due_file();
        writer_->flush();
        sink_->flush();
    }
    Status health() const override { return sink_->health(); }
    uint64_t bytes() const override { return bytes_base_ + sink_->bytes_committed(); }
    uint64_t bytes_now() override {
        writer_->flush();
        return bytes();
    }

    Status check_switch() const override {
        if (rotating_ == nullptr) return {};
        return fail(ErrorCode::missing_feature, "files that rotate stay where they are",
                    "record without --rotate to change where it goes");
    }
    bool is_appendable() const override { return is_appendable_; }
    Status switch_sink(std::unique_ptr<ByteSink>& sink, SinkStart start) override {
        TR_TRY(check_switch());
        const uint64_t held_before = sink->bytes_committed();
        Status switched = writer_->switch_sink(*sink, start);
        if (!switched && switched.error().code == ErrorCode::missing_feature) return switched;
        // Another error means that the header is still to come, before the next event.
        sink_->flush();
        bytes_base_ += sink_->bytes_committed() - held_before;
        std::swap(sink_, sink);
        return {};
    }

    std::string met_condition() const override {
        return watched_ != nullptr ? watched_->met() : std::string();
    }

    Status finish(uint64_t now_ns, const KernelCounters&) override {
        decoder_->finish(now_ns);
        return writer_->close();
    }
    Status close() override { return sink_->close(); }
    uint64_t bytes_written() const override { return bytes_base_ + sink_->bytes_written(); }

    OutputFacts facts() const override {
        OutputFacts facts{.events = writer_->counters().events,
                          .first_ns = decoder_->first_ns(),
                          .last_ns = decoder_->last_ns(),
                          .decoder = decoder_->counters(),
                          .writer = writer_->counters(),
                          .spans = decoder_->span_tallies(),
                          .files = {}};
        if (rotating_ != nullptr) {
            facts.files.paths = rotating_->chunk_paths();
            facts.files.deleted = rotating_->chunks_deleted();
        }
        return facts;
    }
    uint64_t received(uint32_t probe_id) const override { return decoder_->hits(probe_id); }

private:
    void on_record(std::span<const std::byte> record) override {
        begin_due_file();
        decoder_->on_record(record);
    }
    void on_records(std::span<const RecordView> records) override {
        begin_due_file();
        decoder_->on_records(records);
    }
    // What the opening has no room for is written before the next event; another error has ended
    // the sink, which tells it.
    void begin_due_file() { static_cast<void>(begin_chunk_if_due(*rotating_, *writer_)); }

    std::unique_ptr<ByteSink> sink_;
    RotatingSink* rotating_;  // sink_, or null
    // What went to the sinks before, less what was in this one already: wraps where that is more.
    uint64_t bytes_base_ = 0;
    std::unique_ptr<TraceWriter> writer_;
    const WatchedWriter* watched_;  // writer_, or null
    const bool is_appendable_;
    std::unique_ptr<Decoder> decoder_;
};

// Counts what goes into a capture by probe, because nothing is decoded there.
class CaptureOutput : public Output, private RecordHandler {
public:
    explicit CaptureOutput(std::unique_ptr<ByteSink> sink)
        : sink_(std::move(sink)), writer_(*sink_) {}

    Status open(const RecordingDefinitions& definitions) { return writer_.open(definitions); }

    RecordHandler& handler() override { return *this; }
    Status add(const std::vector<model::Point>& points,
               const std::vector<ProbeDefinition>& probes) override {
        return writer_.add(points, probes);
    }
    void flush() override {
        writer_.flush();
        sink_->flush();
    }
    Status health() const override { return sink_->health(); }
    uint64_t bytes() const override { return sink_->bytes_committed(); }
    uint64_t bytes_now() override {
        writer_.flush();
        return sink_->bytes_committed();
    }

    Status check_switch() const override {
        return fail(ErrorCode::missing_feature,
                    "a raw capture stays in one file: its counters at the end are of all of it",
                    "record to .fxt, .eventlog or .json to change where it goes");
    }
    bool is_appendable() const override { return false; }
    Status switch_sink(std::unique_ptr<ByteSink>&, SinkStart) override { return check_switch(); }

    Status finish(uint64_t, const KernelCounters& counters) override {
        CaptureCounters stored;
        for (const KernelCounters::Probe& probe : counters.probes) {
            stored.probes.push_back({probe.probe_id, probe.counters});
        }
        for (const KernelCounters::Ring& ring : counters.rings) {
            stored.rings.push_back({ring.attempts, ring.lost});
        }
        TR_TRY(writer_.write_counters(stored));
        return writer_.close();
    }
    Status close() override { return sink_->close(); }
    uint64_t bytes_written() const override { return sink_->bytes_written(); }

    OutputFacts facts() const override {
        return {.events = writer_.records_written(),
                .first_ns = first_ns_,
                .last_ns = last_ns_,
                .decoder = {},
                .writer = {.events = writer_.records_written(), .no_room = writer_.records_lost()},
                .spans = {},
                .files = {}};
    }
    uint64_t received(uint32_t probe_id) const override {
        return probe_id < received_.size() ? received_[probe_id] : 0;
    }

private:
    // A probe id beyond any plan is of a malformed record; the table must not grow by it.
    static constexpr uint32_t kProbesMax = 1u << 20;

    void on_record(std::span<const std::byte> record) override {
        tr_record_header header{};
        if (ByteCursor(record).read(header) && header.kind != TR_KIND_none &&
            header.probe_id != 0 && header.probe_id < kProbesMax) {
            if (header.probe_id >= received_.size()) received_.resize(header.probe_id + 1);
            received_[header.probe_id] += 1;
            if (first_ns_ == 0) first_ns_ = header.time_ns;
            last_ns_ = std::max(last_ns_, header.time_ns);
        }
        writer_.on_record(record);
    }

    std::unique_ptr<ByteSink> sink_;
    CaptureWriter writer_;
    std::vector<uint64_t> received_;
    uint64_t first_ns_ = 0;
    uint64_t last_ns_ = 0;
};

Result<std::unique_ptr<Output>> open_output(const Format& format,
                                            RecordingDefinitions definitions,
                                            std::unique_ptr<ByteSink> sink,
                                            RotatingSink* rotating,
                                            std::vector<Trigger> conditions) {
    auto writer = format.make_writer(*sink);
    const WatchedWriter* watched = nullptr;
    if (!conditions.empty()) {
        auto watching = std::make_unique<WatchedWriter>(std::move(writer), std::move(conditions));
        watched = watching.get();
        writer = std::move(watching);
    }
    writer->describe(definitions.recording);
    TR_TRY(writer->open());
    return std::make_unique<TraceOutput>(std::move(sink), rotating, std::move(writer), watched,
                                         format.is_appendable, std::move(definitions));
}

}  // namespace

Result<std::unique_ptr<Output>> open_trace_output(const Format& format,
                                                  RecordingDefinitions definitions,
                                                  std::unique_ptr<ByteSink> sink,
                                                  std::vector<Trigger> conditions) {
    return open_output(format, std::move(definitions), std::move(sink), nullptr,
                       std::move(conditions));
}

Result<std::unique_ptr<Output>> open_rotating_output(const Format& format,
                                                     RecordingDefinitions definitions,
                                                     std::unique_ptr<RotatingSink> sink,
                                                     std::vector<Trigger> conditions) {
    RotatingSink* rotating = sink.get();
    return open_output(format, std::move(definitions), std::move(sink), rotating,
                       std::move(conditions));
}

Result<std::unique_ptr<Output>> open_capture_output(const RecordingDefinitions& definitions,
                                                    std::unique_ptr<ByteSink> sink) {
    auto output = std::make_unique<CaptureOutput>(std::move(sink));
    TR_TRY(output->open(definitions));
    return output;
}

}  // namespace tracer
