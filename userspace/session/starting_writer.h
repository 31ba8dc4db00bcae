// SPDX-License-Identifier: Apache-2.0
//
// What happens before a condition comes true is judged, and not written.
#pragma once

#include "session/trigger.h"
#include "tracer/write/trace_writer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tracer {

// Holds events back until one makes a condition true: it is the first that the writer gets, behind
// the clocks and the begins of the spans that are open by then, at their own times.
class StartingWriter final : public TraceWriter {
public:
    StartingWriter(std::unique_ptr<TraceWriter> writer, std::vector<Trigger> conditions);

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

    std::unique_ptr<TraceWriter> writer_;
    std::optional<Waiting> waiting_;
    uint64_t held_back_ = 0;
};

}  // namespace tracer
