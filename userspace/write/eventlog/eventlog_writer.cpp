// SPDX-License-Identifier: Apache-2.0
//
// The eventlog writer: a log's beginning and end, and the events of points (instants, spans,
// counters). What the system does (switches, wakeups, lives, losses, clocks) is in
// eventlog_system_events.cpp. An event is checked and composed first, then room is made, then it is
// posted, so that one without room leaves nothing behind. Made by the table of formats, called by
// one thread.
#include "write/eventlog/eventlog_writer.h"

#include "write/cause_names.h"
#include "write/eventlog/make_eventlog_writer.h"
#include "write/eventlog/writer_text.h"
#include "write/text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace tracer::eventlog {
namespace {

constexpr CapsetId kProcessCapset = 0;
constexpr CapsetId kClockCapset = 1;
constexpr uint32_t kPointIndexMax = 1U << 24;

// A second message about the same span, a perf name and a tracepoint, and headers.
constexpr size_t kMessageBytesMore = 512;

// ghc-events-analyze pairs these, by what follows: a number that keeps apart what happens at once,
// and a name (its options --start and --stop).
constexpr std::string_view kStart = "START";
constexpr std::string_view kStop = "STOP";

std::string as_utf8(std::string_view bytes) {
    std::string text;
    append_as_utf8(text, bytes);
    return text;
}

void clean_names(std::vector<model::Argument>& arguments) {
    for (model::Argument& argument : arguments) argument.name = as_utf8(argument.name);
}

}  // namespace

Status EventlogWriter::open() {
    TR_TRY(begin_log());
    return write_out("the log's header");
}

Status EventlogWriter::begin_log() {
    TR_TRY(blocks_.begin_log());
    const bool is_process = recording_.pid != 0;
    const auto post = [this](auto call) { blocks_.post(kNoCapability, call); };
    post([&](Poster to) {
        return to.post_capset_create(0, kProcessCapset,
                                     is_process ? CapsetType::os_process : CapsetType::custom);
    });
    post([&](Poster to) {
        return to.post_capset_create(0, kClockCapset, CapsetType::clock_domain);
    });
    post([&](Poster to) {
        return to.post_rts_identifier(0, kProcessCapset, "tracer-" TRACER_VERSION);
    });
    if (is_process) {
        post([&](Poster to) { return to.post_osprocess_pid(0, kProcessCapset, recording_.pid); });
    }
    if (is_process && recording_.parent_pid != 0) {
        post([&](Poster to) {
            return to.post_osprocess_ppid(0, kProcessCapset, recording_.parent_pid);
        });
    }
    // ThreadScope takes a log without arguments for one of a program that has no name.
    const std::vector<std::string_view> arguments(recording_.arguments.begin(),
                                                  recording_.arguments.end());
    if (!arguments.empty()) {
        post([&](Poster to) { return to.post_program_args(0, kProcessCapset, arguments); });
    }
    if (clocks_) {
        write_wall_clock(0, clocks_->realtime_ns + base_ns_ - clocks_->time_ns);
    }
    for (Point& point : points_) point.is_named = false;
    timeline_.begin_log();
    runtime_.begin_log();
    for (uint16_t cpu = 0; cpu < recording_.cpu_count; ++cpu) {
        static_cast<void>(timeline_.cap_of_cpu(cpu, 0));
    }
    return {};
}

Status EventlogWriter::write_out(const char* what) {
    if (blocks_.write_out()) return {};
    return fail(ErrorCode::limit, fmt::format("no room for {}", what));
}

void EventlogWriter::end_chunk() {
    blocks_.end_log();
    is_chunk_ended_ = true;
    if (blocks_.write_out()) return;
    // The log before ends early, and valid: what waits begins with a whole round.
    counters_.events -= blocks_.unwritten_events();
    counters_.no_room += blocks_.unwritten_events();
    blocks_.drop_waiting();
}

Status EventlogWriter::begin_chunk() {
    if (!is_chunk_ended_) blocks_.end_log();
    is_chunk_ended_ = false;
    return begin_next_log();
}

