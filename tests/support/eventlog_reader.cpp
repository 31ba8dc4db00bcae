// SPDX-License-Identifier: Apache-2.0
//
// Takes an eventlog apart, event by event. Every read is checked: a file under test may be cut,
// damaged or hostile. What is kept between calls is the header's types, of bounded size, and the
// current block. Used by tests and by eventlog_dump.
#include "support/eventlog_reader.h"

#include "support/eventlog_utf8.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr uint32_t kHeaderBegin = 0x68647262;  // "hdrb"
constexpr uint32_t kTypesBegin = 0x68657462;   // "hetb"
constexpr uint32_t kTypeBegin = 0x65746200;    // "etb\0"
constexpr uint32_t kTypeEnd = 0x65746500;      // "ete\0"
constexpr uint32_t kTypesEnd = 0x68657465;     // "hete"
constexpr uint32_t kHeaderEnd = 0x68647265;    // "hdre"
constexpr uint32_t kDataBegin = 0x64617462;    // "datb"
constexpr uint16_t kEndMarker = 0xFFFF;
constexpr uint16_t kNoCapability = 0xFFFF;

constexpr size_t kEventHeaderBytes = 10;  // id and time
constexpr size_t kLengthBytes = 2;
constexpr uint64_t kBlockMarkerBytes = 24;
constexpr uint32_t kBlockSizeEndless = 0xFFFFFFFF;
// Of an event whose length field is no help: twice what a correct one could have.
constexpr size_t kSelfDelimitingBytesMax = 128 << 10;

// A read past the end gives 0 and sets `overran`, after which nothing is left.
class BigEndianCursor {
public:
    explicit BigEndianCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] size_t position() const { return position_; }
    [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }
    [[nodiscard]] bool overran() const { return overran_; }

    uint64_t number(size_t width) {
        uint64_t value = 0;
        for (const std::byte byte : take(width))
            value = value << 8 | std::to_integer<uint8_t>(byte);
        return value;
    }
    uint16_t u16() { return static_cast<uint16_t>(number(2)); }
    uint32_t u32() { return static_cast<uint32_t>(number(4)); }

    std::string_view text(size_t length) {
        const auto bytes = take(length);
        if (bytes.empty()) return {};
        const void* begin = bytes.data();
        return {static_cast<const char*>(begin), bytes.size()};
    }

    // Up to a NUL, which is taken too.
    std::string_view c_text() {
        const auto rest = bytes_.subspan(position_);
        const auto nul = std::find(rest.begin(), rest.end(), std::byte{0});
        if (nul == rest.end()) {
            fail();
            return {};
        }
        const auto result = text(static_cast<size_t>(nul - rest.begin()));
        position_ += 1;
        return result;
    }

private:
    std::span<const std::byte> take(size_t count) {
        if (remaining() < count) {
            fail();
            return {};
        }
        const auto part = bytes_.subspan(position_, count);
        position_ += count;
        return part;
    }

    void fail() {
        overran_ = true;
        position_ = bytes_.size();
    }

    std::span<const std::byte> bytes_;
    size_t position_ = 0;
    bool overran_ = false;
};

// The parts that end in NUL; NULs at the end are no parts, as ghc-events sees it.
std::vector<std::string_view> split_strings(std::string_view text) {
    std::vector<std::string_view> parts;
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    while (!text.empty()) {
        const size_t nul = text.find('\0');
        parts.push_back(text.substr(0, nul));
        if (nul == std::string_view::npos) break;
        text.remove_prefix(nul + 1);
    }
    return parts;
}

size_t fixed_bytes_after(const EventlogShape& shape, size_t index) {
    size_t bytes = 0;
    for (size_t i = index + 1; i < shape.fields.size() && !shape.fields[i].name.empty(); ++i) {
        bytes += eventlog_field_bytes(shape.fields[i].kind);
    }
    return bytes;
}

std::vector<uint32_t> read_stack(BigEndianCursor& cursor) {
    std::vector<uint32_t> stack(cursor.number(1));
    for (auto& entry : stack) entry = cursor.u32();
    return stack;
}

