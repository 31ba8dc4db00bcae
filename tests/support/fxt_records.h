// SPDX-License-Identifier: Apache-2.0
//
// Every record of a Fuchsia trace as a value: what a file holds, with the types it has there. Made
// by fxt_parser, given out by fxt_stream one at a time and kept by fxt_reader for a whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace tracer::test {

struct FxtPointer {
    uint64_t address = 0;
    bool operator==(const FxtPointer&) const = default;
};
struct FxtKoid {
    uint64_t id = 0;
    bool operator==(const FxtKoid&) const = default;
};
struct FxtBlob {
    std::string_view data;
    bool operator==(const FxtBlob&) const = default;
};

// One argument's value with the type it has in the file; monostate is null.
using FxtValue = std::variant<std::monostate,
                              int32_t,
                              uint32_t,
                              int64_t,
                              uint64_t,
                              double,
                              std::string_view,
                              FxtPointer,
                              FxtKoid,
                              bool,
                              FxtBlob>;

struct FxtArgument {
    std::string_view name;
    FxtValue value;
    bool operator==(const FxtArgument&) const = default;
};

// Where a record's arguments are: in FxtRecordView::arguments or FxtFile::arguments.
struct FxtArgumentRange {
    size_t first = 0;
    size_t count = 0;
    bool operator==(const FxtArgumentRange&) const = default;
};

struct FxtMagic {
    bool operator==(const FxtMagic&) const = default;
};

struct FxtProvider {
    uint32_t id = 0;
    std::string_view name;
    bool operator==(const FxtProvider&) const = default;
};

struct FxtProviderSection {
    uint32_t id = 0;
    bool operator==(const FxtProviderSection&) const = default;
};

struct FxtProviderEvent {
    uint32_t id = 0;
    uint8_t event = 0;  // 0: its buffer was full, records are probably lost
    bool operator==(const FxtProviderEvent&) const = default;
};

struct FxtInitialization {
    // The four-word form, which some writers outside Fuchsia use: what the wall clock showed.
    struct Base {
        uint64_t tick = 0;
        int64_t unix_ns = 0;
        bool operator==(const Base&) const = default;
    };
    uint64_t ticks_per_second = 0;
    std::optional<Base> base;
    bool operator==(const FxtInitialization&) const = default;
};

struct FxtString {
    uint16_t index = 0;
    std::string_view text;
    bool operator==(const FxtString&) const = default;
};

struct FxtThread {
    uint8_t index = 0;
    uint64_t pid = 0;
    uint64_t tid = 0;
    bool operator==(const FxtThread&) const = default;
};

enum class FxtEventType : uint8_t {
    instant,
    counter,
    duration_begin,
    duration_end,
    duration_complete,
    async_begin,
    async_instant,
    async_end,
    flow_begin,
    flow_step,
    flow_end,
};

struct FxtEvent {
    uint64_t time = 0;  // all times are in ticks
    FxtEventType type{};
    uint64_t last_word = 0;  // counter id, end time, async or flow id
    std::string_view category;
    std::string_view name;
    uint64_t pid = 0;
    uint64_t tid = 0;
    FxtArgumentRange arguments;
    bool operator==(const FxtEvent&) const = default;
};

inline constexpr uint8_t kFxtBlobRaw = 1;
inline constexpr uint8_t kFxtBlobLastBranch = 2;
inline constexpr uint8_t kFxtBlobPerfetto = 3;

struct FxtBlobRecord {
    uint8_t type = 0;
    std::string_view name;
    std::string_view data;
    bool operator==(const FxtBlobRecord&) const = default;
};

struct FxtUserspaceObject {
    uint64_t pointer = 0;
    uint64_t pid = 0;
    std::string_view name;
    FxtArgumentRange arguments;
    bool operator==(const FxtUserspaceObject&) const = default;
};

inline constexpr uint8_t kFxtObjectProcess = 1;
inline constexpr uint8_t kFxtObjectThread = 2;

