// SPDX-License-Identifier: Apache-2.0
//
// The hot path: a probe's hit becomes an instant, a counter value, or one end of a span. Nothing is
// allocated. Most hits are plain: instants with integers only, whose words go from the record to
// the writer as they lie; for the others values are made, in one array that the next hit
// overwrites.
#include "decode/event_name.h"
#include "decode/record_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

namespace tracer {
namespace {

// One field of the header, where it lies.
template <typename T>
T field_of(const RecordView& view, size_t offset) {
    T value{};
    std::memcpy(&value, view.data + offset, sizeof(value));
    return value;
}

// What the recorder says of itself.
bool is_own_word(uint32_t probe_id) {
    return probe_id == TR_PROBE_mark || probe_id == TR_PROBE_paused || probe_id == TR_PROBE_resumed;
}

}  // namespace

void RecordDecoder::on_records(std::span<const RecordView> records) {
    counters_.records += records.size();
    writer_.begin_batch();
    while (!records.empty()) {
        if (records.front().kind == TR_KIND_hit) {
            records = records.subspan(take_plain_hits(records));
            if (records.empty()) break;
        }
        dispatch(records.front().bytes());
        records = records.subspan(1);
    }
    // The records die with this call.
    output_.flush();
    writer_.end_batch();
}

// Takes hits as long as they are plain, and nothing about them asks for a closer look; how many.
size_t RecordDecoder::take_plain_hits(std::span<const RecordView> records) {
    const std::span<Probe> probes(probes_);
    size_t count = 0;
    // Of the hit before, which nearly always was of the same thread.
    Task* task = nullptr;
    uint32_t task_tgid = 0;
    uint32_t task_tid = 0;
    for (const RecordView& view : records) {
        if (view.kind != TR_KIND_hit) break;
        const auto probe_id = field_of<uint32_t>(view, offsetof(tr_record_header, probe_id));
        if (probe_id >= probes.size()) break;
        Probe& probe = probes[probe_id];
        if (!probe.is_plain || view.size < probe.bytes_min) break;
        if (field_of<uint16_t>(view, offsetof(tr_record_header, flags)) != 0) break;
        // First, because what a look-up ends it ends at the time of the record that tells of it.
        note_time(view.time_ns);
        const auto tgid = field_of<uint32_t>(view, offsetof(tr_record_header, tgid));
        const auto tid = field_of<uint32_t>(view, offsetof(tr_record_header, tid));
        if (task == nullptr || tid != task_tid || tgid != task_tgid) {
            if (tid == 0 || tgid == definitions_.own_pid) break;
            task = &tasks_.find_or_add(tgid, tid);
            task_tgid = tgid;
            task_tid = tid;
            // A definition goes straight to the writer, behind the hits so far.
            if (!task->is_defined) output_.flush();
            static_cast<void>(tasks_.named(*task));
        }
        const std::byte* const words = view.data + sizeof(tr_record_header);
        output_.add({.time_ns = view.time_ns,
                     .point = probe.point,
                     .thread = task->index,
                     .types = {probe.types.data(), probe.slot_count},
                     .words = {words, probe.slot_count * sizeof(uint64_t)},
                     .cpu = field_of<uint16_t>(view, offsetof(tr_record_header, cpu))});
        ++probe.hits;
        ++count;
    }
    return count;
}

void RecordDecoder::on_hit(const tr_record_header& header, Bytes bytes) {
    if (header.probe_id >= probes_.size()) {
        ++counters_.unknown_probes;
        return;
    }
    Probe& probe = probes_[header.probe_id];
    ++probe.hits;
    if (!probe.is_defined) {
        ++counters_.unknown_probes;
        return;
    }
    if (bytes.size() < probe.bytes_min || header.tid == 0) {
        ++counters_.malformed;
        return;
    }
    // The recorder is no part of the recording, but for what it says itself (a mark).
    const bool is_own = header.tgid == definitions_.own_pid && header.tgid != 0;
    if (is_own && !is_own_word(header.probe_id)) return;
    if (!read_values(probe, header, bytes)) {
        ++counters_.malformed;
        return;
    }
    if (is_own) on_pause_hit(header.probe_id, header.time_ns);
    Task& task = tasks_.find_or_add(header.tgid, header.tid);
    // What was begun before the ring was there still ends.
    if (is_told_by_ring(probe, task) && !is_pair_ending(probe.role)) return;
    const std::span<const model::Value> values(values_.data() + probe.first_value,
                                               size_t{probe.slot_count} - probe.first_value);
    const std::string_view name = name_of(probe, header.probe_id, values);
    const When when{header.time_ns, header.cpu};
    switch (probe.role) {
        case HitRole::instant: {
            if (probe.is_counter) {
                on_counter_hit(probe, task, when, values, name);
                return;
            }
            const auto thread = tasks_.named(track_of(probe, header.probe_id, task, values));
            output_.write(
                {when.time_ns, model::Instant{probe.point, thread, values, name}, when.cpu});
            return;
        }
        case HitRole::span_begin:
            spans_.begin(track_of(probe, header.probe_id, task, values), probe.point,
                         values_[0].bits, when, values, name, {probe.place, header.probe_id});
            return;
        case HitRole::span_end: {
            Task& track = holder_of(probe, task, [&](const Task& it) {
                return SpanStacks::begin_of(it, probe.point, values_[0].bits);
            });
            spans_.end(track, probe.point, values_[0].bits, when, values);
            return;
        }
        case HitRole::fiber_span_begin:
        case HitRole::fiber_span_end:
            on_fiber_hit(probe, header, *task.process, name);
            return;
        case HitRole::pair_begin:
        case HitRole::pair_end:
        case HitRole::pair_until:
            on_pair_hit(probe, header.probe_id, task, when, values, name);
            return;
        case HitRole::state:
            on_state_hit(probe, header.probe_id, task, when, values, name);
            return;
        case HitRole::thread_name:
        case HitRole::process_name:
            on_naming_hit(probe, header.probe_id, task, values, name);
            return;
    }
}

// The key, if there is one, is the first value, or the first two.
void RecordDecoder::on_pair_hit(const Probe& probe,
                                uint32_t probe_id,
                                Task& task,
                                const When& when,
                                std::span<const model::Value> values,
                                std::string_view name) {
    const bool has_key = probe.key != PairKey::none;
    const std::span<const model::Value> key(values_.data(), probe.key_slots);
    if (std::ranges::any_of(
            key, [](const model::Value& value) { return value.type == model::ValueType::none; })) {
        ledger_.key_missing(probe.point);
        return;
    }
    const bool is_begin = probe.role == HitRole::pair_begin;
    if (probe.key == PairKey::frame) {
        const uint64_t frame_key = values_[0].bits;
        const auto begin_of = [&](const Task& it) {
            return SpanStacks::begin_of_frame(it, probe.point, frame_key);
        };
        Task& track = is_begin ? track_of(probe, probe_id, task, values)
                               : end_track_of(probe, probe_id, task, values, begin_of);
        if (is_told_by_ring(probe, task) && !begin_of(track)) return;
        on_frame_hit(probe, track, frame_key, when, values, name);
        return;
    }
    const KeyedSpans::Place place{probe.point, probe.key};
    if (is_begin) {
        if (has_key) {
            keyed_.begin(task, place, key, when, values, name);
        } else {
            spans_.begin_pair(track_of(probe, probe_id, task, values), probe.point, when, values,
                              name);
        }
    } else if (probe.role == HitRole::pair_end) {
        if (has_key) {
            keyed_.end(task, place, key, when, values);
            return;
        }
        const auto begin_of = [&](const Task& it) {
            return SpanStacks::begin_of_pair(it, probe.point);
        };
        Task& track = end_track_of(probe, probe_id, task, values, begin_of);
        if (is_told_by_ring(probe, task) && !begin_of(track)) return;
        spans_.end_pair(track, probe.point, when, values);
    } else if (has_key) {
        keyed_.until(task, place, key, when);
    } else {
        spans_.until_pair(task, probe.point, when);
        for (const auto& line : task.lines) spans_.until_pair(*line, probe.point, when);
        keyed_.until_thread(task, probe.point, when);
    }
}

void RecordDecoder::on_frame_hit(const Probe& probe,
                                 Task& track,
                                 uint64_t frame_key,
                                 const When& when,
                                 std::span<const model::Value> values,
                                 std::string_view name) {
    if (probe.role == HitRole::pair_begin) {
        spans_.begin_frame(track, probe.point, frame_key, when, values, name);
    } else if (probe.role == HitRole::pair_end) {
        spans_.end_frame(track, probe.point, frame_key, when, values);
    } else {
        spans_.until_frame(track, probe.point, frame_key, when);
    }
}

// A frame of a fiber is known by its distance from the end of the stack, which stays the same
// when the stack moves; as if all of them were stacks at one address.
void RecordDecoder::on_fiber_hit(const Probe& probe,
                                 const tr_record_header& header,
                                 Process& process,
                                 std::string_view name) {
    constexpr uint64_t kStackBytesMax = 1ULL << 30;  // beyond any that runtimes allow
    constexpr uint64_t kStackEnd = 1ULL << 40;
    const uint64_t depth = values_[2].bits - values_[0].bits;
    if (depth > kStackBytesMax) {
        ++counters_.malformed;
        return;
    }
    Task* const fiber = tasks_.fiber(process, values_[1].bits);
    if (fiber == nullptr) {
        ++counters_.spans_too_deep;
        return;
    }
    const uint64_t position = kStackEnd - depth;
    const std::span<const model::Value> values(values_.data() + probe.first_value,
                                               size_t{probe.slot_count} - probe.first_value);
    const When when{header.time_ns, header.cpu};
    if (probe.role == HitRole::fiber_span_begin) {
        spans_.begin(track_of(probe, header.probe_id, *fiber, values), probe.point, position, when,
                     values, name, {probe.place, header.probe_id});
        return;
    }
    Task& track = holder_of(probe, *fiber, [&](const Task& it) {
        return SpanStacks::begin_of(it, probe.point, position);
    });
    spans_.end(track, probe.point, position, when, values);
}

// The newest of those there are: lines have names of their begins' values, which ends lack.
template <typename Function>
Task& RecordDecoder::holder_of(const Probe& probe, Task& task, Function begin_of) {
    const auto point = static_cast<size_t>(probe.point);
    if (point >= is_on_line_.size() || !is_on_line_[point]) return task;
    Task* holder = &task;
    std::optional<uint64_t> newest = begin_of(task);
    for (const auto& line : task.lines) {
        const auto begin_ns = begin_of(*line);
        if (!begin_ns || (newest && *newest > *begin_ns)) continue;
        newest = begin_ns;
        holder = line.get();
    }
    return *holder;
}

// On a line of the process if the end names one; an end makes none.
template <typename Function>
Task& RecordDecoder::end_track_of(const Probe& probe,
                                  uint32_t probe_id,
                                  Task& task,
                                  std::span<const model::Value> values,
                                  Function begin_of) {
    if (!probe.is_line_of_process) return holder_of(probe, task, begin_of);
    Task* const line = tasks_.find_process_line(*task.process, line_of(probe, probe_id, values));
    // Begins beyond the limit of lines are on their threads.
    return line != nullptr ? *line : task;
}

Task& RecordDecoder::track_of(const Probe& probe,
                              uint32_t probe_id,
                              Task& task,
                              std::span<const model::Value> values) {
    if (!probe.has_line) [[likely]]
        return task;
    const std::string_view name = line_of(probe, probe_id, values);
    if (name.empty()) return task;
    Task* const line = probe.is_line_of_process ? tasks_.process_line(*task.process, name)
                                                : tasks_.line(task, LineKind::events, name);
    if (line != nullptr) return *line;
    ++counters_.lines_beyond_limit;
    return task;
}

std::string_view RecordDecoder::name_of(const Probe& probe,
                                        uint32_t probe_id,
                                        std::span<const model::Value> values) {
    if (!probe.has_name) return {};
    render_name(names_[probe_id], points_[static_cast<size_t>(probe.point)].arguments, values,
                name_);
    return name_;
}

std::string_view RecordDecoder::line_of(const Probe& probe,
                                        uint32_t probe_id,
                                        std::span<const model::Value> values) {
    const model::Point& point = points_[static_cast<size_t>(probe.point)];
    const bool is_end = probe.role == HitRole::pair_end;
    render_name(lines_[probe_id], is_end ? point.end_arguments : point.arguments, values, line_);
    return line_;
}

// Fills values_ by slot. False: the record contradicts itself.
bool RecordDecoder::read_values(const Probe& probe, const tr_record_header& header, Bytes bytes) {
    const std::byte* slots = bytes.data() + sizeof(tr_record_header);
    // Nearly always there is nothing to look at but the types.
    if (probe.has_integers_only && header.flags == 0) {
        for (size_t i = 0; i < probe.slot_count; ++i) {
            values_[i].type = probe.types[i];
            std::memcpy(&values_[i].bits, slots + i * sizeof(uint64_t), sizeof(uint64_t));
        }
        return true;
    }
    if (probe.cxx_type_slots != 0) type_names_.make_room();
    for (size_t i = 0; i < probe.slot_count; ++i) {
        uint64_t raw = 0;
        std::memcpy(&raw, slots + i * sizeof(raw), sizeof(raw));
        const bool is_missing = (header.flags >> i & 1U) != 0;
        if (i < hidden_slots(probe.role)) {
            // Registers, and of fibers what is in memory as long as they run.
            if (is_missing) return false;
            values_[i].bits = raw;
            continue;
        }
        values_[i].type = is_missing ? model::ValueType::none : probe.types[i];
        if (!read_value(probe, i, raw, bytes)) return false;
    }
    return true;
}

// One value, whose type is set.
bool RecordDecoder::read_value(const Probe& probe, size_t slot, uint64_t raw, Bytes bytes) {
    model::Value& value = values_[slot];
    switch (value.type) {
        case model::ValueType::none:
            ++counters_.arguments_missing;
            value.bits = 0;
            return true;
        case model::ValueType::s32:
        case model::ValueType::u32:
        case model::ValueType::s64:
        case model::ValueType::u64:
        case model::ValueType::pointer:
            value.bits = raw;
            return true;
        case model::ValueType::boolean:
            value.bits = raw != 0 ? 1 : 0;
            return true;
        case model::ValueType::f64:
            value.real = (probe.f32_slots >> slot & 1U) != 0
                             ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(raw)))
                             : std::bit_cast<double>(raw);
            return true;
        case model::ValueType::string:
            if (!read_string(bytes, raw, value)) return false;
            if ((probe.cxx_type_slots >> slot & 1U) != 0 && !value.is_cut) {
                value.text = type_names_.name_of(value.text);
            }
            return true;
    }
    return false;
}

bool RecordDecoder::read_string(Bytes bytes, uint64_t raw_slot, model::Value& out) {
    const auto slot = std::bit_cast<tr_string_slot>(raw_slot);
    if (slot.offset < sizeof(tr_record_header) || slot.offset > bytes.size() ||
        slot.bytes > bytes.size() - slot.offset) {
        return false;
    }
    out.text = text_in_place(bytes.subspan(slot.offset, slot.bytes));
    out.is_cut = (slot.flags & TR_STRING_CUT) != 0;
    out.is_longer = (slot.flags & TR_STRING_AT_LEAST) != 0;
    // A length that the text here contradicts is none.
    const uint64_t length = slot.flags >> TR_STRING_LENGTH_SHIFT;
    out.bits = out.is_cut && length >= slot.bytes ? length : 0;
    if (out.is_cut) ++counters_.strings_cut;
    return true;
}

}  // namespace tracer
