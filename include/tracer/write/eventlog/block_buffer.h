// SPDX-License-Identifier: Apache-2.0
//
// The buffer of one capability. Events are encoded straight into it; when it is full, or on
// flush(), its content leaves as one block: a marker that tells its length, its end and whose it
// is, and the events in the order of their times. Posting an event that fits is inline, allocates
// nothing and calls nothing.
//
// Most programs want Poster (poster.h), which has a call for every event, or Log (log.h), which
// owns the buffers too.
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/eventlog/encode.h"
#include "tracer/write/eventlog/event_types.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace tracer::eventlog {

// Why an event was not written, or not as it was given. Every one is counted (BufferCounters), so
// a caller that cannot act on it may ignore it.
enum class Fault : uint8_t {
    none,
    closed,          // the buffer, or the log, is not open
    no_capability,   // the log has no capability of this number
    before_start,    // the time lies before the log's start
    backward_time,   // earlier than the buffer's last event, under BackwardTime::refuse
    undeclared,      // the log's dialect has no such event
    bad_value,       // a number that readers refuse: a stop status, a breakdown, a sample size
    too_large,       // payload over 65,535 bytes, or over what the buffer holds
    not_utf8,        // text that readers would stop at
    nul_inside,      // in a string that ends at a NUL
    stack_too_deep,  // more than 255 cost centres
    wrong_fields,    // of a post put together at run time: not those of the event's row
};
inline constexpr size_t kFaultCount = static_cast<size_t>(Fault::wrong_fields) + 1;

[[nodiscard]] std::string_view name_of(Fault fault);

// What to do with text and lists that the format cannot hold.
enum class Invalid : uint8_t {
    make_valid,  // cut between characters, replace what is not UTF-8 by U+FFFD, end at a NUL;
                 // counted
    refuse,      // write nothing and say why
};

// What to do with an event that is earlier than the one before it in the same buffer. Readers sort
// by time and rely on file order for equal times, so it is never written as it is.
enum class BackwardTime : uint8_t {
    raise,  // write it at the time of the one before; counted
    refuse,
};

struct BufferOptions {
    size_t capacity_bytes = 2 << 20;  // as GHC's; kCapacityBytesMin .. kCapacityBytesMax
    Dialect dialect = {};
    Invalid invalid = Invalid::make_valid;
    BackwardTime backward_time = BackwardTime::raise;
};

inline constexpr size_t kCapacityBytesMin = 4096;
inline constexpr size_t kCapacityBytesMax = size_t{1} << 30;

struct BufferCounters {
    uint64_t events = 0;            // handed over in blocks that were taken
    uint64_t blocks = 0;            // taken
    uint64_t bytes = 0;             // of those, markers included
    uint64_t lost_no_room = 0;      // events of blocks that found no room
    uint64_t lost_sink_failed = 0;  // events of blocks for a destination that has failed
    uint64_t lost_dropped = 0;      // events that drop() threw away
    uint64_t texts_cut = 0;
    uint64_t texts_repaired = 0;
    uint64_t times_raised = 0;
    std::array<uint64_t, kFaultCount> faults{};  // by Fault; [none] stays 0

    BufferCounters& operator+=(const BufferCounters& other);
};

// One block on its way out. Times are the log's: nanoseconds from its start.
struct BlockInfo {
    CapNo cap = kNoCapability;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    uint64_t events = 0;
};

enum class BlockFate : uint8_t { taken, no_room, sink_failed };

// Where blocks go. Called by whoever posts or flushes.
class BlockDestination {
public:
    virtual ~BlockDestination() = default;
    // `block` is a marker, already right, and its events; valid during the call. Taken whole or
    // not at all.
    [[nodiscard]] virtual BlockFate write_block(std::span<const std::byte> block,
                                                const BlockInfo& info) = 0;
};

