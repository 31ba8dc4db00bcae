// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder as an output: the last seconds in memory, and a file of them when something
// happens. Nothing is written else.
#pragma once

#include "session/output.h"
#include "session/snapshot_files.h"
#include "session/trigger.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tracer {

struct FlightOptions {
    HistoryLimits history;
    std::string history_folder;  // on a disk there; empty: in memory
    // Of what is held, the part before a trigger that is written; 0: all.
    uint64_t before_ns = 0;
    // How long a snapshot waits for what follows its trigger.
    uint64_t after_ns = 0;
    // Conditions are not listened to for as long after each snapshot they caused; requests are.
    uint64_t cooldown_ns = 0;
    std::vector<Trigger> triggers;
    // What is held at the end of the recording is written too.
    bool at_end = false;
    SnapshotFilesOptions files;
};

class FlightOutput : public Output {
public:
    // A snapshot now, for a reason of the user's; with what follows within after_ns. Of the thread
    // that owns the output.
    virtual void request(std::string reason) = 0;
    [[nodiscard]] virtual HistoryExtent extent() const = 0;
};

// The point of the event that marks a trigger; add it to the plan of a recording that has a flight
// recorder.
[[nodiscard]] model::Point snapshot_point(model::PointIndex index);

[[nodiscard]] Result<std::unique_ptr<FlightOutput>> make_flight_output(
    RecordingDefinitions definitions, FlightOptions options);

}  // namespace tracer
