// SPDX-License-Identifier: Apache-2.0
//
// Model events to counts and durations. Each grouping has its own rows, found by a key of the
// point and whose or what the event is. Runs on the drain thread; top_output.cpp asks for an
// interval between two turns.
#include "session/top/top_table.h"

#include "write/human_text.h"
#include "write/text.h"
#include "write/value_text.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace tracer {
namespace {

// A label in a row; longer ones are one row if they begin the same.
constexpr size_t kLabelBytesMax = model::kEventNameBytesMax;
// None of a decoder's.
constexpr model::PointIndex kOnCpu{0xffffffff};

std::string shown(std::string_view text) {
    std::string clean;
    append_as_utf8(clean, text);
    return printable(clean);
}

std::string process_text(const model::Thread& thread) {
    return fmt::format("{}({})", shown(thread.process_name), thread.pid);
}

std::string thread_text(const model::Thread& thread) {
    if (thread.is_track) return process_text(thread) + "/" + shown(thread.thread_name);
    return fmt::format("{}/{}({})", process_text(thread), shown(thread.thread_name), thread.tid);
}

template <typename Number>
void append_bytes(std::string& key, Number number) {
    std::array<char, sizeof(Number)> bytes{};
    std::memcpy(bytes.data(), &number, sizeof(Number));
    key.append(bytes.data(), bytes.size());
}

// As a person reads them; texts are no series.
std::string values_text(const model::Point& point, const model::Counter& counter) {
    std::string text;
    for (size_t i = 0; i < std::min(point.arguments.size(), counter.values.size()); ++i) {
        if (counter.values[i].type == model::ValueType::string) continue;
        if (!text.empty()) text += ' ';
        text += shown(point.arguments[i].name) + "=";
        append_number(text, counter.values[i]);
    }
    return text;
}

TopDurations durations_of(const DurationHistogram& histogram, uint64_t sum_ns) {
    if (histogram.count() == 0) return {};
    return {.count = histogram.count(),
            .sum_ns = sum_ns,
            .p50_ns = histogram.percentile_ns(500),
            .p90_ns = histogram.percentile_ns(900),
            .p99_ns = histogram.percentile_ns(990),
            .max_ns = histogram.max_ns(),
            .by_power_of_two = histogram.by_power_of_two()};
}

}  // namespace

TopTable::TopTable(const TopTableOptions& options)
    : options_(options),
      on_cpu_{
          .index = kOnCpu, .kind = model::PointKind::span, .category = "sched", .name = "on CPU"} {}

void TopTable::define(const model::Thread& thread) {
    Thread* const entry = threads_.put(thread.index);
    counters_.refused += entry == nullptr;
    if (entry != nullptr) entry->definition = thread;
}

void TopTable::define(const model::Point& point) {
    model::Point* const entry = points_.put(point.index);
    counters_.refused += entry == nullptr;
    if (entry != nullptr) *entry = point;
}

WriteStatus TopTable::write(const model::Event& event) {
    const WriteStatus status =
        std::visit([&](const auto& body) { return take(event.time_ns, body); }, event.body);
    counters_.events += status == WriteStatus::ok;
    counters_.refused += status == WriteStatus::refused;
    return status;
}

// Null: it is one of the others.
TopTable::Row* TopTable::find_row(TopGrouping grouping, const Happening& happening) {
    const model::Thread* const thread =
        happening.thread != nullptr ? &happening.thread->definition : nullptr;
    key_.clear();
    append_bytes(key_, static_cast<uint32_t>(happening.point.index));
    switch (grouping) {
        case TopGrouping::probe:
            break;
        case TopGrouping::thread:
            if (thread != nullptr) append_bytes(key_, static_cast<uint32_t>(thread->index));
            break;
        case TopGrouping::process:
            if (thread == nullptr) break;
            append_bytes(key_, thread->pid);
            append_bytes(key_, thread->process_life);
            break;
        case TopGrouping::label:
            key_ += happening.label.substr(0, kLabelBytesMax);
            break;
    }
    auto& rows = rows_[static_cast<size_t>(grouping)].by_key;
    const auto known = rows.find(key_);
    if (known != rows.end()) return &known->second;
    if (rows.size() >= options_.rows_max) return nullptr;
    TopRow shown_row{.kind = happening.kind,
                     .category = shown(happening.point.category),
                     .name = shown(happening.point.name)};
    if (grouping == TopGrouping::thread && thread != nullptr) {
        shown_row.group = thread_text(*thread);
    } else if (grouping == TopGrouping::process && thread != nullptr) {
        shown_row.group = process_text(*thread);
    } else if (grouping == TopGrouping::label) {
        shown_row.group = shown(happening.label.substr(0, kLabelBytesMax));
    }
    Row& row = rows[key_];
    row.shown = std::move(shown_row);
    return &row;
}