EventlogValue read_value(const EventlogShape& shape, size_t index, BigEndianCursor& cursor) {
    const EventlogFieldKind kind = shape.fields[index].kind;
    const size_t after = fixed_bytes_after(shape, index);
    const size_t rest = cursor.remaining() - std::min(cursor.remaining(), after);
    switch (kind) {
        case EventlogFieldKind::u8:
        case EventlogFieldKind::u16:
        case EventlogFieldKind::u32:
        case EventlogFieldKind::u64:
            return cursor.number(eventlog_field_bytes(kind));
        case EventlogFieldKind::power_of_two: {
            const uint64_t exponent = cursor.number(1);
            return exponent < 64 ? uint64_t{1} << exponent : uint64_t{0};
        }
        case EventlogFieldKind::text:
        case EventlogFieldKind::bytes:
            return cursor.text(rest);
        case EventlogFieldKind::strings:
            return split_strings(cursor.text(rest));
        case EventlogFieldKind::c_text:
        case EventlogFieldKind::optional_text:
            return cursor.c_text();
        case EventlogFieldKind::stack:
            return read_stack(cursor);
        case EventlogFieldKind::optional_u64:
            return cursor.number(8);
    }
    return uint64_t{0};
}

bool is_optional(EventlogFieldKind kind) {
    return kind == EventlogFieldKind::optional_u64 || kind == EventlogFieldKind::optional_text;
}

// Whether all fields were there. Those that were are added to `event`.
bool read_fields(const EventlogShape& shape, BigEndianCursor& cursor, EventlogEvent& event) {
    for (size_t i = 0; i < shape.fields.size() && !shape.fields[i].name.empty(); ++i) {
        if (is_optional(shape.fields[i].kind) && cursor.remaining() == 0) break;
        EventlogValue value = read_value(shape, i, cursor);
        if (cursor.overran()) return false;
        event.fields.push_back({shape.fields[i].name, std::move(value)});
    }
    return true;
}

}  // namespace

std::string_view name_of(EventlogFault fault) {
    switch (fault) {
        case EventlogFault::none:
            return "none";
        case EventlogFault::not_an_eventlog:
            return "not an eventlog";
        case EventlogFault::malformed_header:
            return "malformed header";
        case EventlogFault::oversized_header:
            return "oversized header";
        case EventlogFault::description_not_utf8:
            return "a type's description is not UTF-8";
        case EventlogFault::undeclared_event:
            return "undeclared event";
        case EventlogFault::runaway_text:
            return "text without an end";
    }
    return "unknown fault";
}

const EventlogValue* EventlogEvent::find(std::string_view field) const {
    for (const auto& candidate : fields) {
        if (candidate.name == field) return &candidate.value;
    }
    return nullptr;
}

uint64_t EventlogEvent::number(std::string_view field) const {
    const auto* value = find(field);
    const auto* number = value == nullptr ? nullptr : std::get_if<uint64_t>(value);
    return number == nullptr ? 0 : *number;
}

std::string_view EventlogEvent::text(std::string_view field) const {
    const auto* value = find(field);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string_view>(value);
    return text == nullptr ? std::string_view{} : *text;
}

const EventlogType* EventlogReader::find_type(uint16_t id) const {
    if (id >= type_slots_.size() || type_slots_[id] == 0) return nullptr;
    return &types_[type_slots_[id] - 1];
}

void EventlogReader::stop(EventlogFault fault) {
    fault_ = fault;
    state_ = State::stopped;
}

EventlogReader::Step EventlogReader::next(std::span<const std::byte>& bytes, EventlogEvent& event) {
    // Each turn takes bytes or leaves the loop.
    while (state_ < State::events) {
        if (!read_header(bytes)) return state_ == State::stopped ? Step::stopped : Step::need_more;
    }
    while (state_ == State::events) {
        BigEndianCursor cursor(bytes);
        const uint16_t id = cursor.u16();
        if (cursor.overran()) return Step::need_more;
        if (id != kEndMarker) {
            const auto size = read_event(bytes, event);
            if (!size) return state_ == State::stopped ? Step::stopped : Step::need_more;
            bytes = bytes.subspan(*size);
            offset_ += *size;
            return Step::event;
        }
        end_marker_count_ += 1;
        block_end_marker_bytes_ += sizeof(id);
        bytes = bytes.subspan(sizeof(id));
        offset_ += sizeof(id);
    }
    return Step::stopped;
}

void EventlogReader::finish(std::span<const std::byte> left) {
    if (state_ == State::stopped) return;
    truncated_bytes_ = left.size();
    leave_block();
}