Status EventlogWriter::begin_next_log() {
    // Readers draw from time 0 on: a log that begins an hour later would be blank.
    base_ns_ = newest_ns_;
    has_wall_clock_ = clocks_.has_value();
    TR_TRY(begin_log());
    for (Task& task : timeline_.tasks()) {
        for (const OpenSpan& span : task.spans) {
            post_span({task.heard_cap, 0}, kStart, task.number(), shown_name(span));
        }
    }
    for (const auto& [id, span] : async_spans_) post_span({}, kStart, id, shown_name(span));
    return write_out("the header and names of a chunk");
}

Status EventlogWriter::switch_sink(ByteSink& sink, SinkStart start) {
    if (start == SinkStart::goes_on) {
        // What has no room in the sink before goes into the new one: it is the same log.
        static_cast<void>(blocks_.write_out());
        blocks_.set_sink(sink);
        return {};
    }
    end_chunk();
    blocks_.set_sink(sink);
    return begin_chunk();
}

Status EventlogWriter::close() {
    blocks_.end_log();
    if (blocks_.write_out()) return {};
    const uint64_t lost = blocks_.unwritten_events();
    counters_.events -= lost;
    counters_.no_room += lost;
    return fail(ErrorCode::limit, fmt::format("no room for the log's last {} events", lost));
}

void EventlogWriter::define(const model::Thread& thread) {
    if (!timeline_.define(thread)) counters_.refused += 1;
}

void EventlogWriter::define(const model::Point& point) {
    const auto index = static_cast<size_t>(point.index);
    if (index >= kPointIndexMax) {
        counters_.refused += 1;
        return;
    }
    if (index >= points_.size()) points_.resize(index + 1);
    Point& known = points_[index];
    known.is_defined = true;
    known.is_named = false;
    known.name = as_utf8(point.name);
    known.full_name =
        point.category.empty() ? known.name : as_utf8(point.category) + ":" + known.name;
    known.arguments = point.arguments;
    known.end_arguments = point.end_arguments;
    known.role = point.role;
    // Not once CPUs have become capabilities.
    const bool is_one_process = recording_.pid != 0 && recording_.cpu_count == 0;
    if (point.role != model::PointRole::none && is_one_process && timeline_.cap_count() == 0) {
        is_runtime_ = true;
    }
    clean_names(known.arguments);
    clean_names(known.end_arguments);
}

WriteStatus EventlogWriter::write(const model::Event& event) {
    if (!has_base_) {
        has_base_ = true;
        base_ns_ = event.time_ns;
    }
    newest_ns_ = std::max(newest_ns_, event.time_ns);
    const WriteStatus status =
        std::visit([&](const auto& body) { return say(event, body); }, event.body);
    switch (status) {
        case WriteStatus::ok:
            counters_.events += 1;
            blocks_.count_event();
            break;
        case WriteStatus::no_room:
            counters_.no_room += 1;
            break;
        case WriteStatus::refused:
            counters_.refused += 1;
            break;
    }
    return status;
}

bool EventlogWriter::make_room(uint64_t ns, size_t text_bytes) {
    const size_t labels =
        (timeline_.waiting_labels() + runtime_.waiting_labels()) * Timeline::kLabelBytesMax;
    if (!blocks_.make_room(ns,
                           Timeline::kEventBytesMax + kMessageBytesMore + text_bytes + labels)) {
        return false;
    }
    if (labels == 0) return true;
    timeline_.write_labels(ns);
    runtime_.write_labels(ns);
    return true;
}

EventlogWriter::Place EventlogWriter::place_of(const model::Event& event, Task* task) {
    Place place{kNoCapability, log_time(event.time_ns)};
    if (is_runtime_) {
        if (task != nullptr) place.cap = runtime_.cap_of_runner(task->index);
        return place;
    }
    if (event.cpu != model::kNoCpu) place.cap = timeline_.cap_of_cpu(event.cpu, place.ns);
    if (task != nullptr && task != &idle_) {
        if (place.cap == kNoCapability) {
            place.cap = task->heard_cap;
        } else {
            task->heard_cap = place.cap;
        }
    }
    return place;
}

