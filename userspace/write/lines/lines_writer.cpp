// SPDX-License-Identifier: Apache-2.0
//
// The model as lines: knows who is who, which spans are open, and what time it is, and has each
// line spelled by one of two spellings (line_spelling.h). A span is told where it ends, with what
// its begin said, which is kept until then. Made by the table of formats, and by the command line
// with other options.
#include "write/index_table.h"
#include "write/lines/line_spelling.h"
#include "write/lines/make_lines_writer.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tracer::lines {
namespace {

// Of values of spans that are open, all together. Beyond it spans are told without those.
constexpr size_t kHeldBytesMax = size_t{64} << 20;

class LinesWriter final : public TraceWriter {
public:
    LinesWriter(ByteSink& sink, const LineOptions& options)
        : sink_(&sink),
          spelling_(options.is_json ? make_json_spelling() : make_text_spelling(options)),
          begins_(options.begins) {}

    Status open() override { return {}; }
    void define(const model::Thread& thread) override;
    void define(const model::Point& point) override;
    WriteStatus write(const model::Event& event) override;
    // A line reads alone.
    Status begin_chunk() override { return sink_->health(); }
    Status switch_sink(ByteSink& sink, SinkStart /*start*/) override {
        sink_ = &sink;
        return {};
    }
    Status close() override;
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

private:
    struct OpenSpan {
        model::PointIndex point{};
        uint64_t begin_ns = 0;
        std::string name;
        std::string values;
        bool lacks_values = false;
    };
    struct Thread {
        std::string who;
        std::vector<OpenSpan> spans;
    };
    [[nodiscard]] std::string_view who_is(model::ThreadIndex index);
    [[nodiscard]] Spot spot(const model::Event& event, const Thread* thread) const;
    // Appends line_ to the sink.
    [[nodiscard]] WriteStatus put(uint64_t time_ns);

    [[nodiscard]] OpenSpan open_span(uint64_t time_ns,
                                     const model::Point& point,
                                     std::string_view name,
                                     std::span<const model::Value> values);
    // From where its begin is told: its values are kept, or left out where too many are.
    void hold(OpenSpan& span);
    void let_go(const OpenSpan& span) { held_bytes_ -= span.values.size(); }
    [[nodiscard]] WriteStatus put_begin(const model::Event& event,
                                        const Thread& thread,
                                        const OpenSpan& span,
                                        uint64_t async_id);
    [[nodiscard]] WriteStatus put_end(const model::Event& event,
                                      const Spot& spot,
                                      const OpenSpan& span,
                                      SpanLine line,
                                      std::span<const model::Value> values);
    // What an instant and a counter have in common.
    template <typename Body>
    [[nodiscard]] WriteStatus put_point(const model::Event& event,
                                        const Body& body,
                                        void (LineSpelling::*spell)(std::string&,
                                                                    const Spot&,
                                                                    const What&));

    WriteStatus say(const model::Event& event, const model::Instant& instant);
    WriteStatus say(const model::Event& event, const model::SpanBegin& begin);
    WriteStatus say(const model::Event& event, const model::SpanEnd& end);
    WriteStatus say(const model::Event& event, const model::AsyncBegin& begin);
    WriteStatus say(const model::Event& event, const model::AsyncEnd& end);
    WriteStatus say(const model::Event& event, const model::Counter& counter);
    WriteStatus say(const model::Event& event, const model::Switch& change);
    WriteStatus say(const model::Event& event, const model::Wakeup& wakeup);
    WriteStatus say(const model::Event& event, const model::Life& life);
    WriteStatus say(const model::Event& event, const model::Loss& loss);
    WriteStatus say(const model::Event& event, const model::ClockReading& reading);

