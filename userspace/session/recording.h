// SPDX-License-Identifier: Apache-2.0
//
// The life of a recording, from attached to closed.
#pragma once

#include "probe/kernel_recorder.h"
#include "session/child_process.h"
#include "session/discovery.h"
#include "session/drain_thread.h"
#include "session/end_watch.h"
#include "session/flight_output.h"
#include "session/output.h"
#include "session/ring_watch.h"
#include "session/start_time.h"
#include "session/steering.h"
#include "session/summary.h"
#include "session/targets.h"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace tracer {

// For the status line.
struct RecordingStatus {
    double seconds = 0;
    uint64_t records = 0;
    uint64_t lost = 0;
    uint64_t bytes = 0;
    double ring_fill = 0;  // of the fullest, 0..1
    bool is_paused = false;
    std::string waiting_for;  // before it is opened
};

struct RecordingOptions {
    std::vector<ProbeDefinition> probes;  // of the plan, for the summary
    std::vector<PackedFile> packs;        // whose probes are in it, the same
    Targets targets;                      // watched; none with -a
    bool record_sched = true;
    uint64_t ring_bytes = 0;
    std::optional<std::chrono::nanoseconds> duration;  // from when it is opened
    // It is armed closed, and opened then; none: it is open from the start. Whoever steers it may
    // open it earlier.
    std::optional<StartTime> start;
    // The same of an output that waits for an event: as it was asked for.
    std::string start_event;
    DrainOptions drain;
    // Files that are run later get their probes too; null: they do not. Borrowed, opened before
    // the files at the start were collected.
    MappingWatch* mappings = nullptr;
    // What is discovered: by `mappings`, and by `discovery.selection` if it is not empty.
    DiscoveryOptions discovery;
    // Programs whose rings are read too; the child of `-- cmd` is added.
    RingWatchOptions rings;
    // The output, where it is a flight recorder: SIGUSR1 asks it for a snapshot. Borrowed.
    FlightOutput* flight = nullptr;
    std::chrono::milliseconds tick{250};  // of on_status
    // On the calling thread; empty: no status line.
    std::function<void(const RecordingStatus&)> on_status;
    // What it is called in answers.
    LiveNames names;
    // Everything is armed, and the recording can be steered, until run_recording() returns; a null
    // one says that it no longer can. Empty: nobody steers.
    std::function<void(LiveRecording*)> on_live;
    // Everything is armed, but for what the rows of packs say; empty: nobody asks.
    std::function<void(const std::vector<PackedFile>&)> on_attached;
    // All is written but what the output has not taken yet, which may last; a signal now ends the
    // process. Empty: nobody asks.
    std::function<void()> on_closing;
};

// What became of the file, beside the numbers: an error does not undo what was recorded.
struct RecordingResult {
    Summary summary;
    Status output;  // the first thing that went wrong with it
};

// Attaches, releases the child if there is one, records until `watch` says why not, and stops in
// order. An error means that nothing was recorded (attaching failed or was interrupted).
[[nodiscard]] Result<RecordingResult> run_recording(KernelRecorder& recorder,
                                                    Output& output,
                                                    EndWatch& watch,
                                                    ChildProcess* child,
                                                    const RecordingOptions& options);

}  // namespace tracer
