// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/trace_writer.h"

#include <memory>
#include <utility>

namespace tracer {

// Passes everything on to the writer that it owns; who looks at events on their way overrides what
// brings them.
class ForwardingWriter : public TraceWriter {
public:
    explicit ForwardingWriter(std::unique_ptr<TraceWriter> writer) : writer_(std::move(writer)) {}

    void describe(const model::Recording& recording) override { writer_->describe(recording); }
    Status open() override { return writer_->open(); }
    void define(const model::Thread& thread) override { writer_->define(thread); }
    void define(const model::Point& point) override { writer_->define(point); }
    WriteStatus write(const model::Event& event) override { return writer_->write(event); }
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

protected:
    [[nodiscard]] TraceWriter& writer() { return *writer_; }

private:
    std::unique_ptr<TraceWriter> writer_;
};

}  // namespace tracer
