// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/record_handler.h"
#include "decode/decoder.h"
#include "probe/kernel_recorder.h"
#include "session/snapshot_files.h"
#include "session/trigger.h"
#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/chunk_memory_sink.h"
#include "tracer/write/formats.h"
#include "tracer/write/rotating_sink.h"
#include "tracer/write/trace_writer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracer {

// What an output left, where that is not one file.
struct OutputFiles {
    // Of one in memory: chunks that wait to be taken, and those that were.
    bool is_in_memory = false;
    uint64_t chunks_waiting = 0;
    uint64_t chunks_taken = 0;
    // Of one in several files: those that are there, oldest first, and how many were deleted.
    std::vector<std::string> paths;
    uint64_t deleted = 0;
    PlainChunks left_plain;
    // Of a flight recorder: what it wrote and why, what it did not, and what it holds.
    bool is_history = false;
    std::vector<SnapshotFile> snapshots;
    SnapshotSkips skipped;
    HistoryExtent history;
    HistoryDisk history_disk;
};

// What an output knows about what went through it, for the summary.
struct OutputFacts {
    uint64_t events = 0;     // written; a raw capture's are its records
    uint64_t held_back = 0;  // not written, because they came before the start
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;
    DecoderCounters decoder;  // zeros for a raw capture
    WriterCounters writer;
    std::vector<SpanTally> spans;  // none of a raw capture
    OutputFiles files;
};

// A chunk that whoever asked has for good.
struct TakenChunk {
    std::optional<MemoryChunk> chunk;  // nullopt: none waits
    uint64_t number = 0;               // from 1
    uint64_t waiting = 0;              // behind it
};

// Where a recording's records go: through the decoder to a writer, or as they are to a capture.
// Belongs to the draining thread while it runs, before and after to the thread that made it; only
// health(), bytes() and check_switch() may be called from others at any time but during
// switch_sink().
class Output {
public:
    virtual ~Output() = default;

    [[nodiscard]] virtual RecordHandler& handler() = 0;
    // Probes armed later; indices and ids go on from those before.
    [[nodiscard]] virtual Status add(const std::vector<model::Point>& points,
                                     const std::vector<ProbeDefinition>& probes) = 0;
    virtual void flush() = 0;
    [[nodiscard]] virtual Status health() const = 0;
    // Over all sinks that it has had.
    [[nodiscard]] virtual uint64_t bytes() const = 0;
    // As bytes(), but for some KiB of what is still on its way to the sink: hands over what is held
    // back.
    [[nodiscard]] virtual uint64_t bytes_now() = 0;

    // Whether switch_sink() is possible with this format; else why not.
    [[nodiscard]] virtual Status check_switch() const = 0;
    // Whether what follows may begin a chunk in a sink whose last one was ended (SinkStart).
    [[nodiscard]] virtual bool is_appendable() const = 0;
    // Between two records: exchanges the sink for the one given, which may have been in use before.
    // What came so far is committed to the one that comes back, flushed, to be closed or kept by
    // the caller. Where check_switch() is an error, so is this, and nothing has changed.
    [[nodiscard]] virtual Status switch_sink(std::unique_ptr<ByteSink>& sink, SinkStart start) = 0;

    // Memory of the sink's buffers from now on, 0: as it is; what it is now, 0: there is none.
    [[nodiscard]] virtual size_t change_buffers(size_t /*bytes*/) { return 0; }

    // Of an output in memory: the oldest chunk that is whole; `end_current`: the one that is being
    // written ends first.
    [[nodiscard]] virtual Result<TakenChunk> take_chunk(bool end_current);

    // Whether what comes is held back until a condition of the start comes true; start_now() does
    // not wait for it. Of the thread that owns it.
    [[nodiscard]] virtual bool is_waiting() const { return false; }
    virtual void start_now() {}

    // Which of the conditions of the end has come true; empty: none. Of the thread that owns it.
    [[nodiscard]] virtual std::string met_condition() const { return {}; }

    // After the last record: closes what is open at `now_ns` and ends the format.
    [[nodiscard]] virtual Status finish(uint64_t now_ns, const KernelCounters& counters) = 0;
    // Then, once: everything to the destination of the sink in use.
    [[nodiscard]] virtual Status close() = 0;
    // After close(): of bytes(), those that got there; all but after an error. What went to sinks
    // before counts as there: their owner knows better.
    [[nodiscard]] virtual uint64_t bytes_written() const = 0;

    [[nodiscard]] virtual OutputFacts facts() const = 0;
    // Records of the probe that came through (built-in sources included).
    [[nodiscard]] virtual uint64_t received(uint32_t probe_id) const = 0;
};

// What events begin and end what is written; empty: nothing waits for one.
struct OutputConditions {
    std::vector<Trigger> start;
    std::vector<Trigger> stop;  // those that met_condition() tells of
};

// Opens a writer of `format` over the sink.
[[nodiscard]] Result<std::unique_ptr<Output>> open_trace_output(const Format& format,
                                                                RecordingDefinitions definitions,
                                                                std::unique_ptr<ByteSink> sink,
                                                                OutputConditions conditions = {});

// The same with a writer that was made over the sink, for what people look at: it stays where it
// is.
[[nodiscard]] Result<std::unique_ptr<Output>> open_shown_output(std::unique_ptr<TraceWriter> writer,
                                                                RecordingDefinitions definitions,
                                                                std::unique_ptr<ByteSink> sink);

// The same in files each of which reads alone, the next begun where the sink's limits say so.
[[nodiscard]] Result<std::unique_ptr<Output>> open_rotating_output(
    const Format& format,
    RecordingDefinitions definitions,
    std::unique_ptr<RotatingSink> sink,
    OutputConditions conditions = {});

// The same in chunks in memory, until they are taken. What is left at close() is written to files
// named after `path`, as rotating ones are.
[[nodiscard]] Result<std::unique_ptr<Output>> open_chunk_output(const Format& format,
                                                                RecordingDefinitions definitions,
                                                                const ChunkMemoryOptions& options,
                                                                std::string path,
                                                                OutputConditions conditions = {});

// The raw capture, whose meaning is given when it is converted.
[[nodiscard]] Result<std::unique_ptr<Output>> open_capture_output(
    const RecordingDefinitions& definitions, std::unique_ptr<ByteSink> sink);

}  // namespace tracer
