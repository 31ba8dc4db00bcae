// SPDX-License-Identifier: Apache-2.0
//
// The header of a log, from the table of events. Relies on the table's order and sizes, which the
// compiler has checked; used by whoever opens a log and by those that begin one anew.
#include "tracer/write/eventlog/header.h"

#include "tracer/write/eventlog/encode.h"

#include <cstdint>
#include <span>

namespace tracer::eventlog {
namespace {

// The marks of the format, four characters each.
constexpr uint32_t kHeaderBegin = 0x68647262;  // hdrb
constexpr uint32_t kHeaderEnd = 0x68647265;    // hdre
constexpr uint32_t kTypesBegin = 0x68657462;   // hetb
constexpr uint32_t kTypesEnd = 0x68657465;     // hete
constexpr uint32_t kTypeBegin = 0x65746200;    // etb
constexpr uint32_t kTypeEnd = 0x65746500;      // ete
constexpr uint32_t kDataBegin = 0x64617462;    // datb

template <typename T>
void append(std::vector<std::byte>& out, T value) {
    std::byte bytes[sizeof(T)];
    store_big(bytes, value);
    out.insert(out.end(), bytes, bytes + sizeof(T));
}

void append_type(std::vector<std::byte>& out, const EventType& type) {
    append(out, kTypeBegin);
    append(out, type.id);
    append(out, type.size);
    append(out, static_cast<uint32_t>(type.description.size()));
    const auto text = std::as_bytes(std::span(type.description));
    out.insert(out.end(), text.begin(), text.end());
    append(out, uint32_t{0});  // no extension, ever so far
    append(out, kTypeEnd);
}

}  // namespace

std::vector<std::byte> make_header(const Dialect& dialect) {
    std::vector<std::byte> out;
    append(out, kHeaderBegin);
    append(out, kTypesBegin);
    for (const EventType& type : kEventTypes) {
        if (is_declared(type, dialect)) append_type(out, form_of(type, dialect));
    }
    append(out, kTypesEnd);
    append(out, kHeaderEnd);
    append(out, kDataBegin);
    return out;
}

}  // namespace tracer::eventlog