// One marker or type; false: not all of it is there, or stopped.
bool EventlogReader::read_header(std::span<const std::byte>& bytes) {
    BigEndianCursor cursor(bytes);
    const uint32_t marker = cursor.u32();
    if (cursor.overran()) return false;
    size_t used = 0;
    switch (state_) {
        case State::header_begin:
            if (marker != kHeaderBegin) {
                stop(EventlogFault::not_an_eventlog);
                return false;
            }
            if (const uint32_t second = cursor.u32(); cursor.overran()) {
                return false;
            } else if (second != kTypesBegin) {
                stop(EventlogFault::malformed_header);
                return false;
            }
            used = cursor.position();
            state_ = State::types;
            break;
        case State::types:
            if (marker == kTypesEnd) {
                used = cursor.position();
                state_ = State::header_end;
            } else if (marker == kTypeBegin) {
                used = read_type(bytes);
            } else {
                stop(EventlogFault::malformed_header);
            }
            break;
        case State::header_end: {
            const uint32_t second = cursor.u32();
            if (marker != kHeaderEnd || (!cursor.overran() && second != kDataBegin)) {
                stop(EventlogFault::malformed_header);
                return false;
            }
            if (cursor.overran()) return false;
            used = cursor.position();
            state_ = State::events;
            break;
        }
        case State::events:
        case State::stopped:
            return false;
    }
    bytes = bytes.subspan(used);
    offset_ += used;
    return used > 0;
}

// The number of bytes it has; 0: not all of it is there, or stopped.
size_t EventlogReader::read_type(std::span<const std::byte> bytes) {
    BigEndianCursor cursor(bytes);
    cursor.number(sizeof(kTypeBegin));
    EventlogType type;
    type.id = cursor.u16();
    type.size = cursor.u16();
    const uint64_t description_bytes = cursor.u32();
    if (cursor.overran()) return 0;
    // Checked before they are there: a length must not make us wait for, or keep, gigabytes.
    if (offset_ + cursor.position() + description_bytes > kEventlogHeaderBytesMax) {
        stop(EventlogFault::oversized_header);
        return 0;
    }
    const std::string_view description = cursor.text(description_bytes);
    const uint64_t extra_bytes = cursor.u32();
    if (cursor.overran()) return 0;
    if (offset_ + cursor.position() + extra_bytes > kEventlogHeaderBytesMax) {
        stop(EventlogFault::oversized_header);
        return 0;
    }
    cursor.text(extra_bytes);
    const uint32_t marker = cursor.u32();
    if (cursor.overran()) return 0;
    if (marker != kTypeEnd || type.id == kEndMarker) {
        stop(EventlogFault::malformed_header);
        return 0;
    }
    if (!is_valid_utf8(description)) {
        stop(EventlogFault::description_not_utf8);
        return 0;
    }
    type.description = description;
    type.shape = find_eventlog_shape(type.id, type.size);
    declare(std::move(type));
    return cursor.position();
}

void EventlogReader::declare(EventlogType type) {
    const uint16_t id = type.id;
    if (id >= type_slots_.size()) type_slots_.resize(size_t{id} + 1);
    if (type_slots_[id] != 0) oddities_.repeated_types += 1;
    types_.push_back(std::move(type));
    type_slots_[id] = static_cast<uint32_t>(types_.size());
}

std::optional<size_t> EventlogReader::read_event(std::span<const std::byte> bytes,
                                                 EventlogEvent& event) {
    BigEndianCursor cursor(bytes);
    const uint16_t id = cursor.u16();
    const EventlogType* type = find_type(id);
    if (type == nullptr) {
        undeclared_id_ = id;
        stop(EventlogFault::undeclared_event);
        return std::nullopt;
    }
    const bool is_variable = type->size == kEventlogVariableSize;
    event = {.offset = offset_, .time_ns = cursor.number(8), .id = id};
    const size_t payload_bytes = is_variable ? cursor.u16() : type->size;
    if (cursor.overran()) return std::nullopt;
    size_t size = cursor.position() + payload_bytes;
    if (type->shape != nullptr && event.is(EventlogId::ipe)) {
        const auto own = read_self_delimiting(bytes, *type->shape, payload_bytes, event);
        if (!own) return std::nullopt;
        size = *own;
    } else {
        if (cursor.remaining() < payload_bytes) return std::nullopt;
        if (type->shape != nullptr) {
            read_payload(bytes.subspan(cursor.position(), payload_bytes), *type->shape, event);
        } else {
            event.decoding = EventlogDecoding::unknown;
            oddities_.unknown_events += 1;
        }
    }
    event.name = type->shape == nullptr ? "UNKNOWN" : type->shape->name;
    event.bytes = size;
    count_texts(event);
    if (end_marker_count_ > 0) oddities_.after_end_events += 1;
    if (event.is(EventlogId::block_marker) && event.decoding == EventlogDecoding::decoded) {
        open_block(event);
    } else {
        attribute(event);
    }
    return size;
}

