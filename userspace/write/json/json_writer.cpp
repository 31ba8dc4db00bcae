// SPDX-License-Identifier: Apache-2.0
//
// The model as an array of Chrome trace events (the JSON Array Format of "Trace Event Format",
// Google 2013-2016), one a line: for chrome://tracing, Perfetto, and scripts. Times are
// microseconds of CLOCK_BOOTTIME with three decimals. What CPUs run is no event of that format:
// each CPU is a thread of the process 0, with a slice for each stretch of a thread. Made by the
// table of formats.
#include "write/cause_names.h"
#include "write/index_table.h"
#include "write/json/json_text.h"
#include "write/json/make_json_writer.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace tracer::json {
namespace {

constexpr uint32_t kCpuProcess = 0;

class JsonWriter final : public TraceWriter {
public:
    explicit JsonWriter(ByteSink& sink) : sink_(&sink) {}

    Status open() override { return begin_chunk(); }
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    void end_chunk() override;
    Status begin_chunk() override;
    Status switch_sink(ByteSink& sink, SinkStart start) override;
    Status close() override;
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

private:
    struct OpenSpan {
        model::PointIndex point{};
        std::string name;
        uint64_t begin_ns = 0;
        bool is_begun = false;  // in this chunk
    };
    struct Thread {
        bool is_named = false;  // in this chunk
        model::Thread definition;
        std::vector<OpenSpan> spans;
        std::deque<uint64_t> owed_ends_ns;  // there was no room for them
    };
    struct Cpu {
        bool is_named = false;
        bool is_running = false;  // a slice is open
    };

    // Appends one line, or nothing at all.
    bool put(const std::string& object);
    bool put_name(std::string_view what, uint32_t pid, uint64_t tid, std::string_view name);
    [[nodiscard]] bool make_ready(Thread& thread);
    // Where an event of a point belongs, its thread named; or why it cannot be written.
    struct Spot {
        WriteStatus status = WriteStatus::refused;
        Thread* thread = nullptr;
        const model::Point* point = nullptr;
    };
    [[nodiscard]] Spot find_spot(model::ThreadIndex thread, model::PointIndex point);
    [[nodiscard]] WriteStatus put_event(const std::string& object) {
        return put(object) ? WriteStatus::ok : WriteStatus::no_room;
    }

    // The members that every event has. `phase` is a letter of the format.
    static void head(ObjectText& object, std::string_view phase, uint64_t time_ns);
    static void place(ObjectText& object, const Thread& thread);
    static void name(ObjectText& object, const model::Point& point, std::string_view own);
    static void values(ObjectText& object,
                       const std::vector<model::Argument>& arguments,
                       std::span<const model::Value> values);
    // Of a span's end, with why it ended unless that was its own event.
    static void end_values(ObjectText& object,
                           const model::Point& point,
                           model::SpanEndCause cause,
                           std::span<const model::Value> values);

    WriteStatus say(uint64_t time_ns, const model::Instant& instant);
    WriteStatus say(uint64_t time_ns, const model::SpanBegin& begin);
    WriteStatus say(uint64_t time_ns, const model::SpanEnd& end);
    WriteStatus say(uint64_t time_ns, const model::AsyncBegin& begin);
    WriteStatus say(uint64_t time_ns, const model::AsyncEnd& end);
    WriteStatus say(uint64_t time_ns, const model::Counter& counter);
    WriteStatus say(uint64_t time_ns, const model::Switch& change);
    WriteStatus say(uint64_t time_ns, const model::Wakeup& wakeup);
    WriteStatus say(uint64_t time_ns, const model::Life& life);
    WriteStatus say(uint64_t time_ns, const model::Loss& loss);
    WriteStatus say(uint64_t time_ns, const model::ClockReading& reading);

    // An instant that is no point's: on the thread, or on the whole trace where that is null.
    template <typename Arguments>
    WriteStatus put_mark(uint64_t time_ns,
                         Thread* thread,
                         std::string_view category,
                         std::string_view name,
                         const Arguments& arguments) {
        if (thread != nullptr && !make_ready(*thread)) return WriteStatus::no_room;
        std::string line;
        ObjectText object(line);
        head(object, "i", time_ns);
        object.text("s", thread != nullptr ? "t" : "g");
        if (thread != nullptr) {
            place(object, *thread);
        } else {
            object.unsigned_number("pid", kCpuProcess);
            object.unsigned_number("tid", 0);
        }
        object.text("cat", category);
        object.text("name", name);
        object.begin("args");
        arguments(object);
        object.end();
        object.end();
        return put_event(line);
    }

    std::string begin_text(uint64_t time_ns,
                           const Thread& thread,
                           const model::Point& point,
                           std::string_view own_name,
                           std::span<const model::Value> values) const;

