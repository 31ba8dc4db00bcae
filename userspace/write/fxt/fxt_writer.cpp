// SPDX-License-Identifier: Apache-2.0
//
// The Fuchsia trace writer: header and definitions, and the events of points (instants, spans,
// counters). What the system does (switches, wakeups, lives, losses, clocks) is in
// fxt_system_events.cpp. Relies on the sink's promise to take a record whole or not at all; made
// by the table of formats, called by one thread.
#include "write/fxt/fxt_writer.h"

#include "write/fxt/make_fxt_writer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace tracer::fxt {
namespace {

constexpr std::string_view kProviderName = "tracer";
constexpr uint32_t kProviderId = 1;
constexpr uint32_t kPointIndexMax = 1U << 24;

// Names that events make of their arguments, of which the latest are kept in the string table.
constexpr uint16_t kCachedNames = 512;

// Readers take these for paths into nested objects, and fail on a name that is both a leaf and a
// branch.
std::string without_path_characters(std::string_view name) {
    std::string flat(name);
    std::replace_if(
        flat.begin(), flat.end(), [](char c) { return c == '.' || c == '[' || c == ']'; }, '_');
    return flat;
}

}  // namespace

// Times are CLOCK_BOOTTIME nanoseconds. Names of the traced programs come through the same table
// as the writer's, in order of their definition; only those of single events take turns in a cache.
// Owners of the sink use it between events, so records are held back within a batch only.
FxtWriter::FxtWriter(ByteSink& sink)
    : stream_(sink,
              {.provider_id = kProviderId,
               .provider_name = kProviderName,
               .cached_strings = kCachedNames,
               .cut_long_strings = true,
               .window_bytes = 0}),
      names_(stream_),
      scheduling_(names_),
      tasks_(names_.process) {}

Status FxtWriter::open() {
    if (write_definitions()) return {};
    TR_TRY(stream_.sink().health());
    return fail(ErrorCode::limit, "no room for the trace's header");
}

Status FxtWriter::begin_chunk() {
    const Status header = stream_.begin_chunk();
    is_behind_ = true;
    tasks_.restart();
    cpus_.clear();
    std::fill(loss_lane_end_ns_.begin(), loss_lane_end_ns_.end(), 0);
    const bool is_complete = header.has_value() && write_definitions();
    for (Task& task : tasks_.all()) resume_spans(task);
    resume_async_spans();
    if (last_clocks_) say_clocks(last_clocks_->time_ns, last_clocks_->reading);
    if (is_complete) return {};
    TR_TRY(stream_.sink().health());
    return fail(ErrorCode::limit, "no room for the header and names of a chunk");
}

Status FxtWriter::switch_sink(ByteSink& sink, SinkStart start) {
    TR_TRY(stream_.switch_sink(sink, SinkStart::goes_on));
    return start == SinkStart::reads_alone ? begin_chunk() : Status();
}

Status FxtWriter::close() {
    bool is_complete = write_definitions();
    for (Task& task : tasks_.all()) {
        if (!task.owed_ends.empty() && !make_current(task)) is_complete = false;
    }
    for (size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
        if (!mend_switches(static_cast<uint16_t>(cpu))) is_complete = false;
    }
    if (is_complete) return {};
    TR_TRY(stream_.sink().health());
    return fail(ErrorCode::limit, "no room for the end of the trace");
}

void FxtWriter::define(const model::Thread& thread) {
    if (!tasks_.define(thread, counters_.strings_cut)) {
        counters_.refused += 1;
        return;
    }
    is_behind_ = true;
    // Without room they wait; the next event tries again, so there is nothing to report here.
    if (stream_.has_begun()) static_cast<void>(write_definitions());
}

void FxtWriter::define(const model::Point& point) {
    const auto index = static_cast<uint32_t>(point.index);
    if (index >= kPointIndexMax || point.arguments.size() > kArgumentsMax ||
        point.end_arguments.size() > kArgumentsMax) {
        counters_.refused += 1;
        return;
    }
    if (index >= points_.size()) points_.resize(index + 1);
    Point& known = points_[index];
    known.is_defined = true;
    known.category = intern(point.category);
    known.name = intern(point.name);
    known.arguments = {prepare(point.arguments), known.category, known.name};
    known.end_arguments = {prepare(point.end_arguments), known.category, known.name};
    is_behind_ = true;
    if (stream_.has_begun()) static_cast<void>(write_definitions());
}

