// SPDX-License-Identifier: Apache-2.0
//
// The bit fields of the Fuchsia trace format, one named field each, and the headers of every record
// made of them. Quoted names are sections of the trace-format document: "Record header", ...
// Words are 64 bits, little-endian; reserved bits are zero.
//
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
inline constexpr size_t kRecordWordsMax = 4095;  // the size field's width
inline constexpr size_t kArgumentsMax = 15;
inline constexpr size_t kStringBytesMax = 32000;  // what the document asks writers to keep to
inline constexpr uint16_t kStringIndexMax = 0x7fff;
inline constexpr uint8_t kThreadSlotMax = 255;
inline constexpr uint16_t kCpuMax = 4095;  // trace processor aborts beyond (its cpu_tracker.h)
inline constexpr size_t kProviderNameBytesMax = 255;
inline constexpr size_t kBlobBytesMax = 0x7fff;  // the field; kRecordWordsMax allows 32,752

constexpr size_t words_of(size_t bytes) {
    return (bytes + kWordBytes - 1) / kWordBytes;
}

enum class RecordType : uint8_t {
    metadata = 0,
    initialization = 1,
    string = 2,
    thread = 3,
    event = 4,
    blob = 5,
    userspace_object = 6,
    kernel_object = 7,
    scheduling = 8,
    log = 9,
    large = 15,
};

enum class EventType : uint8_t {
    instant = 0,
    counter = 1,
    duration_begin = 2,
    duration_end = 3,
    duration_complete = 4,
    async_begin = 5,
    async_instant = 6,
    async_end = 7,
    flow_begin = 8,
    flow_step = 9,
    flow_end = 10,
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
    blob = 10,
};
// Words of an argument besides its header, an inline name and inline text or bytes.
constexpr size_t value_words(ArgumentType type) {
    switch (type) {
        case ArgumentType::int64:
        case ArgumentType::uint64:
        case ArgumentType::float64:
        case ArgumentType::pointer:
        case ArgumentType::koid:
            return 1;
        case ArgumentType::null:
        case ArgumentType::int32:
        case ArgumentType::uint32:
        case ArgumentType::string:
        case ArgumentType::boolean:
        case ArgumentType::blob:
            return 0;
    }
    return 0;
}

// What a kernel object is; numbers not named here are as good ("Kernel object record").
enum class ObjectType : uint8_t {
    process = 1,
    thread = 2,
    vmo = 3,
    channel = 4,
    event = 5,
    port = 6,
    interrupt = 9,
    pci_device = 11,
    log = 12,
    socket = 14,
    resource = 15,
};

// What the outgoing thread of a switch is then. `running` is one that could go on, so a preempted
// one.
enum class OutgoingState : uint8_t {
    created = 0,
    running = 1,
    suspended = 2,
    blocked = 3,
    dying = 4,
    dead = 5,
};

enum class BlobType : uint8_t {
    raw = 1,
    last_branch = 2,  // of Intel processors
    perfetto = 3,     // a serialized Trace; all blobs of a file are one stream, names are ignored
};

enum class ProviderEvent : uint8_t { buffer_full = 0 };

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

// "Metadata record".
enum class MetadataType : uint8_t {
    provider_info = 1,
    provider_section = 2,
    provider_event = 3,
    trace_info = 4,
};
constexpr uint64_t metadata_header(MetadataType type, size_t words) {
    using Type = Field<16, 4>;
    return record_header(RecordType::metadata, words) | Type::make(static_cast<uint64_t>(type));
}

// Trace info 0, the magic number: the file's first eight bytes.
constexpr uint64_t magic_word() {
    using Magic = Field<24, 32>;
    return metadata_header(MetadataType::trace_info, 1) | Magic::make(0x16547846);
}

using ProviderId = Field<20, 32>;
constexpr size_t provider_info_words(size_t name_bytes) {
    return 1 + words_of(name_bytes);
}
constexpr uint64_t provider_info_header(uint32_t id, size_t name_bytes) {
    using NameBytes = Field<52, 8>;
    return metadata_header(MetadataType::provider_info, provider_info_words(name_bytes)) |
           ProviderId::make(id) | NameBytes::make(name_bytes);
}
constexpr uint64_t provider_section_word(uint32_t id) {
    return metadata_header(MetadataType::provider_section, 1) | ProviderId::make(id);
}
constexpr uint64_t provider_event_word(uint32_t id, ProviderEvent event) {
    using Event = Field<52, 4>;
    return metadata_header(MetadataType::provider_event, 1) | ProviderId::make(id) |
           Event::make(static_cast<uint64_t>(event));
}