void TopTable::count(const Happening& happening) {
    events_ += 1;
    for (size_t i = 0; i < kTopGroupings; ++i) {
        if (!options_.groupings[i]) continue;
        Row* const row = find_row(static_cast<TopGrouping>(i), happening);
        if (row == nullptr) {
            rows_[i].others += 1;
            continue;
        }
        row->shown.count += 1;
        row->shown.cut += happening.is_cut;
        if (happening.duration_ns != nullptr) {
            row->interval.add(*happening.duration_ns);
            row->all.add(*happening.duration_ns);
            row->interval_sum_ns += *happening.duration_ns;
            row->all_sum_ns += *happening.duration_ns;
        }
        if (happening.counter != nullptr) {
            row->shown.last = values_text(happening.point, *happening.counter);
        }
    }
}

WriteStatus TopTable::take(uint64_t /*time_ns*/, const model::Instant& instant) {
    const model::Point* const point = points_.find(instant.point);
    if (point == nullptr) return WriteStatus::refused;
    count({.kind = TopKind::event,
           .point = *point,
           .thread = threads_.find(instant.thread),
           .label = instant.name.empty() ? std::string_view(point->name) : instant.name});
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t /*time_ns*/, const model::Counter& counter) {
    const model::Point* const point = points_.find(counter.point);
    if (point == nullptr) return WriteStatus::refused;
    count({.kind = TopKind::counter,
           .point = *point,
           .thread = threads_.find(counter.thread),
           .label = counter.name.empty() ? std::string_view(point->name) : counter.name,
           .counter = &counter});
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t time_ns, const model::SpanBegin& begin) {
    Thread* const thread = threads_.find(begin.thread);
    if (thread == nullptr || points_.find(begin.point) == nullptr) return WriteStatus::refused;
    thread->spans.push_back({begin.point, time_ns, std::string(begin.name)});
    return WriteStatus::ok;
}

void TopTable::end_span(uint64_t time_ns,
                        const Open& span,
                        model::SpanEndCause cause,
                        const Thread* thread) {
    // Still open: it has not happened yet.
    if (cause == model::SpanEndCause::recording_end) return;
    const bool is_whole =
        cause == model::SpanEndCause::returned || cause == model::SpanEndCause::until;
    const uint64_t duration_ns = time_ns > span.begin_ns ? time_ns - span.begin_ns : 0;
    const model::Point& point = *points_.find(span.point);
    count({.kind = TopKind::span,
           .point = point,
           .thread = thread,
           .label = span.label.empty() ? std::string_view(point.name) : span.label,
           .duration_ns = is_whole ? &duration_ns : nullptr,
           .is_cut = !is_whole});
}

