// SPDX-License-Identifier: Apache-2.0
//
// What a program's own runtime says, in a log that is the runtime's (EventlogWriter::is_runtime_).
// A span may be one of a thread's own track or one with a track of its own; the runtime's events do
// not differ. What cannot be said as an event of the runtime is refused and counted. The third part
// of eventlog_writer.cpp.
#include "write/eventlog/eventlog_writer.h"
#include "write/text.h"

namespace tracer::eventlog {
namespace {

WriteStatus status_of(bool is_written) {
    return is_written ? WriteStatus::ok : WriteStatus::refused;
}

}  // namespace

WriteStatus EventlogWriter::say_of_runtime(const model::Event& event,
                                           const Point& point,
                                           const model::Instant& instant) {
    const NamedValues values(point.arguments, instant.values);
    const uint64_t ns = log_time(event.time_ns);
    const std::string_view said = values.first_text();
    text_.clear();
    append_as_utf8(text_, said);
    cut_text();
    if (!make_room(ns, text_.size())) return WriteStatus::no_room;
    const auto cap = [&] { return runtime_.cap_of(ns, instant.thread, values); };
    switch (point.role) {
        case model::PointRole::create:
            return status_of(runtime_.create(ns, values));
        case model::PointRole::wakeup:
            return status_of(runtime_.wake(ns, values));
        case model::PointRole::label:
            return status_of(runtime_.label(values));
        case model::PointRole::message:
            post_message({cap(), ns});
            return WriteStatus::ok;
        case model::PointRole::marker:
            blocks_.post(cap(), [&](Poster to) { return to.post_user_marker(ns, text_); });
            return WriteStatus::ok;
        case model::PointRole::none:
        case model::PointRole::run:
        case model::PointRole::gc:
            return WriteStatus::refused;
    }
    return WriteStatus::refused;
}

WriteStatus EventlogWriter::begin_of_runtime(const model::Event& event,
                                             const Point& point,
                                             model::ThreadIndex thread,
                                             std::span<const model::Value> values) {
    const NamedValues named(point.arguments, values);
    const uint64_t ns = log_time(event.time_ns);
    if (!make_room(ns, 0)) return WriteStatus::no_room;
    if (point.role == model::PointRole::run) {
        return status_of(runtime_.begin_run(ns, thread, named));
    }
    if (point.role != model::PointRole::gc) return WriteStatus::refused;
    runtime_.begin_gc(ns, thread, named);
    return WriteStatus::ok;
}

WriteStatus EventlogWriter::end_of_runtime(const model::Event& event,
                                           const Point& point,
                                           model::ThreadIndex thread,
                                           model::SpanEndCause cause,
                                           std::span<const model::Value> values) {
    const NamedValues named(point.end_arguments, values);
    const uint64_t ns = log_time(event.time_ns);
    if (!make_room(ns, 0)) return WriteStatus::no_room;
    if (point.role == model::PointRole::run) {
        return status_of(runtime_.end_run(ns, thread, cause, named));
    }
    if (point.role != model::PointRole::gc) return WriteStatus::refused;
    return status_of(runtime_.end_gc(ns, thread, cause, named));
}

}  // namespace tracer::eventlog