// The documented form has two words: this one, then ticks per second. Some writers add two: the
// tick at which the trace starts and the wall time then, in nanoseconds since the Unix epoch.
// Perfetto reads the first two of either; some readers refuse the longer form.
inline constexpr size_t kInitializationWords = 2;
inline constexpr size_t kInitializationWithBaseWords = 4;
constexpr uint64_t initialization_header(size_t words = kInitializationWords) {
    return record_header(RecordType::initialization, words);
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
// The last word: a counter's id, a complete duration's end, the id that ties async events or flows.
constexpr size_t trailing_words(EventType type) {
    switch (type) {
        case EventType::instant:
        case EventType::duration_begin:
        case EventType::duration_end:
            return 0;
        case EventType::counter:
        case EventType::duration_complete:
        case EventType::async_begin:
        case EventType::async_instant:
        case EventType::async_end:
        case EventType::flow_begin:
        case EventType::flow_step:
        case EventType::flow_end:
            return 1;
    }
    return 0;
}
// A thread that has no slot stands in the record itself: two kernel object ids, after the time.
constexpr size_t inline_thread_words(uint8_t thread_slot) {
    return thread_slot == 0 ? 2 : 0;
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
// In bytes. A record's size says that there are far fewer than the field allows.
constexpr uint64_t argument_payload_blob(size_t bytes) {
    using Payload = Field<32, 32>;
    return Payload::make(bytes);
}

// A blob is its header, an inline name, the bytes.
constexpr uint64_t blob_header(BlobType type, size_t words, uint16_t name, size_t bytes) {
    using Name = Field<16, 16>;
    using Bytes = Field<32, 15>;
    using Type = Field<48, 8>;
    return record_header(RecordType::blob, words) | Name::make(name) | Bytes::make(bytes) |
           Type::make(static_cast<uint64_t>(type));
}

// A userspace object is its header, a pointer, the process's kernel object id if it has no slot
// (one word, unlike in events), an inline name, arguments.
inline constexpr size_t kUserspaceObjectWords = 2;
constexpr uint64_t userspace_object_header(size_t words,
                                           uint8_t process_slot,
                                           uint16_t name,
                                           size_t arguments) {
    using Process = Field<16, 8>;
    using Name = Field<24, 16>;
    using Arguments = Field<40, 4>;
    return record_header(RecordType::userspace_object, words) | Process::make(process_slot) |
           Name::make(name) | Arguments::make(arguments);
}

// A kernel object is its header, its id, an inline name, arguments.
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

// "Scheduling record": the newer form (subtypes 1 and 2) has a 16-bit CPU and kernel object ids.
// A switch is its header, time, outgoing and incoming thread, arguments.
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

// A wakeup is its header, time, woken thread, arguments.
inline constexpr size_t kWakeupWords = 3;
constexpr uint64_t wakeup_header(size_t words, size_t arguments, uint16_t cpu) {
    using Arguments = Field<16, 4>;
    using Cpu = Field<20, 16>;
    using Subtype = Field<60, 4>;
    return record_header(RecordType::scheduling, words) | Arguments::make(arguments) |
           Cpu::make(cpu) | Subtype::make(2);
}

// A switch in the older form (subtype 0) is its header, time, and two words for each thread that
// has no slot, the outgoing one first.
inline constexpr size_t kLegacySwitchWords = 2;
struct LegacySide {
    uint8_t thread_slot;
    uint8_t priority;
};
constexpr uint64_t legacy_switch_header(
    size_t words, uint8_t cpu, OutgoingState state, LegacySide out, LegacySide in) {
    using Cpu = Field<16, 8>;
    using State = Field<24, 4>;
    using OutThread = Field<28, 8>;
    using InThread = Field<36, 8>;
    using OutPriority = Field<44, 8>;
    using InPriority = Field<52, 8>;
    return record_header(RecordType::scheduling, words) | Cpu::make(cpu) |
           State::make(static_cast<uint64_t>(state)) | OutThread::make(out.thread_slot) |
           InThread::make(in.thread_slot) | OutPriority::make(out.priority) |
           InPriority::make(in.priority);
}

// A log record is its header, time, two words for a thread without slot, the message.
inline constexpr size_t kLogWords = 2;
constexpr uint64_t log_header(size_t words, size_t message_bytes, uint8_t thread_slot) {
    using Bytes = Field<16, 15>;
    using Thread = Field<32, 8>;
    return record_header(RecordType::log, words) | Bytes::make(message_bytes) |
           Thread::make(thread_slot);
}

// "Large BLOB record": a size of 32 bits. Format 0 has a time, a thread and arguments, format 1
// only names; both have the payload's size in a word before it.
constexpr uint64_t large_blob_header(uint8_t format, size_t words) {
    using Type = Field<0, 4>;
    using Words = Field<4, 32>;
    using Format = Field<40, 4>;  // above it, in 36..39, the large type: 0 is the blob
    return Type::make(static_cast<uint64_t>(RecordType::large)) | Words::make(words) |
           Format::make(format);
}
constexpr uint64_t large_blob_refs(uint16_t category,
                                   uint16_t name,
                                   size_t arguments = 0,
                                   uint8_t thread_slot = 0) {
    using Category = Field<0, 16>;
    using Name = Field<16, 16>;
    using Arguments = Field<32, 4>;
    using Thread = Field<36, 8>;
    return Category::make(category) | Name::make(name) | Arguments::make(arguments) |
           Thread::make(thread_slot);
}

}  // namespace tracer::fxt