// Parts of a variable event, for BlockBuffer::post.
struct Text {
    std::string_view text;
};
struct CString {
    std::string_view text;
};
struct Strings {
    std::span<const std::string_view> list;
};
struct Bytes {
    std::span<const std::byte> bytes;
};
struct Stack {
    std::span<const uint32_t> ids;
};

// Not thread safe: one owner at a time. The destination must outlive it.
class BlockBuffer {
public:
    // `when_closed`: what posts are answered while it is not open.
    BlockBuffer(CapNo cap,
                BlockDestination& destination,
                const BufferOptions& options,
                Fault when_closed = Fault::closed);
    ~BlockBuffer() = default;
    BlockBuffer(const BlockBuffer&) = delete;
    BlockBuffer& operator=(const BlockBuffer&) = delete;

    // Takes memory and begins. Events may be posted from `base_ns` on, which is the log's time 0,
    // on whatever clock the caller posts with.
    [[nodiscard]] Status open(uint64_t base_ns);
    // Hands over what is there; further posts are refused until open().
    void close();
    [[nodiscard]] bool is_open() const { return memory_ != nullptr; }

    // One event of fixed size at `clock_ns`, an absolute time of the clock of base_ns. The fields'
    // types must be those of the table's row.
    template <EventId id, typename... Fields>
    Fault post(uint64_t clock_ns, Fields... fields) {
        return post_as<kTypeOf<id>>(clock_ns, fields...);
    }
    // The same by a row: for the forms of older compilers (table::kCensusBefore910, ...).
    template <const EventType& type, typename... Fields>
    Fault post_as(uint64_t clock_ns, Fields... fields);

    // An event whose payload is in the format's bytes already, such as one that was read: nothing
    // about it is checked but its length. `type` is a form of this dialect.
    Fault post_encoded(const EventType& type,
                       uint64_t clock_ns,
                       std::span<const std::byte> payload);

    // An event as data, for callers that learn at run time what to post. Checked against the
    // table: unknown ids are `undeclared`, other fields `wrong_fields`. Meaningful numbers (a stop
    // status, a breakdown) are the caller's to check, as with post().
    struct Part;
    Fault post_list(EventId id, uint64_t clock_ns, std::span<const Part> parts);

    // Hands over a block, unless there is nothing to hand over. An event that lost blocks are told
    // by counts as something.
    void flush();
    // Forgets the events that no block has left with.
    void drop();

    // Flushes, then goes on with another capacity. On an error (no memory, out of range) the old
    // one stays.
    [[nodiscard]] Status set_capacity(size_t bytes);
    [[nodiscard]] size_t capacity_bytes() const { return options_.capacity_bytes; }
    [[nodiscard]] size_t used_bytes() const { return static_cast<size_t>(cursor_ - memory_.get()); }

    [[nodiscard]] CapNo cap() const { return cap_; }
    [[nodiscard]] const Dialect& dialect() const { return options_.dialect; }
    [[nodiscard]] const BufferCounters& counters() const { return counters_; }
    // Of the last event posted, else base_ns.
    [[nodiscard]] uint64_t last_ns() const { return last_ns_; }

    // Counts and returns: for callers that find a fault of their own.
    Fault refuse(Fault fault);

    // One field's value: `number` of the integers, `list` of strings, `bytes` of the others (of a
    // stack, u32 in host order).
    struct Part {
        Field field = Field::u8;
        uint64_t number = 0;
        std::span<const std::byte> bytes;
        std::span<const std::string_view> list;
    };

private:
    // Makes room for `bytes` and raises the time if the policy says so.
    Fault make_way(uint64_t& clock_ns, size_t bytes);
    void begin_block();
    void write_loss_message();
    Fault post_parts(EventId id, uint64_t clock_ns, std::span<const Part> parts);
    std::byte* write_event_header(EventId id, uint64_t clock_ns) const {
        return store_big(store_big(cursor_, id), clock_ns - base_ns_);
    }
    void advance(std::byte* to, uint64_t clock_ns) {
        cursor_ = to;
        last_ns_ = clock_ns;
        pending_events_ += 1;
    }

