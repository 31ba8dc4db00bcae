// SPDX-License-Identifier: Apache-2.0
//
// `--start-when`. Definitions go through at any time; of the events a small history keeps what is
// open. Made by output.cpp for a recording that has such conditions; the others pay nothing.
#include "session/starting_writer.h"

#include <utility>

namespace tracer {
namespace {

constexpr uint64_t kHistoryBytes = 1 << 20;

}  // namespace

StartingWriter::StartingWriter(std::unique_ptr<TraceWriter> writer, std::vector<Trigger> conditions)
    : ForwardingWriter(std::move(writer)) {
    waiting_.emplace(std::move(conditions), HistoryLimits{.bytes_max = kHistoryBytes});
}

void StartingWriter::define(const model::Thread& thread) {
    if (waiting_) {
        waiting_->watch.define(thread);
        waiting_->open_spans.define(thread);
    }
    ForwardingWriter::define(thread);
}

void StartingWriter::define(const model::Point& point) {
    if (waiting_) {
        waiting_->watch.define(point);
        waiting_->open_spans.define(point);
    }
    ForwardingWriter::define(point);
}

WriteStatus StartingWriter::write(const model::Event& event) {
    if (!waiting_) [[likely]]
        return ForwardingWriter::write(event);
    if (waiting_->watch.look_at(event, waiting_->open_spans) == nullptr) {
        held_back_ += 1;
        // Never without room.
        return waiting_->open_spans.write(event);
    }
    start_now();
    return ForwardingWriter::write(event);
}

void StartingWriter::start_now() {
    if (!waiting_) return;
    waiting_->open_spans.write_state(writer());
    waiting_.reset();
}

}  // namespace tracer
