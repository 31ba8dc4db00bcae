// SPDX-License-Identifier: Apache-2.0
//
// The hot path: a probe's hit becomes an instant, a counter value, or one end of a span. Nothing is
// allocated; the values live in one array that the next hit overwrites.
#include "decode/record_decoder.h"

#include <bit>
#include <cstring>
#include <string_view>

namespace tracer {

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
    if (bytes.size() < sizeof(tr_record_header) + probe.slot_count * sizeof(uint64_t) ||
        header.tid == 0) {
        ++counters_.malformed;
        return;
    }
    if (header.tgid == definitions_.own_pid && header.tgid != 0) return;
    if (!read_values(probe, header, bytes)) {
        ++counters_.malformed;
        return;
    }
    Task& task = tasks_.find_or_add(header.tgid, header.tid);
    const std::span<const model::Value> values(values_.data() + probe.first_value,
                                               size_t{probe.slot_count} - probe.first_value);
    switch (probe.role) {
        case HitRole::instant: {
            const model::ThreadIndex thread = tasks_.named(task);
            if (probe.is_counter) {
                output_.write({header.time_ns, model::Counter{probe.point, thread, values}});
            } else {
                output_.write({header.time_ns, model::Instant{probe.point, thread, values}});
            }
            return;
        }
        case HitRole::span_begin:
            spans_.begin(task, probe.point, values_[0].bits, header.time_ns, values);
            return;
        case HitRole::span_end:
            spans_.end(task, probe.point, values_[0].bits, header.time_ns, values);
            return;
    }
}

// Fills values_ by slot. False: the record contradicts itself.
bool RecordDecoder::read_values(const Probe& probe, const tr_record_header& header, Bytes bytes) {
    const std::byte* slots = bytes.data() + sizeof(tr_record_header);
    if (probe.is_plain && header.flags == 0) [[likely]] {
        // Most hits: the same probe as before, and only the bits differ.
        if (values_probe_ != header.probe_id) take_types(probe, header.probe_id);
        for (size_t i = 0; i < probe.slot_count; ++i) {
            std::memcpy(&values_[i].bits, slots + i * sizeof(uint64_t), sizeof(uint64_t));
        }
        return true;
    }
    values_probe_ = 0;
    for (size_t i = 0; i < probe.slot_count; ++i) {
        uint64_t raw = 0;
        std::memcpy(&raw, slots + i * sizeof(raw), sizeof(raw));
        const bool is_missing = (header.flags >> i & 1U) != 0;
        if (i < probe.first_value) {
            // The stack pointer: a register, which can always be read.
            if (is_missing) return false;
            values_[i].bits = raw;
            continue;
        }
        values_[i].type = is_missing ? model::ValueType::none : probe.types[i];
        if (!read_value(probe, i, raw, bytes)) return false;
    }
    return true;
}

void RecordDecoder::take_types(const Probe& probe, uint32_t probe_id) {
    for (size_t i = 0; i < probe.slot_count; ++i) values_[i] = {.type = probe.types[i]};
    values_probe_ = probe_id;
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
            return read_string(bytes, raw, value);
    }
    return false;
}

bool RecordDecoder::read_string(Bytes bytes, uint64_t raw_slot, model::Value& out) {
    const auto slot = std::bit_cast<tr_string_slot>(raw_slot);
    if (slot.offset < sizeof(tr_record_header) || slot.offset > bytes.size() ||
        slot.bytes > bytes.size() - slot.offset) {
        return false;
    }
    const Bytes text = bytes.subspan(slot.offset, slot.bytes);
    // A string_view over bytes is the one cast that the language allows for reading text in place.
    out.text = {static_cast<const char*>(static_cast<const void*>(text.data())), text.size()};
    out.is_cut = (slot.flags & TR_STRING_CUT) != 0;
    if (out.is_cut) ++counters_.strings_cut;
    return true;
}

}  // namespace tracer
