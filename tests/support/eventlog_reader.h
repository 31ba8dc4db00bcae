// SPDX-License-Identifier: Apache-2.0
//
// A checked reader of GHC eventlogs: what a file holds, and everything that is wrong with it. It is
// written from the format and shares nothing with the writer, so that a misunderstanding on one
// side shows on the other.
//
//   header  "hdrb" "hetb" { "etb\0" u16 id, u16 size, u32 n, n bytes, u32 m, m bytes "ete\0" }
//           "hete" "hdre" "datb"
//   event   u16 id, u64 time, [u16 payload bytes, where the id is declared with size 0xFFFF],
//   payload end     u16 0xFFFF, may be missing, may be followed by more events
//
// All numbers are big-endian. EventlogReader takes the bytes in pieces and keeps none of them;
// parse_eventlog() keeps a whole file.
#pragma once

#include "support/eventlog_schema.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tracer::test {

// Numbers of all widths are uint64_t. Texts point into the bytes that were read.
using EventlogValue =
    std::variant<uint64_t, std::string_view, std::vector<uint32_t>, std::vector<std::string_view>>;

struct EventlogField {
    std::string_view name;
    EventlogValue value;
};

// One line of the header.
struct EventlogType {
    uint16_t id = 0;
    uint16_t size = 0;  // bytes of the payload, or kEventlogVariableSize
    std::string description;
    const EventlogShape* shape = nullptr;  // nullptr: events of this type are skipped
};

enum class EventlogDecoding : uint8_t {
    decoded,
    unknown,    // declared, but no event we know, or with a size that none of its forms has
    malformed,  // the payload ends before its fields do: fields up to there, the rest skipped
};

struct EventlogEvent {
    uint64_t offset = 0;  // of its id, from the begin of the file
    uint64_t bytes = 0;   // of the whole event
    uint64_t time_ns = 0;
    uint16_t id = 0;
    EventlogDecoding decoding = EventlogDecoding::decoded;
    // Of the block that it is in; absent in blocks of no capability and outside blocks. A block
    // marker has the capability of the block that it opens.
    std::optional<uint16_t> capability;
    bool is_in_block = false;
    std::string_view name;  // GHC's; "UNKNOWN" for what was skipped
    std::vector<EventlogField> fields;

    [[nodiscard]] bool is(EventlogId other) const { return id == static_cast<uint16_t>(other); }
    // nullptr: no such field, or one of another type.
    [[nodiscard]] const EventlogValue* find(std::string_view field) const;
    // 0 or empty: no such field, or one of another type.
    [[nodiscard]] uint64_t number(std::string_view field) const;
    [[nodiscard]] std::string_view text(std::string_view field) const;
};

// After which nothing more can be read.
enum class EventlogFault : uint8_t {
    none,
    not_an_eventlog,       // it does not begin with "hdrb"
    malformed_header,      // another marker than the grammar has at this place
    oversized_header,      // more than kEventlogHeaderBytesMax
    description_not_utf8,  // of a type; ghc-events refuses the file
    undeclared_event,      // an id that the header does not have: its size is unknown
    runaway_text,          // an event of unreliable length whose texts do not end
};
[[nodiscard]] std::string_view name_of(EventlogFault fault);

constexpr uint64_t kEventlogHeaderBytesMax = 4 << 20;

// What is odd but can be read over; 0 in every file that the tracer writes.
struct EventlogOddities {
    uint64_t repeated_types = 0;    // an id declared twice: the last counts
    uint64_t unknown_events = 0;    // see EventlogDecoding
    uint64_t malformed_events = 0;  // see EventlogDecoding
    uint64_t extra_bytes_events =
        0;  // payload longer than its fields, which then are not ours to know
    uint64_t ipe_length_faults =
        0;  // read to the end of their texts against their length (GHC 9.10.3)
    uint64_t texts_not_utf8 = 0;
    uint64_t outside_block_events = 0;
    uint64_t overrun_blocks = 0;     // an event reached past the end of its block
    uint64_t unfinished_blocks = 0;  // another marker, or the end, before the size was used up
    uint64_t after_end_events = 0;   // behind an end marker

    bool operator==(const EventlogOddities&) const = default;
};

// Reads events one after the other from bytes that the caller holds. Not thread safe.
class EventlogReader {
public:
    enum class Step : uint8_t {
        event,      // `event` was filled
        need_more,  // `bytes` ends inside something: call again with more behind it
        stopped,    // see fault()
    };

