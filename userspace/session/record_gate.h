// SPDX-License-Identifier: Apache-2.0
//
// Whether a recording takes what happens: closed and opened while it runs.
#pragma once

#include "probe/kernel_recorder.h"
#include "session/late_queue.h"
#include "session/ring_reader.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace tracer {

// The points of the two marks; add both, and their definitions, to the plan of a recording that
// may be paused.
[[nodiscard]] model::Point paused_point(model::PointIndex index);
[[nodiscard]] ProbeDefinition paused_definition(model::PointIndex index);
[[nodiscard]] model::Point resumed_point(model::PointIndex index);
[[nodiscard]] ProbeDefinition resumed_definition(model::PointIndex index);

// Of the main thread.
class RecordGate {
public:
    // Borrows all three.
    RecordGate(KernelRecorder& recorder, RingReader& rings, LateQueue& late)
        : recorder_(recorder), rings_(rings), late_(late) {}

    // From here on nothing of probes, the scheduler and programs' rings is recorded; all that was
    // before is in the rings, and goes on to the output. `reason` is told on the timeline. Nothing
    // to do where it is closed already.
    [[nodiscard]] Status close(std::string_view reason);
    [[nodiscard]] Status open(std::string_view reason);

    // Closed from the start, before anything is attached; open() ends that. It is no pause.
    // `on_opened` is called then, on the thread of open().
    [[nodiscard]] Status wait_closed(std::function<void()> on_opened);
    [[nodiscard]] bool is_waiting() const { return static_cast<bool>(on_opened_); }

    [[nodiscard]] bool is_open() const { return closed_ns_ == 0; }
    // How often it was paused, and for how long up to `now_ns`.
    [[nodiscard]] uint64_t closings() const { return closings_; }
    [[nodiscard]] uint64_t paused_ns(uint64_t now_ns) const;
    // Of the last time alone.
    [[nodiscard]] uint64_t last_closed_ns(uint64_t now_ns) const;
    // The marks made, by kind.
    [[nodiscard]] uint64_t openings() const { return openings_; }

private:
    KernelRecorder& recorder_;
    RingReader& rings_;
    LateQueue& late_;
    std::function<void()> on_opened_;  // empty: it has been open
    uint64_t closed_ns_ = 0;           // when; 0: it is open
    uint64_t last_ns_ = 0;             // how long the last time was
    uint64_t sum_ns_ = 0;              // of those that are over
    uint64_t closings_ = 0;
    uint64_t openings_ = 0;
};

}  // namespace tracer
