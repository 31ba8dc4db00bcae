// SPDX-License-Identifier: Apache-2.0
//
// The two ends that a recording can have: a trace (decoder, writer, sink) and a raw capture (its
// writer, sink). Both own all they write through, in the order that destruction needs. Made by the
// CLI, used by the drain loop and the end of a recording.
#include "session/output.h"

#include "capture/capture_file.h"
#include "session/left_chunks.h"
#include "session/patient_sink.h"
#include "session/starting_writer.h"
#include "session/watched_writer.h"
#include "tracer/base/byte_cursor.h"
#include "tracer/write/chunk_switch.h"

#include <algorithm>
#include <vector>

namespace tracer {
namespace {

// A sink in pieces as what it is: all but `sink` may be null.
struct Pieces {
    ChunkedSink* sink = nullptr;
    RotatingSink* rotating = nullptr;
    ChunkMemorySink* memory = nullptr;
    std::string path;  // of what nobody takes out of memory
};

// Parts of the writer that hold events against conditions; null: there are none.
struct Conditions {
    StartingWriter* start = nullptr;
    const WatchedWriter* stop = nullptr;
};

class TraceOutput : public Output, private RecordHandler {
public:
    // `pieces`: what the sink is, if it is one in pieces. `watching`: parts of the writer.
    // `is_shown`: in a terminal, where it stays.
    TraceOutput(std::unique_ptr<ByteSink> sink,
                Pieces pieces,
                std::unique_ptr<TraceWriter> writer,
                Conditions watching,
                bool is_appendable,
                bool is_shown,
                RecordingDefinitions definitions)
        : sink_(std::move(sink)),
          pieces_(std::move(pieces)),
          writer_(std::move(writer)),
          watching_(watching),
          is_appendable_(is_appendable),
          is_shown_(is_shown),
          decoder_(Decoder::make(std::move(definitions), *writer_)) {}

    RecordHandler& handler() override {
        if (pieces_.sink != nullptr) return *this;
        return *decoder_;
    }
    Status add(const std::vector<model::Point>& points,
               const std::vector<ProbeDefinition>& probes) override {
        decoder_->add(points, probes);
        return {};
    }
    void flush() override {
        // By its age, while nothing comes.
        if (pieces_.sink != nullptr) begin_due_chunk();
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
        if (is_shown_) {
            return fail(ErrorCode::missing_feature, "what is shown in a terminal stays there",
                        "tracer --pid N -o FILE records what can be sent elsewhere");
        }
        if (pieces_.sink == nullptr) return {};
        if (pieces_.memory != nullptr) {
            return fail(ErrorCode::missing_feature, "chunks in memory stay there until taken",
                        "ctl chunks takes them");
        }
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

    size_t change_buffers(size_t bytes) override { return sink_->change_buffers(bytes); }
    Result<TakenChunk> take_chunk(bool end_current) override {
        if (pieces_.memory == nullptr) return Output::take_chunk(end_current);
        // What the opening has no room for is written before the next event.
        if (end_current) static_cast<void>(begin_chunk(*pieces_.sink, *writer_));
        auto chunk = pieces_.memory->pop();
        if (chunk) chunks_taken_ += 1;
        return TakenChunk{.chunk = std::move(chunk),
                          .number = chunks_taken_,
                          .waiting = pieces_.memory->waiting_count()};
    }

    std::string met_condition() const override {
        return watching_.stop != nullptr ? watching_.stop->met() : std::string();
    }
    bool is_waiting() const override {
        return watching_.start != nullptr && watching_.start->is_waiting();
    }
    void start_now() override {
        if (watching_.start != nullptr) watching_.start->start_now();
    }

    Status finish(uint64_t now_ns, const KernelCounters&) override {
        decoder_->finish(now_ns);
        return writer_->close();
    }
    Status close() override {
        if (is_shown_) say_last_words();
        Status closed = sink_->close();
        if (pieces_.memory == nullptr) return closed;
        TR_ASSIGN(left_over_, write_chunks(*pieces_.memory, pieces_.path));
        return closed;
    }
    uint64_t bytes_written() const override { return bytes_base_ + sink_->bytes_written(); }

    OutputFacts facts() const override {
        OutputFacts facts{
            .events = writer_->counters().events,
            .held_back = watching_.start != nullptr ? watching_.start->held_back() : 0,
            .first_ns = decoder_->first_ns(),
            .last_ns = decoder_->last_ns(),
            .decoder = decoder_->counters(),
            .writer = writer_->counters(),
            .spans = decoder_->span_tallies(),
            .files = {}};
        if (pieces_.rotating != nullptr) {
            facts.files.paths = pieces_.rotating->chunk_paths();
            facts.files.deleted = pieces_.rotating->chunks_deleted();
            facts.files.left_plain = pieces_.rotating->chunks_left_plain();
        }
        if (pieces_.memory != nullptr) {
            facts.files.is_in_memory = true;
            facts.files.paths = left_over_;
            facts.files.chunks_waiting = pieces_.memory->waiting_count();
            facts.files.chunks_taken = chunks_taken_;
        }
        return facts;
    }
    uint64_t received(uint32_t probe_id) const override { return decoder_->hits(probe_id); }

private:
    void on_record(std::span<const std::byte> record) override {
        begin_due_chunk();
        decoder_->on_record(record);
    }
    void on_records(std::span<const RecordView> records) override {
        begin_due_chunk();
        decoder_->on_records(records);
    }
    // What the opening has no room for is written before the next event; another error has ended
    // the sink, which tells it.
    void begin_due_chunk() {
        // A row of files with nothing in them.
        if (is_waiting()) return;
        static_cast<void>(begin_chunk_if_due(*pieces_.sink, *writer_));
    }

    // Closing waits for a slow reader in any case; what it missed at the end is told to it as well.
    void say_last_words() {
        sink_ = std::make_unique<PatientSink>(std::move(sink_));
        if (writer_->switch_sink(*sink_, SinkStart::goes_on)) static_cast<void>(writer_->close());
    }

    std::unique_ptr<ByteSink> sink_;
    const Pieces pieces_;
    std::vector<std::string> left_over_;  // files of chunks that nobody took
    uint64_t chunks_taken_ = 0;
    // What went to the sinks before, less what was in this one already: wraps where that is more.
    uint64_t bytes_base_ = 0;
    std::unique_ptr<TraceWriter> writer_;
    const Conditions watching_;
    const bool is_appendable_;
    const bool is_shown_;
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
                    "record to .fxt, .eventlog, .json, .txt or .ndjson to change where it goes");
    }
    bool is_appendable() const override { return false; }
    Status switch_sink(std::unique_ptr<ByteSink>&, SinkStart) override { return check_switch(); }
    size_t change_buffers(size_t bytes) override { return sink_->change_buffers(bytes); }

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
                                            Pieces pieces,
                                            OutputConditions conditions) {
    auto writer = format.make_writer(*sink);
    Conditions watching;
    if (!conditions.stop.empty()) {
        auto watched =
            std::make_unique<WatchedWriter>(std::move(writer), std::move(conditions.stop));
        watching.stop = watched.get();
        writer = std::move(watched);
    }
    if (!conditions.start.empty()) {
        auto starting =
            std::make_unique<StartingWriter>(std::move(writer), std::move(conditions.start));
        watching.start = starting.get();
        writer = std::move(starting);
    }
    writer->describe(definitions.recording);
    TR_TRY(writer->open());
    return std::make_unique<TraceOutput>(std::move(sink), std::move(pieces), std::move(writer),
                                         watching, format.is_appendable, false,
                                         std::move(definitions));
}

}  // namespace

