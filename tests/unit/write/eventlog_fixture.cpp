// SPDX-License-Identifier: Apache-2.0
//
// Reads logs back with a checked cursor, strictly: what a lenient reader would step over is a fault
// here. Relies on ByteCursor only.
#include "eventlog_fixture.h"

#include "tracer/base/byte_cursor.h"

#include <fstream>
#include <iterator>

namespace tracer::eventlog::test {
namespace {

template <typename T>
std::optional<T> take_big(ByteCursor& cursor) {
    const auto bytes = cursor.take(sizeof(T));
    if (!bytes) return std::nullopt;
    T value = 0;
    for (const std::byte byte : *bytes)
        value = static_cast<T>(value << 8 | std::to_integer<T>(byte));
    return value;
}

bool take_mark(ByteCursor& cursor, std::string_view mark) {
    const auto bytes = cursor.take(mark.size());
    return bytes &&
           std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == mark;
}

using std::string_view_literals::operator""sv;

std::string read_header(ByteCursor& cursor, ReadLog& log) {
    if (!take_mark(cursor, "hdrbhetb")) return "no beginning";
    for (;;) {
        const ByteCursor before = cursor;
        if (!take_mark(cursor, "etb\0"sv)) {
            cursor = before;
            break;
        }
        const auto id = take_big<uint16_t>(cursor);
        const auto size = take_big<uint16_t>(cursor);
        const auto text_bytes = take_big<uint32_t>(cursor);
        if (!id || !size || !text_bytes || !cursor.skip(*text_bytes)) return "a cut event type";
        const auto more_bytes = take_big<uint32_t>(cursor);
        if (!more_bytes || !cursor.skip(*more_bytes) || !take_mark(cursor, "ete\0"sv)) {
            return "an event type without end";
        }
        log.declared[*id] = *size;
    }
    return take_mark(cursor, "hetehdredatb") ? "" : "no end of the header";
}

struct Block {
    size_t end = 0;  // in the log; SIZE_MAX: open-ended
    CapNo cap = kNoCapability;
    uint64_t last_ns = 0;
    uint64_t end_ns = 0;
};

std::string read_events(ByteCursor& cursor, ReadLog& log) {
    std::optional<Block> block;
    while (cursor.remaining() != 0) {
        const size_t begin = cursor.position();
        if (block && begin >= block->end) {
            if (begin > block->end) return "a block ends inside an event";
            if (block->last_ns != block->end_ns) return "a block's end is not its last event's";
            block.reset();
        }
        const auto id = take_big<uint16_t>(cursor);
        if (!id) return "a cut event";
        if (*id == kEndOfData) {
            log.end_markers += 1;
            continue;
        }
        ReadEvent event;
        event.id = EventId{*id};
        const auto time_ns = take_big<uint64_t>(cursor);
        if (!time_ns) return "a cut event";
        event.time_ns = *time_ns;
        const auto type = log.declared.find(*id);
        if (type == log.declared.end()) return "undeclared event " + std::to_string(*id);
        std::optional<uint16_t> size = type->second;
        if (*size == kVariableSize) size = take_big<uint16_t>(cursor);
        const auto payload = size ? cursor.take(*size) : std::nullopt;
        if (!payload) return "a cut payload";
        event.payload.assign(payload->begin(), payload->end());
        if (event.id == EventId::block_marker) {
            if (block && block->end != SIZE_MAX) return "a block within a block";
            const size_t bytes = event.number(0, 4);
            log.blocks += 1;
            log.open_ended_blocks += bytes == 0 ? 1 : 0;
            block =
                Block{bytes == 0 ? SIZE_MAX : begin + bytes,
                      static_cast<CapNo>(event.number(12, 2)), event.time_ns, event.number(4, 8)};
            continue;
        }
        if (!block) return "an event outside every block";
        if (event.time_ns < block->last_ns) return "time goes back";
        block->last_ns = event.time_ns;
        event.is_in_block = true;
        if (block->cap != kNoCapability) event.cap = block->cap;
        log.events.push_back(std::move(event));
    }
    if (block && block->end != SIZE_MAX && block->end != cursor.position()) return "a cut block";
    return "";
}

}  // namespace

uint64_t ReadEvent::number(size_t at, size_t bytes) const {
    uint64_t value = 0;
    for (size_t index = 0; index < bytes && at + index < payload.size(); ++index) {
        value = value << 8 | std::to_integer<uint64_t>(payload[at + index]);
    }
    return value;
}

ReadLog read_log(std::span<const std::byte> bytes) {
    ReadLog log;
    ByteCursor cursor(bytes);
    log.fault = read_header(cursor, log);
    if (log.fault.empty()) log.fault = read_events(cursor, log);
    return log;
}

ReadLog read_blocks(std::span<const std::byte> bytes) {
    ReadLog log;
    for (const EventType& type : kEventTypes) {
        log.declared[static_cast<uint16_t>(type.id)] = type.size;
    }
    ByteCursor cursor(bytes);
    log.fault = read_events(cursor, log);
    return log;
}

std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    for (const std::byte byte : bytes) {
        out += kDigits[std::to_integer<size_t>(byte) >> 4];
        out += kDigits[std::to_integer<size_t>(byte) & 15];
    }
    return out;
}

std::vector<std::byte> load_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

}  // namespace tracer::eventlog::test