std::vector<PreparedArgument> FxtWriter::prepare(const std::vector<model::Argument>& list) {
    std::vector<PreparedArgument> prepared;
    prepared.reserve(list.size());
    for (const model::Argument& argument : list) {
        const std::string name = without_path_characters(argument.name);
        PreparedArgument& added = prepared.emplace_back();
        added.type = argument.type;
        added.name = intern(name);
        if (argument.type == model::ValueType::string) {
            added.bytes_name = intern(name + "_bytes");
            added.bytes_min_name = intern(name + "_bytes_min");
        }
        for (const model::ValueName& known : argument.names) {
            added.names.push_back({known.bits, intern(known.name)});
        }
    }
    return prepared;
}

Name FxtWriter::intern(std::string_view text) {
    std::string repaired;
    return {stream_, clean_text(text, repaired, counters_.strings_cut)};
}

bool FxtWriter::write_definitions() {
    if (!is_behind_) return true;
    is_behind_ = !(stream_.catch_up() && tasks_.write_pending(stream_));
    return !is_behind_;
}

Task* FxtWriter::event_task(model::ThreadIndex index) {
    Task* task = tasks_.find(index);
    if (task != nullptr && !task->is_idle) [[likely]]
        return task;
    if (task == nullptr && index != model::kIdleThread) return nullptr;
    return &tasks_.own({kIdleProcess, kIdleProcess}, "idle CPUs", "idle");
}

bool FxtWriter::make_current(Task& task) {
    if (!make_known(task)) return false;
    if (!stream_.use_slot(task.ref)) {
        task.ref = stream_.thread(task.ids);
        // In full, where there is no room to give it a slot.
        if (task.ref.slot() == 0) return false;
    }
    return task.owed_ends.empty() || write_owed_ends(task);
}

bool FxtWriter::write_owed_ends(Task& task) {
    const StringRef cause =
        names_.end_causes[static_cast<size_t>(model::SpanEndCause::lost_events)];
    while (!task.owed_ends.empty()) {
        const OwedEnd& end = task.owed_ends.front();
        const Point* point = find_point(end.point);
        TR_CHECK(point != nullptr);
        ArgumentList arguments;
        arguments.push(arg(names_.ended, cause));
        const Head head{
            EventType::duration_end, end.time_ns, point->category, point->name, 0, end.name};
        if (write_record(task, head, arguments) == WriteStatus::no_room) return false;
        task.owed_ends.erase(task.owed_ends.begin());
    }
    return true;
}

// Begins again, in a new chunk, the spans that are open, at the times they really began; their
// arguments are gone. A span that cannot be begun here will not be ended here either.
void FxtWriter::resume_spans(Task& task) {
    for (OpenSpan& span : task.spans) {
        if (span.begin_status == WriteStatus::refused) continue;
        const Point* point = find_point(span.point);
        TR_CHECK(point != nullptr);
        const ArgumentList none;
        const Head head{
            EventType::duration_begin, span.begin_ns, point->category, point->name, 0, span.name};
        span.begin_status = write_event(task, head, none);
    }
}

void FxtWriter::resume_async_spans() {
    for (auto& [id, span] : async_spans_) {
        const Point* point = find_point(span.point);
        Task* task = event_task(span.thread);
        TR_CHECK(point != nullptr && task != nullptr);
        const ArgumentList none;
        const Head head{
            EventType::async_begin, span.begin_ns, point->category, point->name, id, span.name};
        span.is_begun = write_event(*task, head, none) == WriteStatus::ok;
    }
}

WriteStatus FxtWriter::write(const model::Event& event) {
    // The commonest by far, and std::visit would call it through a table.
    const auto* instant = std::get_if<model::Instant>(&event.body);
    const WriteStatus status =
        instant != nullptr
            ? say(event.time_ns, *instant)
            : std::visit([&](const auto& body) { return say(event.time_ns, body); }, event.body);
    count(status);
    return status;
}

// The shortest way: as many instants as can be in one reservation, of which all but the time, the
// thread's slot and the values was made when their points were defined. Whatever needs something
// else in the file first (a name that waited for room, a thread's slot) is left to write().
size_t FxtWriter::write_plain(std::span<const PlainInstant> instants) {
    ReadyInstants ready;  // NOLINT(cppcoreguidelines-pro-type-member-init): as far as it is used
    size_t done = 0;
    while (done < instants.size()) {
        const auto left = instants.subspan(done);
        find_ready(left, ready);
        if (ready.count != 0 && write_ready(left, ready)) {
            done += ready.count;
            continue;
        }
        // Without room for all there may be room for some.
        const size_t count = std::max<size_t>(ready.count, 1);
        const size_t dealt_with = TraceWriter::write_plain(left.first(count));
        done += dealt_with;
        if (dealt_with < count) break;
    }
    return done;
}

