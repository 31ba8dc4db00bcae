// SPDX-License-Identifier: Apache-2.0
//
// `tracer convert`: a capture's records through the same decoder and writer as a live recording.
// The summary comes from the counters that the recorder stored at its end; a capture cut off
// before them says so. Called by the CLI.
#include "session/convert.h"

#include "capture/capture_file.h"
#include "session/output.h"
#include "session/patient_sink.h"

#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

// Opens the output when the first definitions come, and passes on what follows.
class Conversion : public CaptureVisitor {
public:
    Conversion(const ConvertOptions& options, const Format& format, std::unique_ptr<ByteSink> sink)
        : options_(options),
          format_(format),
          sink_(std::make_unique<PatientSink>(std::move(sink))) {}

    Status on_definitions(RecordingDefinitions definitions) override {
        probes_.insert(probes_.end(), definitions.probes.begin(), definitions.probes.end());
        if (output_) return output_->add(definitions.points, definitions.probes);
        TR_ASSIGN(output_, open_trace_output(format_, std::move(definitions), std::move(sink_)));
        return {};
    }

    Status on_counters(const CaptureCounters& counters) override {
        for (const CaptureCounters::Probe& probe : counters.probes) {
            kernel_.probes.push_back({probe.probe_id, probe.counts});
        }
        for (const CaptureCounters::Ring& ring : counters.rings) {
            kernel_.rings.push_back({ring.attempts, ring.lost});
        }
        return {};
    }

    void on_progress(uint64_t bytes_done, uint64_t bytes_total) override {
        if (options_.on_progress) options_.on_progress(bytes_done, bytes_total);
    }

    void on_record(std::span<const std::byte> record) override {
        // The reader delivers no record before the definitions.
        output_->handler().on_record(record);
    }
    void on_records(std::span<const RecordView> records) override {
        output_->handler().on_records(records);
    }

    [[nodiscard]] bool is_open() const { return output_ != nullptr; }
    RecordingResult finish(const Result<CaptureSummary>& read);

private:
    const ConvertOptions& options_;
    const Format& format_;
    std::unique_ptr<ByteSink> sink_;  // until the output owns it
    std::unique_ptr<Output> output_;
    std::vector<ProbeDefinition> probes_;
    KernelCounters kernel_;
};

RecordingResult Conversion::finish(const Result<CaptureSummary>& read) {
    RecordingResult result;
    result.output = output_->finish(output_->facts().last_ns, kernel_);
    const MergerCounters no_merger;
    const std::vector<RingLedger> no_ledgers;
    result.summary = make_summary({.kernel = kernel_,
                                   .merger = no_merger,
                                   .rings = no_ledgers,
                                   .output = *output_,
                                   .probes = probes_,
                                   .abandoned = !read || read->is_cut || !read->has_counters});
    const Status closed = output_->close();
    Summary& summary = result.summary;
    const OutputFacts facts = output_->facts();
    summary.bytes = output_->bytes();
    if (!closed) count_unwritten(summary, output_->bytes_written());
    summary.seconds = static_cast<double>(facts.last_ns - facts.first_ns) / 1e9;
    summary.ended_by = read ? "input-end" : "input-malformed";
    summary.format = format_.name;
    if (read && read->is_cut) {
        summary.warnings.push_back(
            fmt::format("{} ends within a block: its last {} bytes are left out",
                        options_.input_path, read->bytes_cut));
    }
    if (!read || !read->has_counters) {
        summary.warnings.push_back(
            "the capture has no final counters: its recorder did not come to its end");
    }
    // The output's own error first: it is the one that costs data.
    if (!closed) {
        result.output = closed;
    } else if (result.output && !read) {
        result.output = tl::unexpected(read.error());
    }
    return result;
}

}  // namespace

Result<RecordingResult> convert_capture(const ConvertOptions& options,
                                        const Format& format,
                                        std::unique_ptr<ByteSink> sink) {
    Conversion conversion(options, format, std::move(sink));
    const auto read = read_capture(options.input_path, conversion);
    if (!conversion.is_open()) {
        if (!read) return tl::unexpected(read.error());
        return fail(ErrorCode::bad_input,
                    fmt::format("{}: a capture without definitions", options.input_path),
                    "the recorder ended before its first block was written");
    }
    return conversion.finish(read);
}

}  // namespace tracer
