// SPDX-License-Identifier: Apache-2.0
//
// Conditions on what any writer writes.
#pragma once

#include "session/forwarding_writer.h"
#include "session/trigger.h"

#include <memory>
#include <string>
#include <vector>

namespace tracer {

// Passes everything on to a writer, and holds each event against the conditions before.
class WatchedWriter final : public ForwardingWriter {
public:
    WatchedWriter(std::unique_ptr<TraceWriter> writer, std::vector<Trigger> conditions);

    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;

    // The text of the first condition that came true; empty: none has.
    [[nodiscard]] const std::string& met() const { return met_; }

private:
    TriggerWatch watch_;
    EventHistory open_spans_;  // the events themselves are soon let go of
    std::string met_;
};

}  // namespace tracer
