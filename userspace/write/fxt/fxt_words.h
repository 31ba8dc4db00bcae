// SPDX-License-Identifier: Apache-2.0
//
// The bit fields of the Fuchsia trace format, one named field each, and the headers made of them.
// Section numbers are those of the trace-format document: "Record header", "Event record", ...
// A value too wide for its field is a bug of the caller (asserted): nothing here masks silently
// what a reader would then take for something else.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace tracer::fxt {

template <unsigned low, unsigned width>
struct Field {
    static_assert(width > 0 && low + width <= 64 && width < 64);
    static constexpr uint64_t kMax = (uint64_t{1} << width) - 1;
    static constexpr uint64_t make(uint64_t value) {
        assert(value <= kMax);
        return value << low;
    }
};

inline constexpr size_t kWordBytes = 8;
inline constexpr size_t kRecordWordsMax = 4095;  // the size field's width; never type 15 instead
inline constexpr size_t kArgumentsMax = 15;
inline constexpr size_t kStringBytesMax = 32000;  // what the document asks writers to keep to
inline constexpr uint16_t kStringIndexMax = 0x7fff;
inline constexpr uint8_t kThreadSlotMax = 255;
inline constexpr uint16_t kCpuMax = 4095;  // trace processor aborts beyond (its cpu_tracker.h)

constexpr size_t words_of(size_t bytes) {
    return (bytes + kWordBytes - 1) / kWordBytes;
}

enum class RecordType : uint8_t {
    metadata = 0,
    initialization = 1,
    string = 2,
    thread = 3,
    event = 4,
    kernel_object = 7,
    scheduling = 8,
};

enum class EventType : uint8_t {
    instant = 0,
    counter = 1,
    duration_begin = 2,
    duration_end = 3,
    duration_complete = 4,
};

enum class ArgumentType : uint8_t {
    null = 0,
    int32 = 1,
    uint32 = 2,
    int64 = 3,
    uint64 = 4,
    float64 = 5,
    string = 6,
    pointer = 7,
    koid = 8,
    boolean = 9,
};

enum class ObjectType : uint8_t { process = 1, thread = 2 };

// What the outgoing thread of a switch is then (the trace format's numbers).
enum class OutgoingState : uint8_t { running = 1, suspended = 2, blocked = 3, dead = 5 };

constexpr uint64_t record_header(RecordType type, size_t words) {
    using Type = Field<0, 4>;
    using Words = Field<4, 12>;
    return Type::make(static_cast<uint64_t>(type)) | Words::make(words);
}

// A string reference: 0 is the empty string, 1..0x7fff an index, and with the top bit set the
// length of text that stands in the record itself.
inline constexpr uint16_t kInlineBit = 0x8000;
constexpr uint16_t inline_ref(size_t bytes) {
    assert(bytes <= kStringIndexMax);
    return static_cast<uint16_t>(kInlineBit | bytes);
}
constexpr bool is_inline(uint16_t ref) {
    return (ref & kInlineBit) != 0;
}
// Words of text that the reference makes the record carry.
constexpr size_t inline_words(uint16_t ref) {
    return is_inline(ref) ? words_of(ref & kStringIndexMax) : 0;
}

// Metadata, trace info 0: the file's first eight bytes.
constexpr uint64_t magic_word() {
    using MetadataType = Field<16, 4>;
    using Magic = Field<24, 32>;
    return record_header(RecordType::metadata, 1) | MetadataType::make(4) | Magic::make(0x16547846);
}

constexpr uint64_t provider_info_header(uint32_t id, size_t name_bytes) {
    using MetadataType = Field<16, 4>;
    using Id = Field<20, 32>;
    using NameBytes = Field<52, 8>;
    return record_header(RecordType::metadata, 1 + words_of(name_bytes)) | MetadataType::make(1) |
           Id::make(id) | NameBytes::make(name_bytes);
}

// The documented form has two words: this one, then ticks per second.
inline constexpr size_t kInitializationWords = 2;
constexpr uint64_t initialization_header() {
    return record_header(RecordType::initialization, kInitializationWords);
}

