// SPDX-License-Identifier: Apache-2.0
//
// Two passes over an event's parts: one that measures and looks for what the format cannot hold,
// one that writes. Parts without a fault, the usual, are copied as they are; the others are written
// through copy_as_utf8 into room that was bounded first. Relies on write/text.h; called by
// variable_event.cpp.
#include "write/eventlog/payload.h"

#include "write/text.h"

#include <algorithm>
#include <cstring>

namespace tracer::eventlog {
namespace {

using Part = BlockBuffer::Part;

constexpr size_t kStackDepthMax = 255;  // its count is one byte
constexpr size_t kRepairGrowth = 3;     // U+FFFD has three bytes and stands for at least one

std::string_view text_of(std::span<const std::byte> bytes) {
    // Characters are the one type that may look at any memory.
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_nul(std::string_view text) {
    return text.find('\0') != std::string_view::npos;
}

Fault fault_of_c_string(std::string_view text) {
    if (has_nul(text)) return Fault::nul_inside;
    return is_utf8(text) ? Fault::none : Fault::not_utf8;
}

PayloadPlan plan_part(const Part& part) {
    switch (part.field) {
        case Field::text:
            return {is_utf8(text_of(part.bytes)) ? Fault::none : Fault::not_utf8,
                    part.bytes.size()};
        case Field::c_string:
            return {fault_of_c_string(text_of(part.bytes)), part.bytes.size() + 1};
        case Field::strings: {
            PayloadPlan plan;
            for (const std::string_view text : part.list) {
                if (plan.fault == Fault::none) plan.fault = fault_of_c_string(text);
                plan.bytes += text.size() + 1;
            }
            return plan;
        }
        case Field::bytes:
            return {Fault::none, part.bytes.size()};
        case Field::u32_stack: {
            const size_t depth = part.bytes.size() / sizeof(uint32_t);
            return {depth <= kStackDepthMax ? Fault::none : Fault::stack_too_deep,
                    1 + part.bytes.size()};
        }
        case Field::u8:
        case Field::u16:
        case Field::u32:
        case Field::u64:
            break;
    }
    return {Fault::none, bytes_of(part.field)};
}

std::byte* write_integer(std::byte* at, const Part& part) {
    switch (part.field) {
        case Field::u8:
            return store_big(at, static_cast<uint8_t>(part.number));
        case Field::u16:
            return store_big(at, static_cast<uint16_t>(part.number));
        case Field::u32:
            return store_big(at, static_cast<uint32_t>(part.number));
        case Field::u64:
            return store_big(at, part.number);
        case Field::text:
        case Field::c_string:
        case Field::strings:
        case Field::bytes:
        case Field::u32_stack:
            break;
    }
    TR_CHECK(is_integer(part.field));
    return at;
}

std::byte* copy(std::byte* at, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    return at + bytes.size();
}

std::byte* write_stack(std::byte* at, std::span<const std::byte> ids, size_t depth) {
    at = store_big(at, static_cast<uint8_t>(depth));
    for (size_t index = 0; index < depth; ++index) {
        uint32_t id = 0;
        std::memcpy(&id, ids.data() + index * sizeof(id), sizeof(id));
        at = store_big(at, id);
    }
    return at;
}

// Writes repaired parts one after the other into room that always suffices for the fixed fields.
class RepairingWriter {
public:
    RepairingWriter(std::span<std::byte> room, size_t bytes_min)
        : room_(room), reserved_(bytes_min) {}

    void write(const Part& part) {
        reserved_ -= bytes_of(part.field);
        switch (part.field) {
            case Field::text:
                write_text(text_of(part.bytes));
                break;
            case Field::c_string:
                reserved_ += 1;
                write_until_nul(text_of(part.bytes));
                reserved_ -= 1;
                room_[used_++] = std::byte{0};
                break;
            case Field::strings:
                write_strings(part.list);
                break;
            case Field::bytes:
                write_bytes(part.bytes);
                break;
            case Field::u32_stack:
                write_cut_stack(part.bytes);
                break;
            case Field::u8:
            case Field::u16:
            case Field::u32:
            case Field::u64:
                move_to(write_integer(at(), part));
                break;
        }
    }

    [[nodiscard]] RepairedPayload result() const {
        RepairedPayload result = counts_;
        result.bytes = used_;
        return result;
    }

private:
    std::byte* at() { return room_.data() + used_; }
    void move_to(const std::byte* to) { used_ = static_cast<size_t>(to - room_.data()); }
    // What the part being written may take, so that those after it still find their fixed bytes.
    [[nodiscard]] size_t left() const { return room_.size() - used_ - reserved_; }

    bool write_text(std::string_view text) {
        const Utf8Copy copied = copy_as_utf8(room_.subspan(used_, left()), text);
        used_ += copied.written;
        counts_.cut += copied.is_whole ? 0 : 1;
        counts_.replaced += copied.is_repaired ? 1 : 0;
        return copied.is_whole;
    }

    // A C string ends at its first NUL, wherever it came from.
    bool write_until_nul(std::string_view text) {
        const size_t end = std::min(text.find('\0'), text.size());
        const bool is_whole = write_text(text.substr(0, end));
        if (is_whole && end < text.size()) counts_.cut += 1;
        return is_whole;
    }

    void write_strings(std::span<const std::string_view> list) {
        for (const std::string_view text : list) {
            if (left() == 0) {
                counts_.cut += 1;
                return;
            }
            reserved_ += 1;
            const bool is_whole = write_until_nul(text);
            reserved_ -= 1;
            room_[used_++] = std::byte{0};
            if (!is_whole) return;
        }
    }

    void write_bytes(std::span<const std::byte> bytes) {
        const size_t count = std::min(bytes.size(), left());
        move_to(copy(at(), bytes.first(count)));
        counts_.cut += count < bytes.size() ? 1 : 0;
    }

    // The innermost cost centres stand first, so the outermost are left out.
    void write_cut_stack(std::span<const std::byte> ids) {
        const size_t depth = ids.size() / sizeof(uint32_t);
        const size_t kept = std::min({depth, kStackDepthMax, (left() - 1) / sizeof(uint32_t)});
        move_to(write_stack(at(), ids, kept));
        counts_.cut += kept < depth ? 1 : 0;
    }

    std::span<std::byte> room_;
    size_t reserved_;  // fixed bytes of the parts that follow
    size_t used_ = 0;
    RepairedPayload counts_;
};

}  // namespace

size_t payload_bytes_max(size_t capacity_bytes) {
    return std::min(kPayloadBytesMax, capacity_bytes - kBlockMarkerBytes - kLossMessageBytesMax -
                                          kVariableEventHeaderBytes);
}

PayloadPlan plan_payload(Parts parts, size_t bytes_max) {
    PayloadPlan plan;
    for (const Part& part : parts) {
        const PayloadPlan one = plan_part(part);
        plan.bytes += one.bytes;
        if (plan.fault == Fault::none) plan.fault = one.fault;
    }
    if (plan.fault == Fault::none && plan.bytes > bytes_max) plan.fault = Fault::too_large;
    return plan;
}

size_t bytes_when_repaired(Parts parts, size_t bytes_max) {
    size_t sum = 0;
    for (const Part& part : parts) {
        sum += bytes_of(part.field) + part.bytes.size() * kRepairGrowth;
        for (const std::string_view text : part.list) sum += 1 + text.size() * kRepairGrowth;
    }
    return std::min(sum, bytes_max);
}

std::byte* write_payload(std::byte* at, Parts parts) {
    for (const Part& part : parts) {
        switch (part.field) {
            case Field::text:
            case Field::bytes:
                at = copy(at, part.bytes);
                break;
            case Field::c_string:
                at = store_big(copy(at, part.bytes), uint8_t{0});
                break;
            case Field::strings:
                for (const std::string_view text : part.list) {
                    at = store_big(copy(at, std::as_bytes(std::span(text))), uint8_t{0});
                }
                break;
            case Field::u32_stack:
                at = write_stack(at, part.bytes, part.bytes.size() / sizeof(uint32_t));
                break;
            case Field::u8:
            case Field::u16:
            case Field::u32:
            case Field::u64:
                at = write_integer(at, part);
                break;
        }
    }
    return at;
}

RepairedPayload write_repaired_payload(std::span<std::byte> room, Parts parts) {
    size_t bytes_min = 0;
    for (const Part& part : parts) bytes_min += bytes_of(part.field);
    TR_CHECK(bytes_min <= room.size());
    RepairingWriter writer(room, bytes_min);
    for (const Part& part : parts) writer.write(part);
    return writer.result();
}

}  // namespace tracer::eventlog
