// SPDX-License-Identifier: Apache-2.0
//
// The buffers behind the writer, one a capability and a global one, and the way of their blocks to
// the sink. All buffers leave together, as a round: a reader that finds one capability's block
// would otherwise miss what led to it in another's (a thread that was created there), and a log
// that ends early, because its recorder was killed, would not be valid. A round of up to
// kReserveBytesMax is one reservation, which sinks take whole or not at all.
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/eventlog/block_buffer.h"
#include "tracer/write/eventlog/poster.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace tracer::eventlog {

// Times are nanoseconds from the log's begin. When the sink has no room, a round waits, whole, and
// the next one fills; nothing that was posted is ever lost but by drop_waiting().
class WriterBlocks final : public BlockDestination {
public:
    explicit WriterBlocks(ByteSink& sink) : sink_(&sink), global_(kNoCapability, *this, kOptions) {}

    // A header, and empty buffers for the global block and all capabilities so far. What is in the
    // buffers must have left (end_log).
    [[nodiscard]] Status begin_log();
    // One more, with the next number.
    [[nodiscard]] Status add_cap();
    // Closes the round, then the end marker.
    void end_log();

    // Before an event of at most `bytes`, whatever it is made of: writes a round out if this one
    // would become too large or too old. False: no room, and nothing may be posted.
    [[nodiscard]] bool make_room(uint64_t ns, size_t bytes);

    // `call` posts one event through the Poster it is given, into the buffer of `cap` or, if that
    // is kNoCapability, the global one.
    template <typename Call>
    void post(CapNo cap, Call call) {
        BlockBuffer& buffer = cap == kNoCapability ? global_ : caps_[cap];
        const size_t before = buffer.used_bytes();
        const Fault fault = call(Poster(buffer));
        TR_CHECK(fault == Fault::none);  // texts are repaired, and times raised, by policy
        const size_t after = buffer.used_bytes();
        round_bytes_ += after > before ? after - before : after;
        if (before == kBlockMarkerBytes) round_bytes_ += kBlockMarkerBytes;
    }

    [[nodiscard]] size_t cap_count() const { return caps_.size(); }
    // Of the newest event in the capability's buffer since the log began; 0: none.
    [[nodiscard]] uint64_t last_ns(CapNo cap) const { return caps_[cap].last_ns(); }

    // Closes the round and hands the sink all it takes. False: some has to wait.
    [[nodiscard]] bool write_out();

    // One more of the model's events is in the round.
    void count_event() { round_events_ += 1; }
    // Of the model's events counted, those that the sink has not taken yet.
    [[nodiscard]] uint64_t unwritten_events() const { return waiting_events_ + round_events_; }
    // Gives up what waits for room.
    void drop_waiting();

    void set_sink(ByteSink& sink) { sink_ = &sink; }

    // The longest text of one event: alone in its block it fills a reservation.
    static constexpr size_t kTextBytesMax =
        ByteSink::kReserveBytesMax - kBlockMarkerBytes - kVariableEventHeaderBytes - 64;

private:
    static constexpr BufferOptions kOptions{.capacity_bytes = ByteSink::kReserveBytesMax};

    [[nodiscard]] BlockFate write_block(std::span<const std::byte> block,
                                        const BlockInfo& info) override;
    void add_piece(std::span<const std::byte> bytes);
    void close_round();
    [[nodiscard]] bool write_waiting();

    ByteSink* sink_;
    BlockBuffer global_;
    std::deque<BlockBuffer> caps_;
    size_t round_bytes_ = 0;  // what closing the round would add to waiting_, or more
    uint64_t round_begin_ns_ = 0;
    uint64_t round_events_ = 0;

    // Closed blocks and other pieces (a header, an end marker), to be written each in one piece.
    std::vector<std::byte> waiting_;
    std::vector<size_t> piece_ends_;  // offsets in waiting_
    size_t pieces_written_ = 0;
    uint64_t waiting_events_ = 0;
};

}  // namespace tracer::eventlog
