// SPDX-License-Identifier: Apache-2.0
//
// Rounds of blocks: when one is closed, and how it gets into the sink. Relies on BlockBuffer for
// the blocks themselves and on the sink's promise to take a reservation whole. Called by the
// eventlog writer for each event.
#include "write/eventlog/writer_blocks.h"

#include "tracer/write/eventlog/header.h"

#include <array>
#include <cstring>

namespace tracer::eventlog {
namespace {

constexpr Dialect kDialect;

// A killed recorder leaves at most this much of a log unwritten.
constexpr uint64_t kRoundNsMax = 1'000'000'000;

}  // namespace

Status WriterBlocks::begin_log() {
    add_piece(make_header(kDialect));
    global_.close();
    TR_TRY(global_.open(0));
    for (BlockBuffer& cap : caps_) {
        cap.close();
        TR_TRY(cap.open(0));
    }
    round_bytes_ = 0;
    return {};
}

Status WriterBlocks::add_cap() {
    TR_CHECK(caps_.size() <= kCapabilityMax);
    BlockBuffer& cap = caps_.emplace_back(static_cast<CapNo>(caps_.size()), *this, kOptions);
    Status opened = cap.open(0);
    if (!opened) caps_.pop_back();
    return opened;
}

void WriterBlocks::end_log() {
    close_round();
    std::array<std::byte, sizeof(kEndOfData)> end{};
    store_big(end.data(), kEndOfData);
    add_piece(end);
}

bool WriterBlocks::make_room(uint64_t ns, size_t bytes) {
    if (!piece_ends_.empty()) static_cast<void>(write_waiting());
    if (round_bytes_ == 0) {
        round_begin_ns_ = ns;
        return true;
    }
    const bool is_full = round_bytes_ + bytes > ByteSink::kReserveBytesMax;
    const bool is_old = ns > round_begin_ns_ && ns - round_begin_ns_ >= kRoundNsMax;
    if (!is_full && !is_old) [[likely]]
        return true;
    if (!piece_ends_.empty()) return !is_full;
    close_round();
    static_cast<void>(write_waiting());  // if it has to wait, this event still finds room
    round_begin_ns_ = ns;
    return true;
}

bool WriterBlocks::write_out() {
    close_round();
    return write_waiting();
}

void WriterBlocks::drop_waiting() {
    waiting_.clear();
    piece_ends_.clear();
    pieces_written_ = 0;
    waiting_events_ = 0;
}

// A buffer hands over its block when the round is closed, or before if it is full.
BlockFate WriterBlocks::write_block(std::span<const std::byte> block, const BlockInfo&) {
    add_piece(block);
    return BlockFate::taken;
}

void WriterBlocks::add_piece(std::span<const std::byte> bytes) {
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    piece_ends_.push_back(waiting_.size());
}

// The global block first: it names what the others refer to.
void WriterBlocks::close_round() {
    global_.flush();
    for (BlockBuffer& cap : caps_) cap.flush();
    round_bytes_ = 0;
    waiting_events_ += round_events_;
    round_events_ = 0;
}

// As many pieces a reservation as fit.
bool WriterBlocks::write_waiting() {
    while (pieces_written_ < piece_ends_.size()) {
        const size_t begin = pieces_written_ == 0 ? 0 : piece_ends_[pieces_written_ - 1];
        size_t next = pieces_written_ + 1;
        while (next < piece_ends_.size() &&
               piece_ends_[next] - begin <= ByteSink::kReserveBytesMax) {
            ++next;
        }
        const size_t bytes = piece_ends_[next - 1] - begin;
        const std::span<std::byte> room = sink_->reserve(bytes);
        if (room.empty()) return false;
        std::memcpy(room.data(), waiting_.data() + begin, bytes);
        sink_->commit(bytes);
        pieces_written_ = next;
    }
    drop_waiting();  // nothing waits any more: all of it is in the sink
    return true;
}

}  // namespace tracer::eventlog