    std::byte* cursor_ = nullptr;  // the next event's place in memory_
    std::byte* end_ = nullptr;
    uint64_t last_ns_ = 0;
    uint64_t base_ns_ = 0;
    uint64_t pending_events_ = 0;  // in the block that is being filled
    BufferOptions options_;
    BlockDestination* destination_;
    CapNo cap_;
    Fault when_closed_;
    bool has_loss_message_ = false;  // the block being filled begins with one
    uint64_t untold_ = 0;            // events lost that no taken block tells of
    uint64_t told_ = 0;              // of those, in the block being filled
    std::unique_ptr<std::byte[]> memory_;
    BufferCounters counters_;
};

// What a C++ type is in a payload.
template <typename T>
constexpr Field field_of() {
    if constexpr (std::is_enum_v<T>) {
        return field_of<std::make_unsigned_t<std::underlying_type_t<T>>>();
    } else if constexpr (std::same_as<T, Text>) {
        return Field::text;
    } else if constexpr (std::same_as<T, CString>) {
        return Field::c_string;
    } else if constexpr (std::same_as<T, Strings>) {
        return Field::strings;
    } else if constexpr (std::same_as<T, Bytes>) {
        return Field::bytes;
    } else if constexpr (std::same_as<T, Stack>) {
        return Field::u32_stack;
    } else {
        static_assert(std::unsigned_integral<T> && !std::same_as<T, bool>);
        if constexpr (sizeof(T) == 1) return Field::u8;
        if constexpr (sizeof(T) == 2) return Field::u16;
        if constexpr (sizeof(T) == 4) return Field::u32;
        return Field::u64;
    }
}

template <typename... Fields>
constexpr bool fits(const Shape& shape) {
    if (shape.size() != sizeof...(Fields)) return false;
    size_t index = 0;
    return (... && (shape[index++] == field_of<Fields>()));
}

template <typename T>
BlockBuffer::Part make_part(const T& value) {
    BlockBuffer::Part part;
    part.field = field_of<T>();
    if constexpr (std::same_as<T, Text> || std::same_as<T, CString>) {
        part.bytes = std::as_bytes(std::span(value.text));
    } else if constexpr (std::same_as<T, Strings>) {
        part.list = value.list;
    } else if constexpr (std::same_as<T, Bytes>) {
        part.bytes = value.bytes;
    } else if constexpr (std::same_as<T, Stack>) {
        part.bytes = std::as_bytes(value.ids);
    } else {
        part.number = static_cast<uint64_t>(value);
    }
    return part;
}

template <const EventType& type, typename... Fields>
Fault BlockBuffer::post_as(uint64_t clock_ns, Fields... fields) {
    static_assert(fits<Fields...>(type.shape), "the event's fields are others");
    // What 9.0 declares is in every dialect.
    if constexpr (type.since != Since::ghc_9_0) {
        if (!is_declared(type, options_.dialect)) return refuse(Fault::undeclared);
    }
    if constexpr (!type.shape.is_fixed()) {
        const std::array<Part, sizeof...(Fields)> parts{make_part(fields)...};
        return post_parts(type.id, clock_ns, parts);
    } else {
        constexpr size_t bytes = kEventHeaderBytes + type.size;
        if (clock_ns < last_ns_ || static_cast<size_t>(end_ - cursor_) < bytes) [[unlikely]] {
            uint64_t raised_ns = clock_ns;  // of its own, so that clock_ns may stay in a register
            const Fault fault = make_way(raised_ns, bytes);
            if (fault != Fault::none) return fault;
            clock_ns = raised_ns;
        }
        std::byte* at = write_event_header(type.id, clock_ns);
        ((at = store_big(at, fields)), ...);
        advance(at, clock_ns);
        return Fault::none;
    }
}

}  // namespace tracer::eventlog