const EventlogWriter::Point* EventlogWriter::find_point(model::PointIndex index) const {
    const auto position = static_cast<size_t>(index);
    if (position >= points_.size() || !points_[position].is_defined) return nullptr;
    return &points_[position];
}

Task* EventlogWriter::event_task(model::ThreadIndex index) {
    return index == model::kIdleThread ? &idle_ : timeline_.find(index);
}

void EventlogWriter::compose(std::string_view words,
                             const std::vector<model::Argument>& arguments,
                             std::span<const model::Value> values) {
    text_.assign(words);
    append_arguments(text_, arguments, values);
    cut_text();
}

void EventlogWriter::cut_text() {
    const std::string_view kept = utf8_prefix(text_, WriterBlocks::kTextBytesMax);
    if (kept.size() == text_.size()) return;
    text_.resize(kept.size());
    counters_.strings_cut += 1;
}

void EventlogWriter::post_message(const Place& place) {
    blocks_.post(place.cap, [&](Poster to) { return to.post_user_message(place.ns, text_); });
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::Instant& instant) {
    const Point* point = find_point(instant.point);
    Task* task = event_task(instant.thread);
    if (point == nullptr || task == nullptr || instant.values.size() != point->arguments.size()) {
        return WriteStatus::refused;
    }
    if (is_of_runtime(*point, *task)) return say_of_runtime(event, *point, instant);
    compose(instant.name.empty() ? point->name : instant.name, point->arguments, instant.values);
    if (!make_room(log_time(event.time_ns), text_.size() + point->full_name.size())) {
        return WriteStatus::no_room;
    }
    const Place place = place_of(event, task);
    post_message(place);
    name_point(place, instant.point);
    blocks_.post(place.cap, [&](Poster to) {
        return to.post_perf_tracepoint(place.ns, static_cast<PerfId>(instant.point),
                                       task->number());
    });
    return WriteStatus::ok;
}

void EventlogWriter::name_point(const Place& place, model::PointIndex index) {
    Point& point = points_[static_cast<size_t>(index)];
    if (point.is_named) return;
    point.is_named = true;
    blocks_.post(kNoCapability, [&](Poster to) {
        return to.post_perf_name(place.ns, static_cast<PerfId>(index), point.full_name);
    });
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::SpanBegin& span) {
    const Point* point = find_point(span.point);
    Task* task = timeline_.find(span.thread);
    if (point == nullptr || task == nullptr || span.values.size() != point->arguments.size()) {
        return WriteStatus::refused;
    }
    if (is_of_runtime(*point, *task)) {
        return begin_of_runtime(event, *point, span.thread, span.values);
    }
    OpenSpan open{span.point, std::string(span.name)};
    compose(shown_name(open), point->arguments, span.values);
    if (!make_room(log_time(event.time_ns), text_.size() + shown_name(open).size())) {
        return WriteStatus::no_room;
    }
    const Place place = place_of(event, task);
    // Apart from the other message, which is to be the same at begin and end.
    if (!span.values.empty()) post_message(place);
    post_span(place, kStart, task->number(), shown_name(open));
    task->spans.push_back(std::move(open));
    return WriteStatus::ok;
}

void EventlogWriter::post_span(const Place& place,
                               std::string_view prefix,
                               uint64_t number,
                               std::string_view name) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), "{} {} {}", prefix, number, name);
    cut_text();
    post_message(place);
}

