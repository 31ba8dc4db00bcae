// SPDX-License-Identifier: Apache-2.0
//
// What happens before a condition comes true is judged, and not written.
#pragma once

#include "session/forwarding_writer.h"
#include "session/trigger.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tracer {

// Holds events back until one makes a condition true: it is the first that the writer gets, behind
// the clocks and the begins of the spans that are open by then, at their own times.
class StartingWriter final : public ForwardingWriter {
public:
    StartingWriter(std::unique_ptr<TraceWriter> writer, std::vector<Trigger> conditions);

    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;

    [[nodiscard]] bool is_waiting() const { return waiting_.has_value(); }
    // Whatever the conditions say. Nothing to do if it has begun.
    void start_now();
    [[nodiscard]] uint64_t held_back() const { return held_back_; }

private:
    struct Waiting {
        Waiting(std::vector<Trigger> conditions, const HistoryLimits& limits)
            : watch(std::move(conditions)), open_spans(limits) {}
        TriggerWatch watch;
        EventHistory open_spans;  // the events themselves are soon let go of
    };

    std::optional<Waiting> waiting_;
    uint64_t held_back_ = 0;
};

}  // namespace tracer