constexpr size_t string_record_words(size_t bytes) {
    return 1 + words_of(bytes);
}
constexpr uint64_t string_record_header(uint16_t index, size_t bytes) {
    using Index = Field<16, 15>;
    using Bytes = Field<32, 15>;
    return record_header(RecordType::string, string_record_words(bytes)) | Index::make(index) |
           Bytes::make(bytes);
}

inline constexpr size_t kThreadRecordWords = 3;
constexpr uint64_t thread_record_header(uint8_t slot) {
    using Slot = Field<16, 8>;
    return record_header(RecordType::thread, kThreadRecordWords) | Slot::make(slot);
}

// The part of an event's header that is the same for every event of one point.
constexpr uint64_t event_names(uint16_t category, uint16_t name) {
    using Category = Field<32, 16>;
    using Name = Field<48, 16>;
    return Category::make(category) | Name::make(name);
}
// An event is its header, the time, inline names, arguments, and for some types one word more.
inline constexpr size_t kEventWords = 2;
constexpr size_t trailing_words(EventType type) {
    return type == EventType::counter || type == EventType::duration_complete ? 1 : 0;
}
// What is known of an event's header before the event: all but its type and thread.
constexpr uint64_t event_header_of_point(size_t words, size_t arguments, uint64_t names) {
    using Arguments = Field<20, 4>;
    return record_header(RecordType::event, words) | Arguments::make(arguments) | names;
}
constexpr uint64_t event_type_and_thread(EventType type, uint8_t thread_slot) {
    using Type = Field<16, 4>;
    using Thread = Field<24, 8>;
    return Type::make(static_cast<uint64_t>(type)) | Thread::make(thread_slot);
}
constexpr uint64_t event_header(
    EventType type, size_t words, size_t arguments, uint8_t thread_slot, uint64_t names) {
    return event_header_of_point(words, arguments, names) |
           event_type_and_thread(type, thread_slot);
}

constexpr uint64_t argument_header(ArgumentType type, size_t words, uint16_t name) {
    using Type = Field<0, 4>;
    using Words = Field<4, 12>;
    using Name = Field<16, 16>;
    return Type::make(static_cast<uint64_t>(type)) | Words::make(words) | Name::make(name);
}
// What the upper half of an argument's header holds for the types that need no word more.
constexpr uint64_t argument_payload_32(uint32_t value) {
    using Payload = Field<32, 32>;
    return Payload::make(value);
}
constexpr uint64_t argument_payload_bool(bool value) {
    using Payload = Field<32, 1>;
    return Payload::make(value ? 1 : 0);
}
constexpr uint64_t argument_payload_string(uint16_t ref) {
    using Payload = Field<32, 16>;
    return Payload::make(ref);
}

inline constexpr size_t kKernelObjectWords = 2;
constexpr uint64_t kernel_object_header(ObjectType type,
                                        size_t words,
                                        uint16_t name,
                                        size_t arguments) {
    using Type = Field<16, 8>;
    using Name = Field<24, 16>;
    using Arguments = Field<40, 4>;
    return record_header(RecordType::kernel_object, words) |
           Type::make(static_cast<uint64_t>(type)) | Name::make(name) | Arguments::make(arguments);
}

// Scheduling records in their newer form (subtypes 1 and 2): 16-bit CPU, kernel object ids.
inline constexpr size_t kSwitchWords = 4;
constexpr uint64_t switch_header(size_t words,
                                 size_t arguments,
                                 uint16_t cpu,
                                 OutgoingState state) {
    using Arguments = Field<16, 4>;
    using Cpu = Field<20, 16>;
    using State = Field<36, 4>;
    using Subtype = Field<60, 4>;
    return record_header(RecordType::scheduling, words) | Arguments::make(arguments) |
           Cpu::make(cpu) | State::make(static_cast<uint64_t>(state)) | Subtype::make(1);
}

inline constexpr size_t kWakeupWords = 3;
constexpr uint64_t wakeup_header(size_t words, size_t arguments, uint16_t cpu) {
    using Arguments = Field<16, 4>;
    using Cpu = Field<20, 16>;
    using Subtype = Field<60, 4>;
    return record_header(RecordType::scheduling, words) | Arguments::make(arguments) |
           Cpu::make(cpu) | Subtype::make(2);
}

}  // namespace tracer::fxt
