// SPDX-License-Identifier: Apache-2.0
//
// Records of userspace's own, in the layout of the kernel's: so they go through the decoder, a raw
// capture and the summary like any other. Made by the discovery thread and by steering.
#include "session/own_record.h"

#include "tracer/abi/event.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace tracer {

std::vector<std::byte> make_own_hit(const OwnHit& hit) {
    const size_t fixed = sizeof(tr_record_header) + (1 + hit.numbers.size()) * sizeof(uint64_t);
    const size_t text_bytes = std::min(hit.text.size(), kOwnTextBytesMax);
    std::vector<std::byte> bytes((fixed + text_bytes + 7) / 8 * 8);
    tr_record_header header{};
    header.size = static_cast<uint16_t>(bytes.size());
    header.kind = TR_KIND_hit;
    header.probe_id = hit.probe_id;
    header.time_ns = hit.time_ns;
    header.tgid = hit.pid;
    header.tid = hit.tid;
    const tr_string_slot slot{static_cast<uint16_t>(fixed), static_cast<uint16_t>(text_bytes),
                              text_bytes < hit.text.size() ? TR_STRING_CUT : 0};
    std::byte* out = bytes.data();
    const auto put = [&out](const void* from, size_t count) {
        if (count == 0) return;  // of nothing there is no address either
        std::memcpy(out, from, count);
        out += count;
    };
    put(&header, sizeof(header));
    put(&slot, sizeof(slot));
    put(hit.numbers.data(), hit.numbers.size_bytes());
    put(hit.text.data(), text_bytes);
    return bytes;
}

model::Point own_point(model::PointIndex index,
                       std::string name,
                       std::vector<model::Argument> arguments) {
    model::Point point;
    point.index = index;
    point.kind = model::PointKind::instant;
    point.category = "tracer";
    point.name = std::move(name);
    point.arguments = std::move(arguments);
    return point;
}

ProbeDefinition own_definition(uint32_t probe_id,
                               model::PointIndex index,
                               std::string_view name,
                               std::vector<model::ValueType> slots) {
    ProbeDefinition definition;
    definition.probe_id = probe_id;
    definition.role = HitRole::instant;
    definition.point = index;
    definition.slots = std::move(slots);
    definition.spec = fmt::format("tracer:{} (built in)", name);
    return definition;
}

}  // namespace tracer
