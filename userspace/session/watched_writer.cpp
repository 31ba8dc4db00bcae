// SPDX-License-Identifier: Apache-2.0
//
// `--stop-when`: the event that makes a condition true is written like any other. A span is held
// against a time by its end, so its begin has to be known: a small history keeps what is open. Made
// by output.cpp for a recording that has conditions; the others pay nothing.
#include "session/watched_writer.h"

namespace tracer {
namespace {

constexpr uint64_t kHistoryBytes = 1 << 20;

}  // namespace

WatchedWriter::WatchedWriter(std::unique_ptr<TraceWriter> writer, std::vector<Trigger> conditions)
    : ForwardingWriter(std::move(writer)),
      watch_(std::move(conditions)),
      open_spans_({.bytes_max = kHistoryBytes}) {}

void WatchedWriter::define(const model::Thread& thread) {
    watch_.define(thread);
    open_spans_.define(thread);
    ForwardingWriter::define(thread);
}

void WatchedWriter::define(const model::Point& point) {
    watch_.define(point);
    open_spans_.define(point);
    ForwardingWriter::define(point);
}

WriteStatus WatchedWriter::write(const model::Event& event) {
    const Trigger* const pulled = watch_.look_at(event, open_spans_);
    if (pulled != nullptr && met_.empty()) met_ = pulled->text;
    // Never without room.
    static_cast<void>(open_spans_.write(event));
    return ForwardingWriter::write(event);
}

}  // namespace tracer