Result<std::unique_ptr<Output>> open_trace_output(const Format& format,
                                                  RecordingDefinitions definitions,
                                                  std::unique_ptr<ByteSink> sink,
                                                  OutputConditions conditions) {
    return open_output(format, std::move(definitions), std::move(sink), {}, std::move(conditions));
}

Result<std::unique_ptr<Output>> open_shown_output(std::unique_ptr<TraceWriter> writer,
                                                  RecordingDefinitions definitions,
                                                  std::unique_ptr<ByteSink> sink) {
    writer->describe(definitions.recording);
    TR_TRY(writer->open());
    return std::make_unique<TraceOutput>(std::move(sink), Pieces{}, std::move(writer), Conditions{},
                                         true, true, std::move(definitions));
}

Result<std::unique_ptr<Output>> open_rotating_output(const Format& format,
                                                     RecordingDefinitions definitions,
                                                     std::unique_ptr<RotatingSink> sink,
                                                     OutputConditions conditions) {
    RotatingSink* rotating = sink.get();
    return open_output(format, std::move(definitions), std::move(sink),
                       {.sink = rotating, .rotating = rotating}, std::move(conditions));
}

Result<std::unique_ptr<Output>> open_chunk_output(const Format& format,
                                                  RecordingDefinitions definitions,
                                                  const ChunkMemoryOptions& options,
                                                  std::string path,
                                                  OutputConditions conditions) {
    auto sink = std::make_unique<ChunkMemorySink>(options);
    ChunkMemorySink* memory = sink.get();
    return open_output(format, std::move(definitions), std::move(sink),
                       {.sink = memory, .memory = memory, .path = std::move(path)},
                       std::move(conditions));
}

Result<TakenChunk> Output::take_chunk(bool /*end_current*/) {
    return fail(ErrorCode::usage, "this recording keeps no chunks in memory",
                "tracer --chunks 1M keeps them");
}

Result<std::unique_ptr<Output>> open_capture_output(const RecordingDefinitions& definitions,
                                                    std::unique_ptr<ByteSink> sink) {
    auto output = std::make_unique<CaptureOutput>(std::move(sink));
    TR_TRY(output->open(definitions));
    return output;
}

}  // namespace tracer