// For info-table provenance, whose length GHC 9.10.3 writes one byte too large: where its texts end
// is where it ends. A length that leaves more than that byte is believed, as fields that a later
// GHC adds.
std::optional<size_t> EventlogReader::read_self_delimiting(std::span<const std::byte> bytes,
                                                           const EventlogShape& shape,
                                                           size_t declared,
                                                           EventlogEvent& event) {
    constexpr size_t kPayloadAt = kEventHeaderBytes + kLengthBytes;
    const auto payload =
        bytes.subspan(kPayloadAt, std::min(bytes.size() - kPayloadAt, kSelfDelimitingBytesMax));
    BigEndianCursor cursor(payload);
    if (!read_fields(shape, cursor, event)) {
        if (payload.size() == kSelfDelimitingBytesMax) stop(EventlogFault::runaway_text);
        return std::nullopt;
    }
    const size_t own = cursor.position();
    if (own + 1 < declared) {
        if (bytes.size() - kPayloadAt < declared) return std::nullopt;
        oddities_.extra_bytes_events += 1;
        return kPayloadAt + declared;
    }
    if (own != declared) oddities_.ipe_length_faults += 1;
    return kPayloadAt + own;
}

void EventlogReader::read_payload(std::span<const std::byte> payload,
                                  const EventlogShape& shape,
                                  EventlogEvent& event) {
    BigEndianCursor cursor(payload);
    if (!read_fields(shape, cursor, event)) {
        event.decoding = EventlogDecoding::malformed;
        oddities_.malformed_events += 1;
    } else if (cursor.remaining() > 0) {
        oddities_.extra_bytes_events += 1;
    }
}

void EventlogReader::count_texts(const EventlogEvent& event) {
    if (event.is(EventlogId::user_binary_msg)) return;
    for (const auto& field : event.fields) {
        if (const auto* text = std::get_if<std::string_view>(&field.value)) {
            if (!is_valid_utf8(*text)) oddities_.texts_not_utf8 += 1;
        } else if (const auto* texts = std::get_if<std::vector<std::string_view>>(&field.value)) {
            for (const auto part : *texts) {
                if (!is_valid_utf8(part)) oddities_.texts_not_utf8 += 1;
            }
        }
    }
}

// GHC 9.10 counts the end marker to the last block, earlier ones do not; either is whole. (For the
// capability of what follows it does not count, as in ghc-events.)
void EventlogReader::leave_block() {
    if (block_bytes_left_ > block_end_marker_bytes_) oddities_.unfinished_blocks += 1;
    block_bytes_left_ = 0;
    block_end_marker_bytes_ = 0;
}

// The size counts from the marker's own first byte. One that is smaller than the marker means, as
// ghc-events computes modulo 2^32, "up to the next marker".
void EventlogReader::open_block(EventlogEvent& event) {
    leave_block();
    const uint64_t size = event.number("size");
    block_is_open_ended_ = size < kBlockMarkerBytes || size == kBlockSizeEndless;
    block_bytes_left_ = block_is_open_ended_ ? 0 : size - kBlockMarkerBytes;
    const auto capability = static_cast<uint16_t>(event.number("cap"));
    block_capability_.reset();
    if (capability != kNoCapability) block_capability_ = capability;
    event.capability = block_capability_;
    event.is_in_block = true;
    block_count_ += 1;
    if (block_is_open_ended_) open_ended_block_count_ += 1;
}

// An event belongs to the block when its first byte does.
void EventlogReader::attribute(EventlogEvent& event) {
    event.is_in_block = block_is_open_ended_ || block_bytes_left_ > 0;
    if (!event.is_in_block) {
        oddities_.outside_block_events += 1;
        return;
    }
    event.capability = block_capability_;
    if (block_is_open_ended_) return;
    if (event.bytes > block_bytes_left_) oddities_.overrun_blocks += 1;
    block_bytes_left_ -= std::min(block_bytes_left_, event.bytes);
}

EventlogFile parse_eventlog(std::vector<std::byte> bytes) {
    EventlogFile file;
    file.bytes = std::move(bytes);
    std::span<const std::byte> left = file.bytes;
    EventlogEvent event;
    while (file.reader.next(left, event) == EventlogReader::Step::event) {
        file.events.push_back(std::move(event));
    }
    file.reader.finish(left);
    return file;
}

EventlogFile parse_eventlog(std::string_view bytes) {
    const auto view = std::as_bytes(std::span(bytes));
    return parse_eventlog(std::vector<std::byte>(view.begin(), view.end()));
}

Result<EventlogFile> load_eventlog(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        const int sys_errno = errno;
        return fail_errno(ErrorCode::not_found, sys_errno, fmt::format("open {}", path));
    }
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (stream.bad()) return fail(ErrorCode::io, fmt::format("read {}", path));
    return parse_eventlog(bytes);
}

}  // namespace tracer::test