    ByteSink* sink_;
    std::unique_ptr<LineSpelling> spelling_;
    const bool begins_;
    IndexTable<model::ThreadIndex, Thread> threads_;
    IndexTable<model::PointIndex, model::Point> points_;
    std::unordered_map<uint64_t, OpenSpan> async_;  // by id
    size_t held_bytes_ = 0;
    std::string line_;
    std::optional<uint64_t> first_ns_;
    uint64_t last_line_ns_ = 0;
    // What CLOCK_REALTIME was ahead at the last reading; modulo 2^64, so it may be behind.
    std::optional<uint64_t> realtime_ahead_ns_;
    // Losses for which there was no room when they were told last: one for each cause and CPU.
    std::vector<model::Event> untold_;
    WriterCounters counters_;
};

std::string_view LinesWriter::who_is(model::ThreadIndex index) {
    const Thread* const thread = threads_.find(index);
    return thread != nullptr ? std::string_view(thread->who) : std::string_view();
}

void LinesWriter::define(const model::Thread& thread) {
    Thread* const entry = threads_.put(thread.index);
    counters_.refused += entry == nullptr;
    if (entry != nullptr) entry->who = spelling_->thread(thread);
}

void LinesWriter::define(const model::Point& point) {
    model::Point* const entry = points_.put(point.index);
    counters_.refused += entry == nullptr;
    if (entry != nullptr) *entry = point;
}

Spot LinesWriter::spot(const model::Event& event, const Thread* thread) const {
    Spot spot{.time_ns = event.time_ns, .cpu = event.cpu};
    if (realtime_ahead_ns_) spot.realtime_ns = event.time_ns + *realtime_ahead_ns_;
    const uint64_t first_ns = first_ns_.value_or(event.time_ns);
    spot.since_ns = event.time_ns > first_ns ? event.time_ns - first_ns : 0;
    const uint64_t last_ns = last_line_ns_ != 0 ? last_line_ns_ : first_ns;
    spot.delta_ns = event.time_ns > last_ns ? event.time_ns - last_ns : 0;
    if (thread != nullptr) {
        spot.who = thread->who;
        spot.depth = thread->spans.size();
    }
    return spot;
}

WriteStatus LinesWriter::put(uint64_t time_ns) {
    line_ += '\n';
    if (line_.size() > ByteSink::kReserveBytesMax) return WriteStatus::refused;
    const std::span<std::byte> room = sink_->reserve(line_.size());
    if (room.empty()) return WriteStatus::no_room;
    std::memcpy(room.data(), line_.data(), line_.size());
    sink_->commit(line_.size());
    last_line_ns_ = time_ns;
    return WriteStatus::ok;
}

WriteStatus LinesWriter::write(const model::Event& event) {
    if (!first_ns_) first_ns_ = event.time_ns;
    line_.clear();
    const WriteStatus status =
        std::visit([&](const auto& body) { return say(event, body); }, event.body);
    counters_.events += status == WriteStatus::ok;
    counters_.no_room += status == WriteStatus::no_room;
    counters_.refused += status == WriteStatus::refused;
    return status;
}

template <typename Body>
WriteStatus LinesWriter::put_point(const model::Event& event,
                                   const Body& body,
                                   void (LineSpelling::*spell)(std::string&,
                                                               const Spot&,
                                                               const What&)) {
    const Thread* const thread = threads_.find(body.thread);
    const model::Point* const point = points_.find(body.point);
    if (point == nullptr) return WriteStatus::refused;
    const std::string values = spelling_->values(point->arguments, body.values);
    const std::string_view name = body.name.empty() ? std::string_view(point->name) : body.name;
    ((*spelling_).*spell)(line_, spot(event, thread), {*point, name, values});
    return put(event.time_ns);
}

WriteStatus LinesWriter::say(const model::Event& event, const model::Instant& instant) {
    return put_point(event, instant, &LineSpelling::instant);
}

WriteStatus LinesWriter::say(const model::Event& event, const model::Counter& counter) {
    return put_point(event, counter, &LineSpelling::counter);
}

LinesWriter::OpenSpan LinesWriter::open_span(uint64_t time_ns,
                                             const model::Point& point,
                                             std::string_view name,
                                             std::span<const model::Value> values) {
    OpenSpan span{.point = point.index, .begin_ns = time_ns};
    span.name = name.empty() ? point.name : std::string(name);
    span.values = spelling_->values(point.arguments, values);
    return span;
}

void LinesWriter::hold(OpenSpan& span) {
    if (held_bytes_ + span.values.size() > kHeldBytesMax) {
        span.values.clear();
        span.lacks_values = true;
    }
    held_bytes_ += span.values.size();
}

WriteStatus LinesWriter::put_begin(const model::Event& event,
                                   const Thread& thread,
                                   const OpenSpan& span,
                                   uint64_t async_id) {
    if (!begins_) return WriteStatus::ok;
    const What what{*points_.find(span.point), span.name, span.values};
    spelling_->begin(line_, spot(event, &thread), what, async_id);
    return put(event.time_ns);
}

WriteStatus LinesWriter::put_end(const model::Event& event,
                                 const Spot& spot,
                                 const OpenSpan& span,
                                 SpanLine line,
                                 std::span<const model::Value> values) {
    const model::Point& point = *points_.find(span.point);
    const std::string end_values = spelling_->values(point.end_arguments, values);
    line.begin_ns = span.begin_ns;
    line.end_values = end_values;
    line.lacks_values = span.lacks_values;
    spelling_->end(line_, spot, {point, span.name, span.values}, line);
    return put(event.time_ns);
}

WriteStatus LinesWriter::say(const model::Event& event, const model::SpanBegin& begin) {
    Thread* const thread = threads_.find(begin.thread);
    const model::Point* const point = points_.find(begin.point);
    if (thread == nullptr || point == nullptr) return WriteStatus::refused;
    OpenSpan span = open_span(event.time_ns, *point, begin.name, begin.values);
    const WriteStatus status = put_begin(event, *thread, span, 0);
    if (status != WriteStatus::ok) return status;  // and so its end does not come
    hold(span);
    thread->spans.push_back(std::move(span));
    return status;
}

WriteStatus LinesWriter::say(const model::Event& event, const model::SpanEnd& end) {
    Thread* const thread = threads_.find(end.thread);
    if (thread == nullptr || thread->spans.empty()) return WriteStatus::refused;
    const OpenSpan& span = thread->spans.back();
    Spot where = spot(event, thread);
    where.depth -= 1;
    const WriteStatus status = put_end(event, where, span, {.cause = end.cause}, end.values);
    // Where there is no room the end comes again, later.
    if (status == WriteStatus::no_room) return status;
    let_go(span);
    thread->spans.pop_back();
    return status;
}

WriteStatus LinesWriter::say(const model::Event& event, const model::AsyncBegin& begin) {
    Thread* const thread = threads_.find(begin.thread);
    const model::Point* const point = points_.find(begin.point);
    if (thread == nullptr || point == nullptr) return WriteStatus::refused;
    OpenSpan span = open_span(event.time_ns, *point, begin.name, begin.values);
    const WriteStatus status = put_begin(event, *thread, span, begin.id);
    if (status != WriteStatus::ok) return status;
    hold(span);
    const auto known = async_.find(begin.id);
    if (known != async_.end()) let_go(known->second);
    async_.insert_or_assign(begin.id, std::move(span));
    return status;
}

WriteStatus LinesWriter::say(const model::Event& event, const model::AsyncEnd& end) {
    const Thread* const thread = threads_.find(end.thread);
    const auto begun = async_.find(end.id);
    if (begun == async_.end()) return WriteStatus::refused;
    const WriteStatus status = put_end(event, spot(event, thread), begun->second,
                                       {.async_id = end.id, .cause = end.cause}, end.values);
    if (status == WriteStatus::no_room) return status;
    let_go(begun->second);
    async_.erase(begun);
    return status;
}

WriteStatus LinesWriter::say(const model::Event& event, const model::Switch& change) {
    spelling_->change(line_, spot(event, threads_.find(change.in)), change, who_is(change.out));
    return put(event.time_ns);
}

WriteStatus LinesWriter::say(const model::Event& event, const model::Wakeup& wakeup) {
    spelling_->wakeup(line_, spot(event, threads_.find(wakeup.woken)), wakeup,
                      who_is(wakeup.waker));
    return put(event.time_ns);
}

WriteStatus LinesWriter::say(const model::Event& event, const model::Life& life) {
    const bool has_child = life.kind == model::LifeKind::fork;
    spelling_->life(line_, spot(event, threads_.find(life.thread)), life,
                    has_child ? who_is(life.child) : std::string_view());
    return put(event.time_ns);
}

WriteStatus LinesWriter::say(const model::Event& event, const model::Loss& loss) {
    spelling_->loss(line_, spot(event, nullptr), loss);
    const WriteStatus status = put(event.time_ns);
    std::erase_if(untold_, [&](const model::Event& untold) {
        const auto& known = std::get<model::Loss>(untold.body);
        return known.cause == loss.cause && known.cpu == loss.cpu;
    });
    if (status == WriteStatus::no_room) untold_.push_back(event);
    return status;
}

// A reader of lines reads no summary: what is missing at the end is told as the last line, if
// there is room by now; who has patience may close again, over another sink.
Status LinesWriter::close() {
    while (!untold_.empty()) {
        line_.clear();
        const model::Event& loss = untold_.back();
        spelling_->loss(line_, spot(loss, nullptr), std::get<model::Loss>(loss.body));
        if (put(loss.time_ns) == WriteStatus::no_room) break;
        untold_.pop_back();
    }
    return {};
}

// No line: what follows says the time by it.
WriteStatus LinesWriter::say(const model::Event& event, const model::ClockReading& reading) {
    realtime_ahead_ns_ = reading.realtime_ns - event.time_ns;
    return WriteStatus::ok;
}

}  // namespace

std::unique_ptr<TraceWriter> make_lines_writer(ByteSink& sink, const LineOptions& options) {
    return std::make_unique<LinesWriter>(sink, options);
}

std::unique_ptr<TraceWriter> make_text_writer(ByteSink& sink) {
    return make_lines_writer(sink, {});
}

std::unique_ptr<TraceWriter> make_ndjson_writer(ByteSink& sink) {
    return make_lines_writer(sink, {.is_json = true});
}

}  // namespace tracer::lines
