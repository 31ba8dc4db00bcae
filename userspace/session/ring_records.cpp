// SPDX-License-Identifier: Apache-2.0
//
// From the events of a program's rings to records, which go the way of the kernel's: to the decoder
// or into a capture. Our library's rings say which thread writes them; OCaml's do not, so each life
// of one is a track of its own. Used by the drain thread (ring_reader.h) and by the conversion of a
// file.
#include "session/ring_records.h"

#include "session/targets.h"
#include "tracer/abi/event.h"
#include "tracer/abi/ring_layout.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace tracer {
namespace {

using ring::EventKind;

// As the decoder's.
constexpr size_t kPointsMax = size_t{1} << 16;
// Left for kMoreNames: one for each Shape, of which there are some twenty.
constexpr size_t kPointsWithoutName = 64;

// Of times that the processor's counter tells.
constexpr uint64_t kClockErrorNs = 1000;

bool is_spawn(const RingItem& item) {
    return !item.is_loss && item.kind == EventKind::lifecycle && item.id == TR_RING_DOMAIN_SPAWN;
}

bool is_waiting_phase(std::string_view name) {
    return name == "stw_api_barrier" || name == "minor_leave_barrier" ||
           name == "domain_condition_wait";
}

// What the number of a counter of the runtime is.
std::string_view unit_of_counter(std::string_view name) {
    if (name == "minor_promoted" || name == "minor_allocated") return "bytes";
    if (name.ends_with("_words")) return "words";
    if (name.ends_with("_blocks")) return "blocks";
    return "value";
}

// What a point of the event is, but for its name.
struct Shape {
    uint16_t kind = TR_RING_POINT_instant;
    uint16_t value = TR_RING_VALUE_none;
    std::string_view category = "gc";
    std::string_view value_name = {};
};

Shape shape_of(const ring::Event& event, std::string_view name) {
    Shape shape;
    if (event.is_user) shape.category = "user";
    switch (event.kind) {
        case EventKind::begin:
        case EventKind::end:
            if (is_waiting_phase(name)) shape.category = "gc.wait";
            [[fallthrough]];
        case EventKind::user_begin:
        case EventKind::user_end:
            shape.kind = TR_RING_POINT_span;
            break;
        case EventKind::counter:
            shape.kind = TR_RING_POINT_counter;
            shape.value = TR_RING_VALUE_s64;
            shape.value_name = unit_of_counter(name);
            break;
        case EventKind::user_int:
            shape.kind = TR_RING_POINT_counter;
            shape.value = TR_RING_VALUE_s64;
            shape.value_name = "value";
            break;
        case EventKind::lifecycle:
            shape.category = "runtime";
            shape.value = TR_RING_VALUE_s64;
            shape.value_name = "value";
            break;
        case EventKind::alloc:
            shape.value = TR_RING_VALUE_text;
            shape.value_name = "blocks_by_words";
            break;
        case EventKind::user_custom:
            shape.value = TR_RING_VALUE_text;
            shape.value_name = "bytes";
            break;
        case EventKind::user_unit:
        case EventKind::unknown:
            break;
    }
    return shape;
}

// The rest is NUL, the last byte in any case.
template <size_t N>
void put_text(char (&out)[N], std::string_view text) {
    std::memcpy(out, text.data(), std::min(text.size(), N - 1));
}

tr_record_header header_of(uint16_t kind, uint64_t time_ns, uint32_t pid) {
    return {.kind = kind, .time_ns = time_ns, .tgid = pid};
}

}  // namespace

uint32_t RingPoints::find_or_add(const ring::Event& event,
                                 std::string_view name,
                                 uint64_t time_ns,
                                 RecordBatch& definitions) {
    const Shape shape = shape_of(event, name);
    Key key{shape.kind, shape.value, shape.category, std::string(name)};
    if (const auto known = points_.find(key); known != points_.end()) return known->second;
    if (points_.size() >= kPointsMax - kPointsWithoutName) {
        name = kMoreNames;
        std::get<std::string>(key) = name;
        if (const auto known = points_.find(key); known != points_.end()) return known->second;
    }
    const auto number = static_cast<uint32_t>(points_.size());
    points_.emplace(key, number);
    tr_ring_point record{.header = header_of(TR_KIND_ring_point, time_ns, 0),
                         .point = number,
                         .kind = shape.kind,
                         .value = shape.value};
    put_text(record.category, shape.category);
    put_text(record.value_name, shape.value_name);
    put_text(record.name, name);
    definitions.add(record);
    return number;
}

bool is_unwanted(const ring::Lost& lost, uint64_t ahead_ns, std::span<const ClosedTime> closed) {
    return std::ranges::any_of(closed, [&](const ClosedTime& one) {
        // One without a next event lasts until now.
        const bool ends_within =
            lost.end_ns == 0 ? one.end_ns == UINT64_MAX : one.has(lost.end_ns + ahead_ns);
        return ends_within && one.has(lost.begin_ns + ahead_ns);
    });
}

