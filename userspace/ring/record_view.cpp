// SPDX-License-Identifier: Apache-2.0
//
// From the words of one record, copied out of the ring before, to an event. Relies on nothing but
// the number of words. Used by cursor.cpp.
#include "ring/record_view.h"

namespace tracer::ring {
namespace {

void take_value(Event& event) {
    event.has_value = true;
    event.value = static_cast<int64_t>(event.words.front());
}

// The last byte of the payload says how many before it are unused.
bool take_bytes(Event& event) {
    const std::span<const std::byte> payload = std::as_bytes(event.words);
    if (payload.empty()) return false;
    const size_t unused = 1 + std::to_integer<size_t>(payload.back());
    if (unused > payload.size()) return false;
    event.bytes = payload.first(payload.size() - unused);
    return true;
}

EventKind runtime_kind(Event& event) {
    switch (event.type) {
        case TR_RING_LIFECYCLE:
            if (!event.words.empty()) take_value(event);
            return EventKind::lifecycle;
        case TR_RING_BEGIN:
            return EventKind::begin;
        case TR_RING_END:
            return EventKind::end;
        case TR_RING_COUNTER:
            if (event.words.empty()) return EventKind::unknown;
            take_value(event);
            return EventKind::counter;
        case TR_RING_ALLOC:
            return EventKind::alloc;
        default:
            return EventKind::unknown;
    }
}

EventKind user_kind(Event& event) {
    switch (event.type) {
        case TR_RING_USER_UNIT:
            return EventKind::user_unit;
        case TR_RING_USER_INT:
            if (event.words.empty()) return EventKind::unknown;
            take_value(event);
            return EventKind::user_int;
        case TR_RING_USER_BEGIN:
            return EventKind::user_begin;
        case TR_RING_USER_END:
            return EventKind::user_end;
        default:
            return take_bytes(event) ? EventKind::user_custom : EventKind::unknown;
    }
}

}  // namespace

Event make_event(const RecordHeader& header, std::span<const uint64_t> record) {
    Event event{.id = header.id,
                .type = header.type,
                .is_user = header.is_user,
                .time_ns = record[1],
                .sequence = header.sequence,
                .words = record.subspan(2)};
    event.kind = header.is_user ? user_kind(event) : runtime_kind(event);
    return event;
}

}  // namespace tracer::ring