WriteStatus TopTable::take(uint64_t time_ns, const model::SpanEnd& end) {
    Thread* const thread = threads_.find(end.thread);
    if (thread == nullptr || thread->spans.empty()) return WriteStatus::refused;
    end_span(time_ns, thread->spans.back(), end.cause, thread);
    thread->spans.pop_back();
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t time_ns, const model::AsyncBegin& begin) {
    if (points_.find(begin.point) == nullptr) return WriteStatus::refused;
    async_.insert_or_assign(begin.id, Open{begin.point, time_ns, std::string(begin.name)});
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t time_ns, const model::AsyncEnd& end) {
    const auto begun = async_.find(end.id);
    if (begun == async_.end()) return WriteStatus::refused;
    end_span(time_ns, begun->second, end.cause, threads_.find(end.thread));
    async_.erase(begun);
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t time_ns, const model::Switch& change) {
    Running& running = cpus_[change.cpu];
    const Thread* const thread = threads_.find(running.thread);
    if (thread != nullptr && running.since_ns != 0) {
        const uint64_t duration_ns = time_ns > running.since_ns ? time_ns - running.since_ns : 0;
        count({.kind = TopKind::on_cpu,
               .point = on_cpu_,
               .thread = thread,
               .label = on_cpu_.name,
               .duration_ns = &duration_ns});
    }
    running = {change.in, time_ns};
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t /*time_ns*/, const model::Wakeup& /*wakeup*/) {
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t /*time_ns*/, const model::Life& /*life*/) {
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t /*time_ns*/, const model::Loss& loss) {
    lost_ += loss.count;
    return WriteStatus::ok;
}

WriteStatus TopTable::take(uint64_t time_ns, const model::ClockReading& reading) {
    realtime_ahead_ns_ = reading.realtime_ns - time_ns;
    return WriteStatus::ok;
}

TopFrame TopTable::close_interval(uint64_t now_ns) {
    TopFrame frame{.time_ns = now_ns};
    if (realtime_ahead_ns_) frame.realtime_ns = now_ns + *realtime_ahead_ns_;
    const uint64_t ns = now_ns > interval_begin_ns_ ? now_ns - interval_begin_ns_ : 0;
    frame.seconds = static_cast<double>(ns) / 1e9;
    interval_begin_ns_ = now_ns;
    frame.events = std::exchange(events_, 0);
    frame.events_total = events_total_ += frame.events;
    frame.lost = std::exchange(lost_, 0);
    frame.lost_total = lost_total_ += frame.lost;
    for (size_t i = 0; i < kTopGroupings; ++i) {
        frame.by[i] = close_rows(rows_[i]);
        forget_still_rows(rows_[i]);
    }
    return frame;
}

TopRows TopTable::close_rows(Rows& rows) const {
    TopRows closed;
    closed.others = std::exchange(rows.others, 0);
    closed.others_total = rows.others_total += closed.others;
    closed.rows.reserve(rows.by_key.size());
    for (auto& [key, row] : rows.by_key) {
        row.intervals_still = row.shown.count == 0 ? row.intervals_still + 1 : 0;
        row.shown.total += row.shown.count;
        row.shown.cut_total += row.shown.cut;
        // What has not changed is known from the last time.
        if (row.interval.count() != 0) {
            row.shown.all = durations_of(row.all, row.all_sum_ns);
        }
        row.shown.interval = durations_of(row.interval, row.interval_sum_ns);
        closed.rows.push_back(row.shown);
        row.shown.count = row.shown.cut = 0;
        row.interval = {};
        row.interval_sum_ns = 0;
    }
    return closed;
}

// Threads end and labels are many: those that say nothing more give way before the table is full.
void TopTable::forget_still_rows(Rows& rows) const {
    const size_t kept_max = options_.rows_max / 2;
    if (rows.by_key.size() <= options_.rows_max / 4 * 3) return;
    std::vector<std::pair<uint64_t, const std::string*>> still;
    for (const auto& [key, row] : rows.by_key) {
        if (row.intervals_still != 0) still.emplace_back(row.intervals_still, &key);
    }
    std::ranges::sort(still, std::greater{});
    std::vector<std::string> forgotten;
    for (const auto& [intervals, key] : still) {
        if (rows.by_key.size() - forgotten.size() <= kept_max) break;
        forgotten.push_back(*key);
    }
    for (const std::string& key : forgotten) {
        const auto row = rows.by_key.find(key);
        rows.others_total += row->second.shown.total;
        rows.by_key.erase(row);
    }
}

}  // namespace tracer