void FxtWriter::find_ready(std::span<const PlainInstant> instants, ReadyInstants& ready) {
    ready.count = 0;
    ready.words = 0;
    if (is_behind_) return;
    const size_t count_max = std::min(instants.size(), ReadyInstants::kMax);
    size_t count = 0;
    size_t words = 0;
    // Most instants have the point and the thread of the one before.
    const Point* point = nullptr;
    const Task* task = nullptr;
    for (; count < count_max; ++count) {
        const PlainInstant& instant = instants[count];
        if (point == nullptr || instant.point != instants[count - 1].point) {
            point = find_point(instant.point);
            if (point == nullptr || !point->arguments.is_fixed(instant.types)) break;
        }
        if (task == nullptr || instant.thread != instants[count - 1].thread) {
            task = tasks_.find(instant.thread);
            if (task == nullptr || !task->is_written || !task->owed_ends.empty() ||
                !stream_.use_slot(task->ref)) {
                break;
            }
        }
        ready.list[count] = {&point->arguments,
                             point->arguments.fixed_header(EventType::instant, task->ref.slot())};
        words += point->arguments.fixed_words();
    }
    ready.count = count;
    ready.words = words;
}

bool FxtWriter::write_ready(std::span<const PlainInstant> instants, const ReadyInstants& ready) {
    Record records(stream_.window(), ready.words);
    if (!records.has_room()) return false;
    for (size_t i = 0; i < ready.count; ++i) {
        records.word(ready.list[i].header);
        records.word(instants[i].time_ns);
        ready.list[i].arguments->write_fixed(records, instants[i].words);
    }
    records.commit();
    counters_.events += ready.count;
    return true;
}

void FxtWriter::count(WriteStatus status) {
    switch (status) {
        case WriteStatus::ok:
            counters_.events += 1;
            return;
        case WriteStatus::no_room:
            counters_.no_room += 1;
            return;
        case WriteStatus::refused:
            counters_.refused += 1;
            return;
    }
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::Instant& event) {
    Task* task = event_task(event.thread);
    if (task == nullptr) return WriteStatus::refused;
    return write_point(EventType::instant, time_ns, *task, event.point, event.values, event.name);
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::SpanBegin& event) {
    Task* task = tasks_.find(event.thread);
    // Spans of the idle loops of several CPUs would close one another.
    if (task == nullptr || task->is_idle) return WriteStatus::refused;
    const WriteStatus status = write_point(EventType::duration_begin, time_ns, *task, event.point,
                                           event.values, event.name);
    task->spans.push_back({time_ns, event.point, status, std::string(event.name)});
    return status;
}

WriteStatus FxtWriter::write_point(EventType type,
                                   uint64_t time_ns,
                                   Task& task,
                                   model::PointIndex index,
                                   std::span<const model::Value> values,
                                   std::string_view name) {
    const Point* point = find_point(index);
    if (point == nullptr) return WriteStatus::refused;
    if (name.empty() && point->arguments.fit_fixed(values)) [[likely]] {
        if (!make_current(task)) return WriteStatus::no_room;
        Record record(stream_.window(), point->arguments.fixed_words());
        if (!record.has_room()) return WriteStatus::no_room;
        record.word(point->arguments.fixed_header(type, task.ref.slot()));
        record.word(time_ns);
        point->arguments.write_fixed(record, values);
        record.commit();
        return WriteStatus::ok;
    }
    ArgumentList arguments;
    if (!add_values(arguments, point->arguments.prepared(), values, repaired_,
                    counters_.strings_cut)) {
        return WriteStatus::refused;
    }
    return write_event(task, {type, time_ns, point->category, point->name, 0, name}, arguments);
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::SpanEnd& event) {
    Task* task = tasks_.find(event.thread);
    if (task == nullptr || task->spans.empty()) return WriteStatus::refused;
    if (time_ns < task->spans.back().begin_ns) return WriteStatus::refused;
    OpenSpan span = std::move(task->spans.back());
    task->spans.pop_back();
    if (span.begin_status != WriteStatus::ok) return span.begin_status;

    const Point* point = find_point(span.point);
    TR_CHECK(point != nullptr);
    ArgumentList arguments;
    WriteStatus status = WriteStatus::refused;
    if (end_arguments(arguments, event.point, event.cause, event.values)) {
        const Head head{
            EventType::duration_end, time_ns, point->category, point->name, 0, span.name};
        status = write_event(*task, head, arguments);
    }
    // The begin is in the file, so an end has to come, with whatever can be said of it.
    if (status != WriteStatus::ok)
        task->owed_ends.push_back({time_ns, span.point, std::move(span.name)});
    return status;
}

