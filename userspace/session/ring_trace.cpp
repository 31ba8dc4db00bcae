// SPDX-License-Identifier: Apache-2.0
//
// A file of rings made a trace: its events go the way of a live recording's, as records through the
// decoder. OCaml's times are CLOCK_MONOTONIC; our own rings say how far CLOCK_BOOTTIME is ahead.
// Called by `tracer convert`.
#include "session/ring_trace.h"

#include "session/output.h"
#include "session/patient_sink.h"
#include "session/ring_records.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {
namespace {

// A trace's process needs a number.
uint32_t pid_of(const RingRecording& recording) {
    return std::max(1u, recording.pid);
}

RingTally tally_of(const RingRecording& recording, uint64_t events) {
    RingTally tally{.pid = pid_of(recording), .events = events};
    tally.note(recording.producer);
    for (const ring::Lost& lost : recording.losses) tally.add(lost);
    return tally;
}

}  // namespace

RecordingDefinitions ring_definitions(const RingRecording& recording) {
    RecordingDefinitions definitions;
    definitions.record_all = true;
    const std::string name = recording.producer.runtime.empty()
                                 ? fmt::format("OCaml {}", recording.pid)
                                 : fmt::format("{}", recording.pid);
    definitions.names = {{.pid = pid_of(recording), .tid = 0, .name = name}};
    definitions.recording.pid = recording.pid;
    return definitions;
}

uint64_t write_ring_records(const RingRecording& recording,
                            ring::Cursor& cursor,
                            RecordHandler& handler) {
    const ring::Producer& producer = recording.producer;
    const uint64_t ahead_ns =
        producer.boottime_ns - std::min(producer.boottime_ns, producer.monotonic_ns);
    RingPoints points;
    RecordBatch definitions;
    RecordBatch events;
    RingRecords records(0, pid_of(recording), cursor);
    records.add(recording, ahead_ns, {points, definitions, events});
    definitions.write_up_to(UINT64_MAX, handler);
    events.write_up_to(UINT64_MAX, handler);
    return records.events();
}

Result<RecordingResult> convert_rings(const RingConvertOptions& options,
                                      ring::Cursor& cursor,
                                      const Format& format,
                                      std::unique_ptr<ByteSink> sink) {
    TR_ASSIGN(const RingRecording recording, read_rings(cursor, options.input_path));
    TR_ASSIGN(auto output, open_trace_output(format, ring_definitions(recording),
                                             std::make_unique<PatientSink>(std::move(sink))));
    const uint64_t events = write_ring_records(recording, cursor, output->handler());
    KernelCounters kernel;
    kernel.probes.push_back({TR_PROBE_ring, {.hits = events}});
    const MergerCounters no_merger;
    const std::vector<RingLedger> no_ledgers;
    const std::vector<ProbeDefinition> no_probes;
    RecordingResult result;
    result.output = output->finish(output->facts().last_ns, kernel);
    result.summary = make_summary({.kernel = kernel,
                                   .merger = no_merger,
                                   .rings = no_ledgers,
                                   .output = *output,
                                   .probes = no_probes});
    Summary& summary = result.summary;
    const Status closed = output->close();
    summary.bytes = output->bytes();
    add_shared_rings(summary, {tally_of(recording, events)});
    if (!closed) {
        result.output = closed;
        count_unwritten(summary, output->bytes_written());
    }
    summary.format = format.name;
    summary.seconds = static_cast<double>(recording.last_ns - recording.first_ns) / 1e9;
    summary.ended_by = "input-end";
    summary.is_checked = false;  // nobody else has counted
    if (!recording.producer.versions.is_known_enough()) {
        summary.warnings.push_back(
            fmt::format("which OCaml wrote {} cannot be told from its events: phases are shown as "
                        "numbers where versions differ; --ocaml 5.3 says which it was",
                        options.input_path));
    }
    return result;
}

}  // namespace tracer
