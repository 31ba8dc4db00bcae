// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventlog_schema.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer::test {

// Big-endian bytes, put together by hand.
class BigEndianBytes {
public:
    BigEndianBytes& u8(uint64_t value) { return number(value, 1); }
    BigEndianBytes& u16(uint64_t value) { return number(value, 2); }
    BigEndianBytes& u32(uint64_t value) { return number(value, 4); }
    BigEndianBytes& u64(uint64_t value) { return number(value, 8); }
    BigEndianBytes& text(std::string_view text);
    BigEndianBytes& c_text(std::string_view text);  // with a NUL behind it
    // Over what is there.
    void set_u32(size_t position, uint64_t value);

    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    [[nodiscard]] size_t size() const { return bytes_.size(); }

private:
    BigEndianBytes& number(uint64_t value, size_t width);

    std::string bytes_;
};

// Eventlogs for tests of readers, sound ones and others: it writes what it is told and checks
// nothing. Not the tracer's writer, which would refuse most of what these tests need.
class EventlogBuilder {
public:
    EventlogBuilder();  // "hdrb" "hetb"

    EventlogBuilder& declare(uint16_t id,
                             uint16_t size,
                             std::string_view description = "x",
                             std::string_view extra = {});
    // With the size of its newest form.
    EventlogBuilder& declare(const std::vector<EventlogId>& ids);
    EventlogBuilder& declare_all();
    EventlogBuilder& end_header();

    // With the length of the payload before it where the id was last declared variable.
    EventlogBuilder& event(EventlogId id, uint64_t time_ns, const BigEndianBytes& payload = {});
    // A marker; `size` counts from its first byte.
    EventlogBuilder& block(uint16_t capability, uint64_t time_ns, uint32_t size);
    // A marker whose size is what end_block() finds.
    EventlogBuilder& begin_block(uint16_t capability, uint64_t time_ns);
    EventlogBuilder& end_block();
    EventlogBuilder& end();  // the end marker
    EventlogBuilder& raw(std::string_view bytes);

    [[nodiscard]] const std::string& bytes() const { return out_.bytes(); }
    [[nodiscard]] size_t size() const { return out_.size(); }

private:
    BigEndianBytes out_;
    size_t block_at_ = 0;
    std::unordered_map<uint16_t, uint16_t> sizes_;
};

}  // namespace tracer::test