void RingRecords::add(const RingRecording& recording, uint64_t ahead_ns, RingOutput out) {
    for (const RingItem& item : recording.items) {
        const uint64_t time_ns = item.time_ns + ahead_ns;
        if (item.ring >= rings_.size()) rings_.resize(item.ring + size_t{1});
        Ring& ring = rings_[item.ring];
        // Who comes next in a ring is somebody else.
        if (is_spawn(item)) {
            ring.is_named = false;
        } else if (!item.is_loss && ring.is_after_loss) {
            ring.is_named &= writer_of(item) == ring.tid;
        }
        ring.is_after_loss = item.is_loss;
        if (!ring.is_named) add_track(item, time_ns, out.events);
        if (item.is_loss) {
            const ring::Lost& lost = recording.losses[item.payload_index];
            if (is_unwanted(lost, ahead_ns, out.closed)) continue;
            add_loss(item, lost, ahead_ns, out.events);
        } else if (std::ranges::none_of(
                       out.closed, [&](const ClosedTime& closed) { return closed.has(time_ns); })) {
            add_event(item, recording, ahead_ns, out);
        }
    }
}

void RingRecords::add_track(const RingItem& item, uint64_t time_ns, RecordBatch& batch) {
    Ring& it = rings_[item.ring];
    it.is_named = true;
    it.lives += 1;
    const bool is_ours = cursor_.producer().has_sequences;
    it.tid = writer_of(item);
    std::string name = fmt::format("{} {}", is_ours ? "ring" : "domain", item.ring);
    if (it.tid != 0) {
        name = fmt::format("events of thread {}", it.tid);
    } else if (it.lives > 1) {
        name += fmt::format(" (life {})", it.lives);
    }
    tr_ring_track record{.header = header_of(TR_KIND_ring_track, time_ns, pid_),
                         .producer = producer_,
                         .ring = item.ring};
    record.header.tid = thread_of(it.tid);
    put_text(record.name, name);
    batch.add(record);
}

uint32_t RingRecords::writer_of(const RingItem& item) const {
    if (!cursor_.producer().has_sequences) return 0;
    if (is_spawn(item) && item.has_value) return static_cast<uint32_t>(item.value);
    const ring::RingOwner owner = cursor_.owner_of(item.ring);
    return item.time_ns + kClockErrorNs >= owner.since_ns ? owner.tid : 0;
}

uint32_t RingRecords::thread_of(uint32_t tid) const {
    const uint32_t own_pid = cursor_.producer().pid;
    if (tid == 0 || own_pid == pid_) return tid;
    return find_thread_of(pid_, tid);
}

void RingRecords::add_event(const RingItem& item,
                            const RingRecording& recording,
                            uint64_t ahead_ns,
                            RingOutput out) {
    const uint64_t time_ns = item.time_ns + ahead_ns;
    const uint32_t point = point_of(item, time_ns, out);
    ++events_;
    tr_ring_event record{.header = header_of(TR_KIND_ring_event, time_ns, pid_),
                         .producer = producer_,
                         .ring = item.ring,
                         .point = point,
                         .value = item.value};
    record.header.probe_id = TR_PROBE_ring;
    if (item.has_value) record.header.flags = TR_RING_EVENT_VALUE;
    if (item.kind == EventKind::begin || item.kind == EventKind::user_begin) {
        record.role = TR_RING_ROLE_begin;
    } else if (item.kind == EventKind::end || item.kind == EventKind::user_end) {
        record.role = TR_RING_ROLE_end;
    }
    std::string_view text;
    if (item.kind == EventKind::alloc || item.kind == EventKind::user_custom) {
        text = recording.texts[item.payload_index];
    }
    record.text_bytes = static_cast<uint16_t>(text.size());
    out.events.add(record, std::as_bytes(std::span(text)));
}

// A name with '#' is a number for want of a better one, which may become known.
uint32_t RingRecords::point_of(const RingItem& item, uint64_t time_ns, RingOutput& out) {
    const uint64_t key = uint64_t{item.id} << 8 | static_cast<uint64_t>(item.kind);
    if (const auto known = known_points_.find(key); known != known_points_.end()) {
        return known->second;
    }
    const ring::Event event{.kind = item.kind, .id = item.id, .is_user = item.is_user};
    const std::string name(cursor_.name_of(event));
    const uint32_t point = out.points.find_or_add(event, name, time_ns, out.definitions);
    if (name.find('#') == std::string::npos) known_points_.emplace(key, point);
    return point;
}

void RingRecords::restart() {
    known_points_.clear();
    for (Ring& ring : rings_) ring.is_named = false;
}

void RingRecords::add_loss(const RingItem& item,
                           const ring::Lost& lost,
                           uint64_t ahead_ns,
                           RecordBatch& batch) {
    tr_ring_lost record{
        .header = header_of(TR_KIND_ring_lost, item.time_ns + ahead_ns, pid_),
        .producer = producer_,
        .ring = item.ring,
        .events = lost.events,
        .words = lost.words,
        .end_ns = lost.end_ns != 0 ? lost.end_ns + ahead_ns : 0,
    };
    record.header.flags = static_cast<uint16_t>((lost.is_exact ? TR_RING_LOST_EXACT : 0) |
                                                (lost.is_malformed ? TR_RING_LOST_MALFORMED : 0));
    batch.add(record);
}

}  // namespace tracer