struct FxtKernelObject {
    uint8_t type = 0;
    uint64_t koid = 0;
    std::string_view name;
    FxtArgumentRange arguments;
    bool operator==(const FxtKernelObject&) const = default;
};

struct FxtSwitch {
    uint64_t time = 0;
    uint16_t cpu = 0;
    uint8_t out_state = 0;
    uint64_t out_tid = 0;
    uint64_t in_tid = 0;
    FxtArgumentRange arguments;
    bool operator==(const FxtSwitch&) const = default;
};

struct FxtWakeup {
    uint64_t time = 0;
    uint16_t cpu = 0;
    uint64_t tid = 0;
    FxtArgumentRange arguments;
    bool operator==(const FxtWakeup&) const = default;
};

struct FxtLegacySwitch {
    uint64_t time = 0;
    uint8_t cpu = 0;
    uint8_t out_state = 0;
    uint64_t out_pid = 0;
    uint64_t out_tid = 0;
    uint64_t in_pid = 0;
    uint64_t in_tid = 0;
    uint8_t out_priority = 0;
    uint8_t in_priority = 0;
    bool operator==(const FxtLegacySwitch&) const = default;
};

struct FxtLog {
    uint64_t time = 0;
    uint64_t pid = 0;
    uint64_t tid = 0;
    std::string_view message;
    bool operator==(const FxtLog&) const = default;
};

struct FxtLargeBlob {
    // Format 0: the blob is an event of a thread. Format 1 has a category and a name only.
    struct Event {
        uint64_t time = 0;
        uint64_t pid = 0;
        uint64_t tid = 0;
        bool operator==(const Event&) const = default;
    };
    std::string_view category;
    std::string_view name;
    std::optional<Event> event;
    FxtArgumentRange arguments;
    std::string_view data;
    bool operator==(const FxtLargeBlob&) const = default;
};

enum class FxtSkipReason : uint8_t {
    profiler,      // a record type whose document and readers disagree; no fault
    unknown_type,  // of record, metadata, trace information, event, scheduling or large record
    damaged,       // the record is too short for what it says it holds
    too_large,     // a large record beyond FxtLimits::record_bytes_max
};

struct FxtSkipped {
    uint8_t record_type = 0;
    FxtSkipReason reason{};
    bool operator==(const FxtSkipped&) const = default;
};

// The order of FxtRecordKind.
using FxtPayload = std::variant<FxtMagic,
                                FxtProvider,
                                FxtProviderSection,
                                FxtProviderEvent,
                                FxtInitialization,
                                FxtString,
                                FxtThread,
                                FxtEvent,
                                FxtBlobRecord,
                                FxtUserspaceObject,
                                FxtKernelObject,
                                FxtSwitch,
                                FxtWakeup,
                                FxtLegacySwitch,
                                FxtLog,
                                FxtLargeBlob,
                                FxtSkipped>;

enum class FxtRecordKind : uint8_t {
    magic,
    provider_info,
    provider_section,
    provider_event,
    initialization,
    string,
    thread,
    event,
    blob,
    userspace_object,
    kernel_object,
    context_switch,
    wakeup,
    legacy_switch,
    log,
    large_blob,
    skipped,
};
inline constexpr size_t kFxtRecordKinds = std::variant_size_v<FxtPayload>;
static_assert(static_cast<size_t>(FxtRecordKind::skipped) + 1 == kFxtRecordKinds);

// A record as it is handed out. All texts and arguments are borrowed: from the bytes that were fed
// and from the string table, so they end with the call that gave them.
struct FxtRecordView {
    uint64_t offset = 0;  // bytes from the beginning of the stream
    uint64_t words = 0;
    uint32_t provider = 0;  // whose tables and tick rate hold here
    FxtPayload payload;
    std::span<const FxtArgument> arguments;

    [[nodiscard]] FxtRecordKind kind() const { return FxtRecordKind(payload.index()); }
};

}  // namespace tracer::test
