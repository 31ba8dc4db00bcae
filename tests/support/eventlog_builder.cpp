// SPDX-License-Identifier: Apache-2.0
//
// Spells eventlogs byte by byte for the tests and the fuzzers of the reader.
#include "support/eventlog_builder.h"

namespace tracer::test {

BigEndianBytes& BigEndianBytes::number(uint64_t value, size_t width) {
    for (size_t i = width; i-- > 0;) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
}

BigEndianBytes& BigEndianBytes::text(std::string_view text) {
    bytes_ += text;
    return *this;
}

BigEndianBytes& BigEndianBytes::c_text(std::string_view text) {
    bytes_ += text;
    bytes_.push_back('\0');
    return *this;
}

void BigEndianBytes::set_u32(size_t position, uint64_t value) {
    for (size_t i = 0; i < 4; ++i)
        bytes_.at(position + i) = static_cast<char>(value >> (24 - 8 * i));
}

EventlogBuilder::EventlogBuilder() {
    out_.text("hdrbhetb");
}

EventlogBuilder& EventlogBuilder::declare(uint16_t id,
                                          uint16_t size,
                                          std::string_view description,
                                          std::string_view extra) {
    out_.c_text("etb").u16(id).u16(size);
    out_.u32(description.size()).text(description).u32(extra.size()).text(extra).c_text("ete");
    sizes_[id] = size;
    return *this;
}

EventlogBuilder& EventlogBuilder::declare(const std::vector<EventlogId>& ids) {
    for (const EventlogId id : ids) {
        const EventlogShape* shape = newest_eventlog_shape(static_cast<uint16_t>(id));
        if (shape != nullptr) declare(static_cast<uint16_t>(id), shape->size, shape->name);
    }
    return *this;
}

EventlogBuilder& EventlogBuilder::declare_all() {
    return declare(ghc_eventlog_ids());
}

EventlogBuilder& EventlogBuilder::end_header() {
    out_.text("hetehdredatb");
    return *this;
}

EventlogBuilder& EventlogBuilder::event(EventlogId id,
                                        uint64_t time_ns,
                                        const BigEndianBytes& payload) {
    const auto number = static_cast<uint16_t>(id);
    out_.u16(number).u64(time_ns);
    if (sizes_[number] == kEventlogVariableSize) out_.u16(payload.size());
    out_.text(payload.bytes());
    return *this;
}

EventlogBuilder& EventlogBuilder::block(uint16_t capability, uint64_t time_ns, uint32_t size) {
    return event(EventlogId::block_marker, time_ns,
                 BigEndianBytes().u32(size).u64(time_ns).u16(capability));
}

EventlogBuilder& EventlogBuilder::begin_block(uint16_t capability, uint64_t time_ns) {
    block_at_ = out_.size();
    return block(capability, time_ns, 0);
}

EventlogBuilder& EventlogBuilder::end_block() {
    constexpr size_t kSizeAt = 10;  // behind the marker's id and time
    out_.set_u32(block_at_ + kSizeAt, out_.size() - block_at_);
    return *this;
}

EventlogBuilder& EventlogBuilder::end() {
    out_.u16(0xFFFF);
    return *this;
}

EventlogBuilder& EventlogBuilder::raw(std::string_view bytes) {
    out_.text(bytes);
    return *this;
}

}  // namespace tracer::test
