// SPDX-License-Identifier: Apache-2.0
//
// The reader of eventlogs. An input is either taken as a file, or as the decisions of a generator
// that writes a sound header, blocks and events, and then damages bytes of it. What must hold: an
// undamaged log is read whole; events stand one behind the other, inside the file; pieces of any
// size are read as the whole is; and every field can be shown.
#include "support/eventlog_check.h"
#include "support/eventlog_random.h"
#include "support/eventlog_text.h"

#include <algorithm>

namespace tracer::test {
namespace {

// Input byte by byte; zeros when there is no more.
class Decisions {
public:
    Decisions(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    [[nodiscard]] bool is_over() const { return at_ == size_; }
    uint64_t byte() { return is_over() ? 0 : data_[at_++]; }
    uint64_t number() { return byte() << 8 | byte(); }
    // As the generator of payloads wants it: small decisions cost one byte.
    uint64_t wide() { return byte() * 0x0101010101010101; }

private:
    const uint8_t* data_;
    size_t size_;
    size_t at_ = 0;
};

struct Generated {
    std::string bytes;
    size_t event_count = 0;
    bool is_damaged = false;
};

constexpr size_t kEventsMax = 400;

void add_events(EventlogBuilder& builder, Decisions& decisions, size_t& count) {
    const std::vector<EventlogId> ids = ghc_eventlog_ids();
    uint64_t time = 0;
    while (!decisions.is_over() && count < kEventsMax) {
        time += decisions.byte();
        const uint64_t choice = decisions.byte();
        if (choice >= 250) break;
        const EventlogId id = ids.at(choice % ids.size());
        if (id == EventlogId::block_marker) {
            const uint64_t size = decisions.byte();
            builder.block(static_cast<uint16_t>(decisions.byte() % 3), time,
                          static_cast<uint32_t>(size % 2 == 0 ? 0 : 24 + size));
        } else {
            const EventlogShape* shape = newest_eventlog_shape(static_cast<uint16_t>(id));
            builder.event(id, time,
                          random_eventlog_payload(*shape, [&] { return decisions.wide(); }));
        }
        count += 1;
    }
}

Generated generate(Decisions& decisions) {
    Generated log;
    EventlogBuilder builder;
    builder.declare_all();
    // Other sizes for some: larger, smaller, variable for fixed and the reverse.
    for (uint64_t count = decisions.byte() % 4; count > 0; --count) {
        const auto id = static_cast<uint16_t>(decisions.byte());
        builder.declare(
            id, static_cast<uint16_t>(decisions.byte() % 2 == 0 ? 0xFFFF : decisions.byte()));
        log.is_damaged = true;
    }
    builder.end_header();
    const size_t header_bytes = builder.size();
    add_events(builder, decisions, log.event_count);
    log.bytes = builder.end().bytes();
    // What is left of the input falls on the events, or now and then on the header.
    for (int count = 0; count < 64 && !decisions.is_over(); ++count) {
        log.is_damaged = true;
        const size_t first = decisions.byte() % 8 == 0 ? 0 : header_bytes;
        const size_t at = first + decisions.number() % (log.bytes.size() - first);
        log.bytes[at] = static_cast<char>(decisions.byte());
    }
    if (log.is_damaged && decisions.byte() % 2 == 1)
        log.bytes.resize(decisions.number() % log.bytes.size());
    return log;
}

void check_order(const EventlogFile& file) {
    uint64_t end = 0;
    for (const auto& event : file.events) {
        TR_CHECK(event.offset >= end);
        TR_CHECK(event.bytes >= 10);
        end = event.offset + event.bytes;
    }
    TR_CHECK(end <= file.reader.offset());
    TR_CHECK(file.reader.offset() + file.reader.truncated_bytes() <= file.bytes.size());
    if (file.reader.fault() == EventlogFault::none) {
        TR_CHECK(file.reader.offset() + file.reader.truncated_bytes() == file.bytes.size());
    }
}

// Again, the bytes coming `step` at a time, each window a copy of its own so that AddressSanitizer
// sees a read past its end.
void check_pieces(const EventlogFile& file, size_t step) {
    EventlogReader reader;
    EventlogEvent event;
    std::vector<std::byte> window;
    std::span<const std::byte> rest = file.bytes;
    size_t count = 0;
    for (;;) {
        std::span<const std::byte> left = window;
        auto outcome = reader.next(left, event);
        for (; outcome == EventlogReader::Step::event; outcome = reader.next(left, event)) {
            TR_CHECK(count < file.events.size());
            TR_CHECK(fields_text(event) == fields_text(file.events[count]));
            TR_CHECK(event.capability == file.events[count].capability);
            count += 1;
        }
        if (outcome == EventlogReader::Step::stopped || rest.empty()) {
            reader.finish(left);
            break;
        }
        std::vector<std::byte> next(left.begin(), left.end());
        const auto piece = rest.first(std::min(step, rest.size()));
        next.insert(next.end(), piece.begin(), piece.end());
        rest = rest.subspan(piece.size());
        window = std::move(next);
    }
    TR_CHECK(count == file.events.size());
    TR_CHECK(reader.fault() == file.reader.fault());
    TR_CHECK(reader.offset() == file.reader.offset());
    TR_CHECK(reader.oddities() == file.reader.oddities());
}

}  // namespace
}  // namespace tracer::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tracer::test;
    if (size < 2) return 0;
    EventlogFile file;
    if (data[0] % 2 == 0) {
        const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
        file = parse_eventlog(std::vector<std::byte>(bytes.begin(), bytes.end()));
    } else {
        Decisions decisions(data + 2, size - 2);
        const Generated log = generate(decisions);
        file = parse_eventlog(log.bytes);
        if (!log.is_damaged) {
            TR_CHECK(file.reader.fault() == EventlogFault::none);
            TR_CHECK(file.reader.truncated_bytes() == 0);
            TR_CHECK(file.events.size() == log.event_count);
            TR_CHECK(file.reader.oddities().malformed_events == 0);
            TR_CHECK(file.reader.oddities().texts_not_utf8 == 0);
        }
    }
    check_order(file);
    // No more than 64 pieces: at each, reading starts over in what is left.
    check_pieces(file, 1 + data[1] + file.bytes.size() / 64);
    static_cast<void>(event_lines(file));
    static_cast<void>(problems_text(file));
    static_cast<void>(check_eventlog(file));
    return 0;
}