    // Takes the next event, block markers included, off the front of `bytes`, which must go on
    // where the call before left them. What `event` points to is in those bytes.
    [[nodiscard]] Step next(std::span<const std::byte>& bytes, EventlogEvent& event);

    // No more will come; `left` are the bytes that need_more left behind.
    void finish(std::span<const std::byte> left);

    [[nodiscard]] EventlogFault fault() const { return fault_; }
    // The id of the event that `undeclared_event` is about.
    [[nodiscard]] uint16_t undeclared_id() const { return undeclared_id_; }
    [[nodiscard]] uint64_t offset() const { return offset_; }
    [[nodiscard]] bool header_is_read() const { return state_ >= State::events; }
    [[nodiscard]] const std::vector<EventlogType>& types() const { return types_; }
    [[nodiscard]] const EventlogType* find_type(uint16_t id) const;
    [[nodiscard]] const EventlogOddities& oddities() const { return oddities_; }
    [[nodiscard]] uint64_t block_count() const { return block_count_; }
    [[nodiscard]] uint64_t open_ended_block_count() const { return open_ended_block_count_; }
    [[nodiscard]] uint64_t end_marker_count() const { return end_marker_count_; }
    // Of an unfinished last event or header; after finish().
    [[nodiscard]] uint64_t truncated_bytes() const { return truncated_bytes_; }

private:
    enum class State : uint8_t { header_begin, types, header_end, events, stopped };

    void stop(EventlogFault fault);
    [[nodiscard]] bool read_header(std::span<const std::byte>& bytes);
    [[nodiscard]] size_t read_type(std::span<const std::byte> bytes);
    void declare(EventlogType type);
    // The number of bytes it has; nothing: not all of it is there, or stopped.
    [[nodiscard]] std::optional<size_t> read_event(std::span<const std::byte> bytes,
                                                   EventlogEvent& event);
    [[nodiscard]] std::optional<size_t> read_self_delimiting(std::span<const std::byte> bytes,
                                                             const EventlogShape& shape,
                                                             size_t declared,
                                                             EventlogEvent& event);
    void read_payload(std::span<const std::byte> payload,
                      const EventlogShape& shape,
                      EventlogEvent& event);
    void count_texts(const EventlogEvent& event);
    void open_block(EventlogEvent& event);
    void leave_block();
    void attribute(EventlogEvent& event);

    State state_ = State::header_begin;
    EventlogFault fault_ = EventlogFault::none;
    uint16_t undeclared_id_ = 0;
    uint64_t offset_ = 0;
    std::vector<EventlogType> types_;
    std::vector<uint32_t> type_slots_;  // by id: 1 + index in types_, or 0
    EventlogOddities oddities_;
    uint64_t block_count_ = 0;
    uint64_t open_ended_block_count_ = 0;
    uint64_t end_marker_count_ = 0;
    uint64_t truncated_bytes_ = 0;
    // Of the current block.
    uint64_t block_bytes_left_ = 0;  // not counting end markers
    uint64_t block_end_marker_bytes_ = 0;
    bool block_is_open_ended_ = false;
    std::optional<uint16_t> block_capability_;
};

// A whole file. Events point into `bytes`, which moves along.
struct EventlogFile {
    EventlogFile() = default;
    ~EventlogFile() = default;
    EventlogFile(EventlogFile&&) = default;
    EventlogFile& operator=(EventlogFile&&) = default;
    EventlogFile(const EventlogFile&) = delete;  // the texts would stay behind
    EventlogFile& operator=(const EventlogFile&) = delete;

    std::vector<std::byte> bytes;
    EventlogReader reader;              // at the end of the file, or where it stopped
    std::vector<EventlogEvent> events;  // in the order of the file, with block markers

    // Read to the end, though perhaps cut, with nothing odd in it.
    [[nodiscard]] bool is_sound() const {
        return reader.fault() == EventlogFault::none && reader.oddities() == EventlogOddities{};
    }
};

// Never fails: what is wrong is said by `reader`.
[[nodiscard]] EventlogFile parse_eventlog(std::vector<std::byte> bytes);
[[nodiscard]] EventlogFile parse_eventlog(std::string_view bytes);

[[nodiscard]] Result<EventlogFile> load_eventlog(const std::string& path);

}  // namespace tracer::test
