// SPDX-License-Identifier: Apache-2.0
//
// The history as a row of segments. A segment that is full, or that a view wants, is closed and
// never changed again, so that views share it without a lock; the next begins with all that its
// reader must know. Forgetting is dropping the oldest.
#include "tracer/write/event_history.h"

#include "write/history/segment.h"
#include "write/history/spill.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tracer {
namespace {

using history::Segment;

// More segments forget in smaller steps, and repeat more often what is open and known.
constexpr uint64_t kSegments = 32;
constexpr size_t kSegmentBytesMin = 64 << 10;
constexpr size_t kSegmentBytesMax = 8 << 20;

// A point index beyond any plan.
constexpr uint32_t kPointIndexMax = 1u << 24;

}  // namespace

EventHistory::EventHistory(const HistoryLimits& limits)
    : bytes_max_(std::max(limits.bytes_max, kHistoryBytesMin)),
      age_ns_max_(limits.age_ns_max),
      segment_bytes_(static_cast<size_t>(
          std::clamp<uint64_t>(bytes_max_ / kSegments, kSegmentBytesMin, kSegmentBytesMax))),
      state_(std::make_unique<history::State>()) {
    begin_segment(0, 0);
}

EventHistory::~EventHistory() = default;

void EventHistory::define(const model::Thread& thread) {
    auto shared = std::make_shared<const model::Thread>(thread);
    Segment& segment = *segments_.back();
    segment.definitions.push_back({segment.size, shared});
    segment.definition_bytes += sizeof(Segment::Definition) + sizeof(model::Thread) +
                                thread.thread_name.size() + thread.process_name.size();
    state_->define(std::move(shared));
}

void EventHistory::define(const model::Point& point) {
    const auto index = static_cast<uint32_t>(point.index);
    if (index >= kPointIndexMax) {
        counters_.refused += 1;
        return;
    }
    if (index >= points_.size()) points_.resize(index + size_t{1});
    points_[index] = std::make_shared<const model::Point>(point);
}

WriteStatus EventHistory::write(const model::Event& event) {
    const size_t size = history::encoded_size(event);
    const uint64_t age_ns = event.time_ns - std::min(event.time_ns, segments_.back()->begin_ns);
    const bool is_old =
        age_ns_max_ != 0 && segments_.back()->events != 0 && age_ns > age_ns_max_ / kSegments;
    if (is_old || segments_.back()->filled() + size > segments_.back()->capacity) {
        begin_segment(size, event.time_ns);
    }
    Segment& segment = *segments_.back();
    const std::span room(segment.storage.memory() + segment.size, size);
    history::encode(event, room);
    segment.size += size;
    if (segment.events == 0) segment.begin_ns = event.time_ns;
    segment.end_ns = std::max(segment.end_ns, event.time_ns);
    segment.events += 1;
    state_->apply(event, room);
    counters_.events += 1;
    return WriteStatus::ok;
}

void EventHistory::begin_segment(size_t bytes_needed, uint64_t time_ns) {
    auto segment = std::make_shared<Segment>();
    segment->capacity = std::max(segment_bytes_, bytes_needed);
    segment->storage.begin(segment->capacity);
    state_->rest(segment->base);
    // What the one before has not filled was never touched.
    if (!segments_.empty()) {
        closed_bytes_ += segments_.back()->used();
        spill(segments_.back());
    }
    segments_.push_back(std::move(segment));
    forget_old(time_ns);
}

// To the disk, if that is where history is kept.
void EventHistory::spill(const std::shared_ptr<Segment>& segment) {
    // One event alone may be larger than a place.
    if (spill_ == nullptr || segment->size == 0 || segment->size > segment_bytes_) return;
    const auto given_up = spill_->add(segment);
    if (given_up == nullptr) return;
    // There is no history with a hole.
    const auto last = std::ranges::find(segments_, given_up);
    if (last == segments_.end()) return;
    for (auto old = segments_.begin(); old <= last; ++old) closed_bytes_ -= (*old)->used();
    segments_.erase(segments_.begin(), last + 1);
}

Status EventHistory::keep_in(const std::string& folder) {
    TR_ASSIGN(auto file, history::SegmentFile::make(folder, segment_bytes_));
    TR_ASSIGN(spill_, history::Spill::start(std::move(file)));
    return {};
}

HistoryDisk EventHistory::disk() const {
    if (spill_ == nullptr) return {};
    return spill_->state();
}

void EventHistory::forget_old(uint64_t now_ns) {
    while (segments_.size() > 1) {
        const bool is_old = age_ns_max_ != 0 && now_ns > age_ns_max_ &&
                            segments_.front()->end_ns < now_ns - age_ns_max_;
        // The last will be full.
        const Segment& last = *segments_.back();
        const uint64_t bytes = closed_bytes_ + last.capacity + last.base_bytes();
        if (!is_old && bytes <= bytes_max_) return;
        closed_bytes_ -= segments_.front()->used();
        segments_.pop_front();
    }
}

HistoryView EventHistory::view() {
    HistoryView view;
    view.segments_.assign(segments_.begin(), segments_.end());
    view.points_ = points_;
    // What the view has seen stays as it is: the one that is written from now on is not in it.
    if (segments_.back()->events == 0 && segments_.back()->definitions.empty()) {
        view.segments_.pop_back();
    } else {
        begin_segment(0, segments_.back()->end_ns);
    }
    return view;
}

HistoryExtent EventHistory::extent() const {
    HistoryExtent extent = history::extent_of(segments_);
    extent.bytes = closed_bytes_ + segments_.back()->used();
    return extent;
}

void EventHistory::write_state(TraceWriter& writer) const {
    const auto write = [&writer](history::EventBytes bytes) {
        history::DecodedEvent decoded(bytes);
        static_cast<void>(writer.write(decoded.event()));  // counted by the writer
    };
    if (const auto clocks = state_->clocks()) write(*clocks);
    for (const history::EventBytes begin : state_->open_spans()) write(begin);
}

std::optional<EventHistory::OpenSpan> EventHistory::ended_by(const model::Event& end) const {
    const auto bytes = state_->begin_of(end);
    if (!bytes) return std::nullopt;
    history::DecodedEvent decoded(*bytes);
    const model::Event& begin = decoded.event();
    if (const auto* span = std::get_if<model::SpanBegin>(&begin.body)) {
        return OpenSpan{begin.time_ns, span->point, span->name};
    }
    const auto& span = std::get<model::AsyncBegin>(begin.body);
    return OpenSpan{begin.time_ns, span.point, span.name};
}

}  // namespace tracer