    ByteSink* sink_;
    bool is_array_open_ = false;
    bool is_first_line_ = true;
    IndexTable<model::ThreadIndex, Thread> threads_;
    IndexTable<model::PointIndex, model::Point> points_;
    std::map<uint64_t, std::string> async_names_;  // of open ones, by id
    std::map<uint16_t, Cpu> cpus_;
    WriterCounters counters_;
};

void JsonWriter::define(const model::Thread& thread) {
    Thread* const entry = threads_.put(thread.index);
    counters_.refused += entry == nullptr;
    if (entry == nullptr) return;
    entry->is_named = false;
    entry->definition = thread;
}

void JsonWriter::define(const model::Point& point) {
    model::Point* const entry = points_.put(point.index);
    counters_.refused += entry == nullptr;
    if (entry != nullptr) *entry = point;
}

bool JsonWriter::put(const std::string& object) {
    // The array's beginning goes with its first line, which may find no room.
    const std::string_view before = is_first_line_ ? "[\n" : ",\n";
    const size_t bytes = before.size() + object.size();
    if (bytes > ByteSink::kReserveBytesMax) return false;
    const std::span<std::byte> room = sink_->reserve(bytes);
    if (room.empty()) return false;
    std::memcpy(room.data(), before.data(), before.size());
    std::memcpy(room.data() + before.size(), object.data(), object.size());
    sink_->commit(bytes);
    is_first_line_ = false;
    return true;
}

bool JsonWriter::put_name(std::string_view what,
                          uint32_t pid,
                          uint64_t tid,
                          std::string_view name) {
    std::string line;
    ObjectText object(line);
    object.text("ph", "M");
    object.text("name", what);
    object.unsigned_number("pid", pid);
    object.unsigned_number("tid", tid);
    object.begin("args");
    object.text("name", name);
    object.end();
    object.end();
    return put(line);
}

// Tracks have ids of their own, which no thread of the kernel has; so has a tid's later life.
uint64_t id_of(const model::Thread& thread) {
    return thread.tid | uint64_t{thread.thread_life} << 22;
}

bool JsonWriter::make_ready(Thread& thread) {
    const model::Thread& definition = thread.definition;
    if (!thread.is_named) {
        if (!put_name("process_name", definition.pid, definition.pid, definition.process_name) ||
            !put_name("thread_name", definition.pid, id_of(definition), definition.thread_name)) {
            return false;
        }
        thread.is_named = true;
    }
    while (!thread.owed_ends_ns.empty()) {
        std::string line;
        ObjectText object(line);
        head(object, "E", thread.owed_ends_ns.front());
        place(object, thread);
        object.end();
        if (!put(line)) return false;
        thread.owed_ends_ns.pop_front();
    }
    return true;
}

JsonWriter::Spot JsonWriter::find_spot(model::ThreadIndex thread, model::PointIndex point) {
    Spot spot{.thread = threads_.find(thread), .point = points_.find(point)};
    if (spot.thread == nullptr || spot.point == nullptr) return spot;
    spot.status = make_ready(*spot.thread) ? WriteStatus::ok : WriteStatus::no_room;
    return spot;
}

void JsonWriter::head(ObjectText& object, std::string_view phase, uint64_t time_ns) {
    object.text("ph", phase);
    object.time("ts", time_ns);
}

void JsonWriter::place(ObjectText& object, const Thread& thread) {
    object.unsigned_number("pid", thread.definition.pid);
    object.unsigned_number("tid", id_of(thread.definition));
}

void JsonWriter::name(ObjectText& object, const model::Point& point, std::string_view own) {
    object.text("cat", point.category);
    object.text("name", own.empty() ? std::string_view(point.name) : own);
}

void JsonWriter::values(ObjectText& object,
                        const std::vector<model::Argument>& arguments,
                        std::span<const model::Value> values) {
    object.begin("args");
    for (size_t i = 0; i < std::min(arguments.size(), values.size()); ++i) {
        object.value(arguments[i], values[i]);
    }
    object.end();
}

void JsonWriter::end_values(ObjectText& object,
                            const model::Point& point,
                            model::SpanEndCause cause,
                            std::span<const model::Value> values) {
    object.begin("args");
    if (cause != model::SpanEndCause::returned) object.text("ended", model::name_of(cause));
    for (size_t i = 0; i < std::min(point.end_arguments.size(), values.size()); ++i) {
        object.value(point.end_arguments[i], values[i]);
    }
    object.end();
}

WriteStatus JsonWriter::write(const model::Event& event) {
    const WriteStatus status =
        std::visit([&](const auto& body) { return say(event.time_ns, body); }, event.body);
    counters_.events += status == WriteStatus::ok;
    counters_.no_room += status == WriteStatus::no_room;
    counters_.refused += status == WriteStatus::refused;
    return status;
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::Instant& instant) {
    const auto [status, thread, point] = find_spot(instant.thread, instant.point);
    if (status != WriteStatus::ok) return status;
    std::string line;
    ObjectText object(line);
    head(object, "i", time_ns);
    object.text("s", "t");
    place(object, *thread);
    name(object, *point, instant.name);
    values(object, point->arguments, instant.values);
    object.end();
    return put_event(line);
}

std::string JsonWriter::begin_text(uint64_t time_ns,
                                   const Thread& thread,
                                   const model::Point& point,
                                   std::string_view own_name,
                                   std::span<const model::Value> begin_values) const {
    std::string line;
    ObjectText object(line);
    head(object, "B", time_ns);
    place(object, thread);
    name(object, point, own_name);
    values(object, point.arguments, begin_values);
    object.end();
    return line;
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::SpanBegin& begin) {
    Thread* const thread = threads_.find(begin.thread);
    const model::Point* const point = points_.find(begin.point);
    if (thread == nullptr || point == nullptr) return WriteStatus::refused;
    const bool is_begun =
        make_ready(*thread) && put(begin_text(time_ns, *thread, *point, begin.name, begin.values));
    thread->spans.push_back({begin.point, std::string(begin.name), time_ns, is_begun});
    return is_begun ? WriteStatus::ok : WriteStatus::no_room;
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::SpanEnd& end) {
    Thread* const thread = threads_.find(end.thread);
    const model::Point* const point = points_.find(end.point);
    if (thread == nullptr || point == nullptr || thread->spans.empty()) {
        return WriteStatus::refused;
    }
    const OpenSpan span = std::move(thread->spans.back());
    thread->spans.pop_back();
    // An end without its begin would end what is around it.
    if (!span.is_begun) return WriteStatus::no_room;
    std::string line;
    ObjectText object(line);
    head(object, "E", time_ns);
    place(object, *thread);
    name(object, *point, span.name);
    end_values(object, *point, end.cause, end.values);
    object.end();
    if (make_ready(*thread) && put(line)) return WriteStatus::ok;
    thread->owed_ends_ns.push_back(time_ns);
    return WriteStatus::no_room;
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::AsyncBegin& begin) {
    const auto [status, thread, point] = find_spot(begin.thread, begin.point);
    if (status != WriteStatus::ok) return status;
    std::string line;
    ObjectText object(line);
    head(object, "b", time_ns);
    place(object, *thread);
    name(object, *point, begin.name);
    object.text("id", fmt::format("{:#x}", begin.id));
    values(object, point->arguments, begin.values);
    object.end();
    if (!put(line)) return WriteStatus::no_room;
    async_names_[begin.id] = begin.name.empty() ? point->name : std::string(begin.name);
    return WriteStatus::ok;
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::AsyncEnd& end) {
    Thread* const thread = threads_.find(end.thread);
    const model::Point* const point = points_.find(end.point);
    if (thread == nullptr || point == nullptr) return WriteStatus::refused;
    const auto begun = async_names_.extract(end.id);
    // Its begin found no room.
    if (begun.empty() || !make_ready(*thread)) return WriteStatus::no_room;
    std::string line;
    ObjectText object(line);
    head(object, "e", time_ns);
    place(object, *thread);
    name(object, *point, begun.mapped());
    object.text("id", fmt::format("{:#x}", end.id));
    end_values(object, *point, end.cause, end.values);
    object.end();
    return put_event(line);
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::Counter& counter) {
    const auto [status, thread, point] = find_spot(counter.thread, counter.point);
    if (status != WriteStatus::ok) return status;
    std::string line;
    ObjectText object(line);
    head(object, "C", time_ns);
    place(object, *thread);
    name(object, *point, counter.name);
    object.begin("args");
    for (size_t i = 0; i < std::min(point->arguments.size(), counter.values.size()); ++i) {
        const model::ValueType type = counter.values[i].type;
        if (type == model::ValueType::none || type == model::ValueType::string) continue;
        // A series is a number, whatever its values are called.
        object.value({.name = point->arguments[i].name, .type = type}, counter.values[i]);
    }
    object.end();
    object.end();
    return put_event(line);
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::Switch& change) {
    Cpu& cpu = cpus_[change.cpu];
    if (!cpu.is_named) {
        cpu.is_named =
            put_name("process_name", kCpuProcess, 0, "CPUs") &&
            put_name("thread_name", kCpuProcess, change.cpu, fmt::format("CPU {}", change.cpu));
        if (!cpu.is_named) return WriteStatus::no_room;
    }
    const auto at_cpu = [&](ObjectText& object, std::string_view phase) {
        head(object, phase, time_ns);
        object.unsigned_number("pid", kCpuProcess);
        object.unsigned_number("tid", change.cpu);
    };
    if (cpu.is_running) {
        std::string line;
        ObjectText object(line);
        at_cpu(object, "E");
        object.end();
        if (!put(line)) return WriteStatus::no_room;
        cpu.is_running = false;
    }
    const Thread* const in = threads_.find(change.in);
    if (in == nullptr) return WriteStatus::ok;
    std::string line;
    ObjectText object(line);
    at_cpu(object, "B");
    object.text("cat", "sched");
    object.text("name", in->definition.thread_name);
    object.begin("args");
    object.unsigned_number("pid", in->definition.pid);
    object.unsigned_number("tid", in->definition.tid);
    object.number("priority", change.in_priority);
    object.end();
    object.end();
    if (!put(line)) return WriteStatus::no_room;
    cpu.is_running = true;
    return WriteStatus::ok;
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::Wakeup& wakeup) {
    Thread* const woken = threads_.find(wakeup.woken);
    if (woken == nullptr) return WriteStatus::refused;
    const Thread* const waker = threads_.find(wakeup.waker);
    return put_mark(time_ns, woken, "sched", "wakeup", [&](ObjectText& object) {
        object.unsigned_number("cpu", wakeup.cpu);
        if (waker != nullptr) object.unsigned_number("waker_tid", waker->definition.tid);
    });
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::Life& life) {
    constexpr std::string_view kNames[] = {"fork", "exec", "exit"};
    Thread* const thread = threads_.find(life.thread);
    if (thread == nullptr) return WriteStatus::refused;
    const Thread* const child = threads_.find(life.child);
    const std::string_view what = kNames[static_cast<size_t>(life.kind)];
    return put_mark(time_ns, thread, "process", what, [&](ObjectText& object) {
        switch (life.kind) {
            case model::LifeKind::fork:
                if (child != nullptr) object.unsigned_number("child_tid", child->definition.tid);
                break;
            case model::LifeKind::exec:
                object.text("path", life.path);
                break;
            case model::LifeKind::exit:
                object.number("exit_code", life.exit_code);
                break;
        }
    });
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::Loss& loss) {
    return put_mark(time_ns, nullptr, "loss", "lost events", [&](ObjectText& object) {
        object.text("cause", model::name_of(loss.cause));
        object.unsigned_number("cpu", loss.cpu);
        object.unsigned_number("events", loss.count);
        object.time("since_us", loss.begin_ns);
    });
}

WriteStatus JsonWriter::say(uint64_t time_ns, const model::ClockReading& reading) {
    return put_mark(time_ns, nullptr, "clock", "clocks", [&](ObjectText& object) {
        object.unsigned_number("monotonic_ns", reading.monotonic_ns);
        object.unsigned_number("realtime_ns", reading.realtime_ns);
    });
}

// Readers take an array without its end, but parsers of JSON do not.
void JsonWriter::end_chunk() {
    if (!is_array_open_) return;
    const std::string_view text = is_first_line_ ? "[\n]\n" : "\n]\n";
    if (sink_->write(std::as_bytes(std::span(text))) == text.size()) is_array_open_ = false;
}

Status JsonWriter::begin_chunk() {
    end_chunk();
    is_array_open_ = true;
    is_first_line_ = true;
    cpus_.clear();
    for (std::optional<Thread>& entry : threads_.entries()) {
        if (!entry) continue;
        Thread& thread = *entry;
        thread.is_named = false;
        thread.owed_ends_ns.clear();
        // Begins again what is open, at the times it really began; arguments are gone.
        for (OpenSpan& span : thread.spans) {
            const model::Point* const point = points_.find(span.point);
            span.is_begun = point != nullptr && make_ready(thread) &&
                            put(begin_text(span.begin_ns, thread, *point, span.name, {}));
        }
    }
    return sink_->health();
}

Status JsonWriter::switch_sink(ByteSink& sink, SinkStart start) {
    if (start == SinkStart::reads_alone) end_chunk();
    sink_ = &sink;
    return start == SinkStart::reads_alone ? begin_chunk() : Status();
}

Status JsonWriter::close() {
    for (std::optional<Thread>& thread : threads_.entries()) {
        if (thread && !thread->owed_ends_ns.empty()) static_cast<void>(make_ready(*thread));
    }
    end_chunk();
    if (!is_array_open_) return {};
    TR_TRY(sink_->health());
    return fail(ErrorCode::limit, "no room for the end of the trace");
}

}  // namespace

std::unique_ptr<TraceWriter> make_json_writer(ByteSink& sink) {
    return std::make_unique<JsonWriter>(sink);
}

}  // namespace tracer::json
