// SPDX-License-Identifier: Apache-2.0
//
// Events that programs write to rings of their own. A thread's (our library) are on its own track,
// among what the kernel tells of it; a domain of OCaml 5 is no thread, and each life of its ring is
// a track of the process. Spans are paired by their order, as pairs of probes are. What is lost of
// one ring breaks its own spans alone.
//
// Called by the dispatch in record_decoder.cpp.
#include "decode/record_decoder.h"

#include <algorithm>
#include <array>

namespace tracer {
namespace {

// Names that one recording may have: those of runtimes, and 8192 of each program's own.
constexpr size_t kRingPointsMax = size_t{1} << 16;

template <size_t N>
std::string_view text_of(const char (&text)[N]) {
    return {text, static_cast<size_t>(std::find(text, text + N, '\0') - text)};
}

// Readers take '.' and '[' for paths.
bool is_argument_name(std::string_view name) {
    return !name.empty() && name.find_first_of(".[") == std::string_view::npos;
}

uint64_t track_key(uint32_t producer, uint32_t ring) {
    return uint64_t{producer} << 32 | ring;
}

}  // namespace

void RecordDecoder::on_ring_point(const tr_record_header&, Bytes bytes) {
    const auto record = read_as<tr_ring_point>(bytes);
    const bool is_span = record.kind == TR_RING_POINT_span;
    if (record.point != ring_points_.size() || record.point >= kRingPointsMax ||
        record.kind > TR_RING_POINT_counter || record.value > TR_RING_VALUE_text ||
        (is_span && record.value != TR_RING_VALUE_none) ||
        (record.value != TR_RING_VALUE_none && !is_argument_name(text_of(record.value_name)))) {
        ++counters_.malformed;
        return;
    }
    model::Point point{.kind = is_span                                ? model::PointKind::span
                               : record.kind == TR_RING_POINT_counter ? model::PointKind::counter
                                                                      : model::PointKind::instant,
                       .category = std::string(text_of(record.category)),
                       .name = std::string(text_of(record.name))};
    if (record.value != TR_RING_VALUE_none) {
        point.arguments = {{std::string(text_of(record.value_name)),
                            record.value == TR_RING_VALUE_text ? model::ValueType::string
                                                               : model::ValueType::s64}};
    }
    const model::PointKind kind = point.kind;
    ring_points_.push_back({add_point(std::move(point)), kind, record.value});
}

void RecordDecoder::on_ring_track(const tr_record_header& header, Bytes bytes) {
    const auto record = read_as<tr_ring_track>(bytes);
    if (header.tgid == 0) {
        ++counters_.malformed;
        return;
    }
    const uint64_t key = track_key(record.producer, record.ring);
    if (const auto before = ring_tracks_.find(key); before != ring_tracks_.end()) {
        spans_.close_ring(task_of(before->second), header.time_ns,
                          model::SpanEndCause::thread_exit);
        ring_tracks_.erase(before);
    }
    Process& process = *tasks_.find_or_add(header.tgid, header.tgid).process;
    process.has_ring = true;
    RingTrack track{.own = nullptr, .tgid = header.tgid, .tid = header.tid};
    if (!is_thread_of(header.tgid, header.tid)) {
        track.own = tasks_.ring_track(process, text_of(record.name));
        if (!track.own) return;
    }
    ring_tracks_.emplace(key, std::move(track));
}

// Or may be one: what the kernel says of another process's is not given up for it.
bool RecordDecoder::is_thread_of(uint32_t tgid, uint32_t tid) {
    if (tid == 0) return false;
    const Task* const known = tasks_.find(tid);
    return known == nullptr || known->process->pid == tgid || known->has_exited;
}

Task& RecordDecoder::task_of(const RingTrack& track) {
    return track.own ? *track.own : tasks_.find_or_add(track.tgid, track.tid);
}

// Null: it had no room, or its process is not recorded.
Task* RecordDecoder::ring_track_of(uint32_t producer, uint32_t ring) {
    const auto found = ring_tracks_.find(track_key(producer, ring));
    if (found == ring_tracks_.end()) {
        ++counters_.lines_beyond_limit;
        return nullptr;
    }
    Task& task = task_of(found->second);
    const bool is_wanted = found->second.own ? task.process->is_wanted : task.is_wanted;
    return is_wanted ? &task : nullptr;
}

void RecordDecoder::on_ring_event(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_ring].hits;
    const auto record = read_as<tr_ring_event>(bytes);
    if (record.point >= ring_points_.size() ||
        record.text_bytes > bytes.size() - sizeof(tr_ring_event)) {
        ++counters_.malformed;
        return;
    }
    const RingPoint& point = ring_points_[record.point];
    const bool is_span = point.kind == model::PointKind::span;
    if (record.role > TR_RING_ROLE_end || is_span != (record.role != TR_RING_ROLE_instant)) {
        ++counters_.malformed;
        return;
    }
    Task* const track = ring_track_of(record.producer, record.ring);
    if (track == nullptr) return;
    const When when{header.time_ns, model::kNoCpu};
    if (record.role == TR_RING_ROLE_begin) {
        spans_.begin_ring(*track, point.point, when);
    } else if (record.role == TR_RING_ROLE_end) {
        spans_.end_pair(*track, point.point, when, {});
    } else {
        const Bytes text = bytes.subspan(sizeof(tr_ring_event), record.text_bytes);
        write_ring_instant(point, *track, record, text_in_place(text));
    }
}