bool FxtWriter::end_arguments(ArgumentList& out,
                              model::PointIndex point,
                              model::SpanEndCause cause,
                              std::span<const model::Value> values) {
    const bool is_repair = cause != model::SpanEndCause::returned;
    if (!(is_repair && values.empty())) {
        const Point* described = find_point(point);
        if (described == nullptr || !add_values(out, described->end_arguments.prepared(), values,
                                                repaired_, counters_.strings_cut)) {
            return false;
        }
    }
    if (!is_repair) return true;
    if (out.is_full()) return false;
    out.push(arg(names_.ended, StringRef(names_.end_causes[static_cast<size_t>(cause)])));
    return true;
}

// An id that is open again would nest with itself.
WriteStatus FxtWriter::say(uint64_t time_ns, const model::AsyncBegin& event) {
    const Point* point = find_point(event.point);
    Task* task = event_task(event.thread);
    ArgumentList arguments;
    if (point == nullptr || task == nullptr || async_spans_.contains(event.id) ||
        !add_values(arguments, point->arguments.prepared(), event.values, repaired_,
                    counters_.strings_cut)) {
        return WriteStatus::refused;
    }
    const Head head{
        EventType::async_begin, time_ns, point->category, point->name, event.id, event.name};
    const WriteStatus status = write_event(*task, head, arguments);
    if (status == WriteStatus::ok) {
        async_spans_[event.id] = {time_ns, event.point, event.thread, true,
                                  std::string(event.name)};
    }
    return status;
}

// Readers close the span whose id, category and name an end repeats. One without room is not
// written and the span stays open: the event may come again.
WriteStatus FxtWriter::say(uint64_t time_ns, const model::AsyncEnd& event) {
    const auto found = async_spans_.find(event.id);
    if (found == async_spans_.end() || time_ns < found->second.begin_ns) {
        return WriteStatus::refused;
    }
    const AsyncSpan span = found->second;
    Task* task = event_task(event.thread);
    if (task == nullptr) task = event_task(span.thread);
    const Point* point = find_point(span.point);
    TR_CHECK(task != nullptr && point != nullptr);
    WriteStatus status = WriteStatus::refused;
    if (span.is_begun) {
        ArgumentList arguments;
        if (!end_arguments(arguments, span.point, event.cause, event.values)) {
            // Its begin is in the file, so an end has to come.
            arguments = {};
        }
        const Head head{EventType::async_end, time_ns,  point->category,
                        point->name,          event.id, span.name};
        status = write_event(*task, head, arguments);
        if (status == WriteStatus::no_room) return status;
    }
    async_spans_.erase(found);
    return status;
}

WriteStatus FxtWriter::say(uint64_t time_ns, const model::Counter& event) {
    const Point* point = find_point(event.point);
    Task* task = event_task(event.thread);
    ArgumentList arguments;
    if (point == nullptr || task == nullptr ||
        !add_counter_values(arguments, point->arguments.prepared(), event.values)) {
        return WriteStatus::refused;
    }
    // The trailing word is the counter's id: one series for each name and argument.
    const Head head{EventType::counter, time_ns, point->category, point->name, 0, event.name};
    return write_event(*task, head, arguments);
}

WriteStatus FxtWriter::write_event(Task& task, const Head& head, const ArgumentList& arguments) {
    if (!make_current(task)) return WriteStatus::no_room;
    return write_record(task, head, arguments);
}

WriteStatus FxtWriter::write_record(const Task& task,
                                    const Head& head,
                                    const ArgumentList& arguments) {
    StringRef name = head.name;
    if (!head.own_name.empty()) {
        const auto cached = stream_.cached(head.own_name);
        if (!cached && cached.error() == Fault::no_room) return WriteStatus::no_room;
        name = cached ? *cached : StringRef(head.own_name);
    }
    return status_of(stream_.event(
        {head.type, task.ref, head.category, name, head.time_ns, head.trailing}, arguments));
}

WriteStatus FxtWriter::status_of(const Outcome& outcome) {
    if (outcome.is_cut()) {
        counters_.strings_cut += stream_.counters().strings_cut - counted_cuts_;
        counted_cuts_ = stream_.counters().strings_cut;
    }
    if (outcome) return WriteStatus::ok;
    return outcome.fault() == Fault::no_room ? WriteStatus::no_room : WriteStatus::refused;
}

std::unique_ptr<TraceWriter> make_fxt_writer(ByteSink& sink) {
    return std::make_unique<FxtWriter>(sink);
}

}  // namespace tracer::fxt
