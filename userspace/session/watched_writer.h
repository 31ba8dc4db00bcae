// SPDX-License-Identifier: Apache-2.0
//
// Conditions on what any writer writes.
#pragma once

#include "session/trigger.h"
#include "tracer/write/trace_writer.h"

#include <memory>
#include <string>
#include <vector>

namespace tracer {

// Passes everything on to a writer, and holds each event against the conditions before.
class WatchedWriter final : public TraceWriter {
public:
    WatchedWriter(std::unique_ptr<TraceWriter> writer, std::vector<Trigger> conditions);

    void describe(const model::Recording& recording) override { writer_->describe(recording); }
    Status open() override { return writer_->open(); }
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    void begin_batch() override { writer_->begin_batch(); }
    void end_batch() override { writer_->end_batch(); }
    void flush() override { writer_->flush(); }
    void end_chunk() override { writer_->end_chunk(); }
    Status begin_chunk() override { return writer_->begin_chunk(); }
    Status switch_sink(ByteSink& sink, SinkStart start) override {
        return writer_->switch_sink(sink, start);
    }
    Status close() override { return writer_->close(); }
    const WriterCounters& counters() const override { return writer_->counters(); }

    // The text of the first condition that came true; empty: none has.
    [[nodiscard]] const std::string& met() const { return met_; }

private:
    std::unique_ptr<TraceWriter> writer_;
    TriggerWatch watch_;
    EventHistory open_spans_;  // the events themselves are soon let go of
    std::string met_;
};

}  // namespace tracer