void RecordDecoder::write_ring_instant(const RingPoint& point,
                                       Task& track,
                                       const tr_ring_event& record,
                                       std::string_view text) {
    model::Value value{};
    if (point.value == TR_RING_VALUE_text) {
        value = {.type = model::ValueType::string, .text = text};
    } else if ((record.header.flags & TR_RING_EVENT_VALUE) != 0) {
        value = {.type = model::ValueType::s64, .bits = static_cast<uint64_t>(record.value)};
    }
    const std::span<const model::Value> values(&value, point.value == TR_RING_VALUE_none ? 0 : 1);
    const model::ThreadIndex thread = tasks_.named(track);
    if (point.kind != model::PointKind::counter) {
        output_.write({record.header.time_ns, model::Instant{point.point, thread, values}});
    } else if (value.type == model::ValueType::s64) {
        output_.write({record.header.time_ns, model::Counter{point.point, thread, values}});
    } else {
        ++counters_.malformed;
    }
}

void RecordDecoder::on_ring_lost(const tr_record_header& header, Bytes bytes) {
    const auto record = read_as<tr_ring_lost>(bytes);
    Task* const track = ring_track_of(record.producer, record.ring);
    if (track == nullptr) return;
    if (!ring_loss_point_) {
        ring_loss_point_ = add_point({.category = "tracer",
                                      .name = "events lost",
                                      .arguments = {{"events", model::ValueType::u64},
                                                    {"words", model::ValueType::u64},
                                                    {"exact", model::ValueType::boolean},
                                                    {"until_ns", model::ValueType::u64}}});
    }
    ledger_.note_loss();
    spans_.close_ring(*track, header.time_ns, model::SpanEndCause::lost_events);
    const bool is_exact = (header.flags & TR_RING_LOST_EXACT) != 0;
    const std::array<model::Value, 4> values{
        {{.type = model::ValueType::u64, .bits = record.events},
         {.type = model::ValueType::u64, .bits = record.words},
         {.type = model::ValueType::boolean, .bits = is_exact ? 1u : 0u},
         {.type = model::ValueType::u64, .bits = record.end_ns}}};
    const model::ThreadIndex thread = tasks_.named(*track);
    output_.write({header.time_ns, model::Instant{*ring_loss_point_, thread, values}});
}

// The program that wrote them is gone.
void RecordDecoder::close_rings(Process& process, uint64_t time_ns) {
    process.has_ring = false;
    std::erase_if(ring_tracks_, [&](const auto& entry) {
        if (entry.second.tgid != process.pid) return false;
        spans_.close_ring(task_of(entry.second), time_ns, model::SpanEndCause::thread_exit);
        return true;
    });
}

}  // namespace tracer
