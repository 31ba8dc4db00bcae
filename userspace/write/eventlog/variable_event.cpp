// SPDX-License-Identifier: Apache-2.0
//
// Events whose payload has a length of its own: texts, lists, bytes. Their text comes from traced
// programs, so nothing about it is believed: a reader stops at text that is not UTF-8, and a length
// over 65,535 would be cut to 16 bits and break everything after it (HLS 4918, GHC 20221). Relies
// on write/text.h; called through BlockBuffer::post, which has checked the parts against the table
// when it was compiled, and through post_list(), which does it here.
#include "tracer/write/eventlog/block_buffer.h"
#include "write/eventlog/payload.h"

#include <algorithm>

namespace tracer::eventlog {

Fault BlockBuffer::post_parts(EventId id, uint64_t clock_ns, std::span<const Part> parts) {
    if (!is_open()) return refuse(when_closed_);
    const size_t limit = payload_bytes_max(options_.capacity_bytes);
    PayloadPlan plan = plan_payload(parts, limit);
    if (plan.fault != Fault::none) {
        if (options_.invalid == Invalid::refuse) return refuse(plan.fault);
        plan.bytes = bytes_when_repaired(parts, limit);
    }
    if (clock_ns < last_ns_ ||
        static_cast<size_t>(end_ - cursor_) < kVariableEventHeaderBytes + plan.bytes) {
        const Fault fault = make_way(clock_ns, kVariableEventHeaderBytes + plan.bytes);
        if (fault != Fault::none) return fault;
    }
    std::byte* const length_at = write_event_header(id, clock_ns);
    std::byte* const payload = length_at + sizeof(uint16_t);
    std::byte* end = nullptr;
    if (plan.fault == Fault::none) {
        end = write_payload(payload, parts);
    } else {
        const RepairedPayload repaired = write_repaired_payload({payload, plan.bytes}, parts);
        end = payload + repaired.bytes;
        counters_.texts_cut += repaired.cut;
        counters_.texts_repaired += repaired.replaced;
    }
    store_big(length_at, static_cast<uint16_t>(end - payload));
    advance(end, clock_ns);
    return Fault::none;
}

Fault BlockBuffer::post_encoded(const EventType& type,
                                uint64_t clock_ns,
                                std::span<const std::byte> payload) {
    const bool is_variable = type.size == kVariableSize;
    if (is_variable ? payload.size() > payload_bytes_max(options_.capacity_bytes)
                    : payload.size() != type.size) {
        return refuse(Fault::too_large);
    }
    if (!is_declared(type, options_.dialect)) return refuse(Fault::undeclared);
    const Fault fault = make_way(clock_ns, kVariableEventHeaderBytes + payload.size());
    if (fault != Fault::none) return fault;
    std::byte* at = write_event_header(type.id, clock_ns);
    if (is_variable) at = store_big(at, static_cast<uint16_t>(payload.size()));
    if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
    advance(at + payload.size(), clock_ns);
    return Fault::none;
}

Fault BlockBuffer::post_list(EventId id, uint64_t clock_ns, std::span<const Part> parts) {
    const auto row =
        std::lower_bound(kEventTypes.begin(), kEventTypes.end(), id,
                         [](const EventType& type, EventId wanted) { return type.id < wanted; });
    if (row == kEventTypes.end() || row->id != id || id == EventId::block_marker ||
        !is_declared(*row, options_.dialect)) {
        return refuse(Fault::undeclared);
    }
    const EventType& type = form_of(*row, options_.dialect);
    if (type.shape.size() != parts.size()) return refuse(Fault::wrong_fields);
    for (size_t i = 0; i < parts.size(); ++i) {
        if (type.shape[i] != parts[i].field) return refuse(Fault::wrong_fields);
    }
    if (!type.shape.is_fixed()) return post_parts(id, clock_ns, parts);

    const size_t bytes = kEventHeaderBytes + type.size;
    if (clock_ns < last_ns_ || static_cast<size_t>(end_ - cursor_) < bytes) {
        const Fault fault = make_way(clock_ns, bytes);
        if (fault != Fault::none) return fault;
    }
    advance(write_payload(write_event_header(id, clock_ns), parts), clock_ns);
    return Fault::none;
}

}  // namespace tracer::eventlog