void EventlogWriter::post_cause(const Place& place,
                                std::string_view name,
                                model::SpanEndCause cause) {
    if (cause == model::SpanEndCause::returned) return;
    text_.clear();
    fmt::format_to(std::back_inserter(text_), "{} ended: {}", name, name_of(cause));
    cut_text();
    post_message(place);
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::SpanEnd& span) {
    const Point* point = find_point(span.point);
    Task* task = timeline_.find(span.thread);
    if (point == nullptr || task == nullptr) return WriteStatus::refused;
    const bool has_values = !span.values.empty();
    if (has_values && span.values.size() != point->end_arguments.size()) {
        return WriteStatus::refused;
    }
    if (is_of_runtime(*point, *task)) {
        return end_of_runtime(event, *point, span.thread, span.cause, span.values);
    }
    const auto found = std::find_if(task->spans.rbegin(), task->spans.rend(),
                                    [&](const OpenSpan& open) { return open.point == span.point; });
    if (found == task->spans.rend()) return WriteStatus::refused;
    const auto left_inside = static_cast<size_t>(found - task->spans.rbegin());

    size_t bytes = 0;
    for (size_t i = 0; i <= left_inside; ++i) {
        const OpenSpan& open = task->spans[task->spans.size() - 1 - i];
        bytes += 2 * shown_name(open).size() + kMessageBytesMore;
    }
    compose(shown_name(*found), point->end_arguments, span.values);
    if (!make_room(log_time(event.time_ns), bytes + text_.size())) return WriteStatus::no_room;
    const Place place = place_of(event, task);
    if (has_values) post_message(place);
    for (size_t i = 0; i < left_inside; ++i) {
        end_span(place, *task, model::SpanEndCause::lost_events);
    }
    end_span(place, *task, span.cause);
    return WriteStatus::ok;
}

void EventlogWriter::end_span(const Place& place, Task& task, model::SpanEndCause cause) {
    const OpenSpan span = std::move(task.spans.back());
    task.spans.pop_back();
    post_span(place, kStop, task.number(), shown_name(span));
    post_cause(place, shown_name(span), cause);
}

// As the spans of threads, under a number of their own.
WriteStatus EventlogWriter::say(const model::Event& event, const model::AsyncBegin& span) {
    const Point* point = find_point(span.point);
    Task* task = event_task(span.thread);
    if (point == nullptr || task == nullptr || span.values.size() != point->arguments.size() ||
        async_spans_.contains(span.id)) {
        return WriteStatus::refused;
    }
    if (is_of_runtime(*point, *task)) {
        return begin_of_runtime(event, *point, span.thread, span.values);
    }
    compose(point->name, point->arguments, span.values);
    OpenSpan open{span.point, std::string(span.name)};
    if (!make_room(log_time(event.time_ns), text_.size() + shown_name(open).size())) {
        return WriteStatus::no_room;
    }
    const Place place = place_of(event, task);
    if (!span.values.empty()) post_message(place);
    post_span(place, kStart, span.id, shown_name(open));
    async_spans_.emplace(span.id, std::move(open));
    return WriteStatus::ok;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::AsyncEnd& span) {
    const Point* known = find_point(span.point);
    Task* task = event_task(span.thread);
    if (known != nullptr && task != nullptr && is_of_runtime(*known, *task)) {
        return end_of_runtime(event, *known, span.thread, span.cause, span.values);
    }
    const auto found = async_spans_.find(span.id);
    if (found == async_spans_.end() || found->second.point != span.point || task == nullptr) {
        return WriteStatus::refused;
    }
    const Point& point = points_[static_cast<size_t>(span.point)];
    const bool has_values = !span.values.empty();
    if (has_values && span.values.size() != point.end_arguments.size()) {
        return WriteStatus::refused;
    }
    compose(point.name, point.end_arguments, span.values);
    const std::string_view name = shown_name(found->second);
    if (!make_room(log_time(event.time_ns), text_.size() + 2 * name.size())) {
        return WriteStatus::no_room;
    }
    const Place place = place_of(event, task);
    if (has_values) post_message(place);
    post_span(place, kStop, span.id, name);
    post_cause(place, name, span.cause);
    async_spans_.erase(found);
    return WriteStatus::ok;
}

WriteStatus EventlogWriter::say(const model::Event& event, const model::Counter& counter) {
    const Point* point = find_point(counter.point);
    Task* task = event_task(counter.thread);
    if (point == nullptr || task == nullptr || counter.values.size() != point->arguments.size()) {
        return WriteStatus::refused;
    }
    compose(counter.name.empty() ? point->name : counter.name, point->arguments, counter.values);
    if (!make_room(log_time(event.time_ns), text_.size())) return WriteStatus::no_room;
    post_message(place_of(event, task));
    return WriteStatus::ok;
}

std::unique_ptr<TraceWriter> make_eventlog_writer(ByteSink& sink) {
    return std::make_unique<EventlogWriter>(sink);
}

}  // namespace tracer::eventlog
