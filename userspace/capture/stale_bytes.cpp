// SPDX-License-Identifier: Apache-2.0
//
// Zeroes what a record holds beside its own content, by the layout that include/tracer/abi/event.h
// and the probe's definition say. Offsets in a record are checked: one that lies is no reason to
// write outside of it. Called by the capture writer for each record.
#include "capture/stale_bytes.h"

#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tracer {

namespace {

void zero(std::span<std::byte> record, size_t from, size_t to) {
    to = std::min(to, record.size());
    if (from < to) std::memset(record.data() + from, 0, to - from);
}

// What lies behind the NUL of a text field.
void zero_behind_nul(std::span<std::byte> record, size_t offset, size_t bytes) {
    if (offset + bytes > record.size()) return;
    const auto field = record.subspan(offset, bytes);
    const auto end = std::find(field.begin(), field.end(), std::byte{0});
    std::fill(end, field.end(), std::byte{0});
}

}  // namespace

void StaleBytes::add(const std::vector<ProbeDefinition>& probes) {
    for (const ProbeDefinition& probe : probes) {
        if (probe.probe_id > kProbeIdMax) continue;
        if (probe.probe_id >= layouts_.size()) layouts_.resize(probe.probe_id + 1);
        Layout& layout = layouts_[probe.probe_id];
        const size_t first = hidden_slots(probe.role);
        layout.slot_count =
            static_cast<uint16_t>(std::min<size_t>(first + probe.slots.size(), TR_ARGS_MAX));
        for (size_t i = first; i < layout.slot_count; ++i) {
            if (probe.slots[i - first] != model::ValueType::string) continue;
            layout.strings = static_cast<uint16_t>(layout.strings | 1U << i);
        }
    }
}

void StaleBytes::clear(std::span<std::byte> record) const {
    tr_record_header header{};
    if (!ByteCursor(record).read(header)) return;
    switch (header.kind) {
        case TR_KIND_none:
            zero(record, sizeof(tr_record_header), record.size());
            return;
        case TR_KIND_hit:
            clear_hit(record, header.probe_id, header.flags);
            return;
        case TR_KIND_task_exec:
            zero_behind_nul(record, offsetof(tr_task_exec, path), TR_PATH_BYTES);
            [[fallthrough]];
        case TR_KIND_task_new:
        case TR_KIND_task_exit:
        case TR_KIND_task_rename:
        case TR_KIND_task_info:
        case TR_KIND_task_select:
            zero_behind_nul(record, offsetof(tr_task, comm), TR_COMM_BYTES);
            return;
        default:  // every byte is written; of a newer minor version: not ours to judge
            return;
    }
}

void StaleBytes::clear_hit(std::span<std::byte> record,
                           uint32_t probe_id,
                           uint16_t unreadable) const {
    const Layout layout = probe_id < layouts_.size() ? layouts_[probe_id] : Layout{};
    size_t used = sizeof(tr_record_header) + layout.slot_count * sizeof(uint64_t);
    // Strings lie in any order, each in room that is larger than most.
    std::array<std::pair<size_t, size_t>, TR_ARGS_MAX> strings{};
    size_t string_count = 0;
    for (size_t i = 0; i < layout.slot_count; ++i) {
        const bool is_string = (layout.strings >> i & 1) != 0 && (unreadable >> i & 1) == 0;
        const size_t slot_offset = sizeof(tr_record_header) + i * sizeof(uint64_t);
        tr_string_slot slot{};
        if (!is_string || slot_offset + sizeof(slot) > record.size()) continue;
        std::memcpy(&slot, record.data() + slot_offset, sizeof(slot));
        strings.at(string_count++) = {slot.offset, size_t{slot.offset} + slot.bytes};
    }
    std::sort(strings.begin(), strings.begin() + static_cast<long>(string_count));
    for (size_t i = 0; i < string_count; ++i) {
        const auto [begin, end] = strings.at(i);
        if (begin < used || end > record.size()) continue;
        zero(record, used, begin);
        used = end;
    }
    zero(record, used, record.size());
}

}  // namespace tracer
