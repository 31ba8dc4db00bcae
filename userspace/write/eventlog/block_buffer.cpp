// SPDX-License-Identifier: Apache-2.0
//
// Closing, handing over and beginning blocks, and the telling of those that found no room. Relies
// on the destination taking a block whole or not at all. The events that vary in size are in
// variable_event.cpp; those that do not, inline in the header.
#include "tracer/write/eventlog/block_buffer.h"

#include "write/eventlog/payload.h"

#include <charconv>
#include <new>
#include <string>

namespace tracer::eventlog {
namespace {

Status check_capacity(size_t bytes) {
    if (bytes >= kCapacityBytesMin && bytes <= kCapacityBytesMax) return {};
    return fail(
        ErrorCode::limit, "an event buffer of " + std::to_string(bytes) + " bytes",
        "from " + std::to_string(kCapacityBytesMin) + " to " + std::to_string(kCapacityBytesMax));
}

}  // namespace

std::string_view name_of(Fault fault) {
    switch (fault) {
        case Fault::none:
            return "none";
        case Fault::closed:
            return "closed";
        case Fault::no_capability:
            return "no_capability";
        case Fault::before_start:
            return "before_start";
        case Fault::backward_time:
            return "backward_time";
        case Fault::undeclared:
            return "undeclared";
        case Fault::bad_value:
            return "bad_value";
        case Fault::too_large:
            return "too_large";
        case Fault::not_utf8:
            return "not_utf8";
        case Fault::nul_inside:
            return "nul_inside";
        case Fault::stack_too_deep:
            return "stack_too_deep";
        case Fault::wrong_fields:
            return "wrong_fields";
    }
    return "unknown";
}

BufferCounters& BufferCounters::operator+=(const BufferCounters& other) {
    events += other.events;
    blocks += other.blocks;
    bytes += other.bytes;
    lost_no_room += other.lost_no_room;
    lost_sink_failed += other.lost_sink_failed;
    lost_dropped += other.lost_dropped;
    texts_cut += other.texts_cut;
    texts_repaired += other.texts_repaired;
    times_raised += other.times_raised;
    for (size_t index = 0; index < faults.size(); ++index) faults[index] += other.faults[index];
    return *this;
}

BlockBuffer::BlockBuffer(CapNo cap,
                         BlockDestination& destination,
                         const BufferOptions& options,
                         Fault when_closed)
    : options_(options), destination_(&destination), cap_(cap), when_closed_(when_closed) {}

Status BlockBuffer::open(uint64_t base_ns) {
    TR_CHECK(!is_open());
    TR_TRY(check_capacity(options_.capacity_bytes));
    memory_.reset(new (std::nothrow) std::byte[options_.capacity_bytes]);
    if (memory_ == nullptr) return fail(ErrorCode::limit, "no memory for an event buffer");
    base_ns_ = base_ns;
    last_ns_ = base_ns;
    begin_block();
    return {};
}

void BlockBuffer::close() {
    if (!is_open()) return;
    flush();
    memory_.reset();
    cursor_ = nullptr;
    end_ = nullptr;
}

Status BlockBuffer::set_capacity(size_t bytes) {
    TR_TRY(check_capacity(bytes));
    if (is_open()) {
        std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[bytes]);
        if (larger == nullptr) return fail(ErrorCode::limit, "no memory for an event buffer");
        flush();
        memory_ = std::move(larger);
    }
    options_.capacity_bytes = bytes;
    if (is_open()) begin_block();
    return {};
}

Fault BlockBuffer::refuse(Fault fault) {
    counters_.faults[static_cast<size_t>(fault)] += 1;
    return fault;
}

void BlockBuffer::begin_block() {
    cursor_ = memory_.get() + kBlockMarkerBytes;
    end_ = memory_.get() + options_.capacity_bytes;
    pending_events_ = 0;
    has_loss_message_ = false;
    told_ = 0;
    if (untold_ != 0) write_loss_message();
}

void BlockBuffer::write_loss_message() {
    char text[kLossMessageBytesMax - kVariableEventHeaderBytes];
    constexpr std::string_view kBefore = "lost ";
    constexpr std::string_view kAfter = " events: the output had no room";
    static_assert(kBefore.size() + 20 + kAfter.size() <= sizeof(text));
    char* at = text + kBefore.copy(text, kBefore.size());
    at = std::to_chars(at, text + sizeof(text), untold_).ptr;
    at += kAfter.copy(at, kAfter.size());
    const auto size = static_cast<size_t>(at - text);

    std::byte* to = write_event_header(EventId::log_message, last_ns_);
    to = store_big(to, static_cast<uint16_t>(size));
    std::memcpy(to, text, size);
    cursor_ = to + size;
    has_loss_message_ = true;
    told_ = untold_;
}

void BlockBuffer::flush() {
    if (!is_open() || (pending_events_ == 0 && !has_loss_message_)) return;
    std::byte* const block = memory_.get();
    BlockInfo info;
    info.cap = cap_;
    info.begin_ns = load_big<uint64_t>(block + kBlockMarkerBytes + sizeof(EventId));
    info.end_ns = last_ns_ - base_ns_;
    info.events = pending_events_;
    const size_t bytes = used_bytes();
    std::byte* at = store_big(store_big(block, EventId::block_marker), info.begin_ns);
    at = store_big(at, static_cast<uint32_t>(bytes));
    store_big(store_big(at, info.end_ns), cap_);

    switch (destination_->write_block({block, bytes}, info)) {
        case BlockFate::taken:
            counters_.events += pending_events_;
            counters_.blocks += 1;
            counters_.bytes += bytes;
            untold_ -= told_;
            break;
        case BlockFate::no_room:
            counters_.lost_no_room += pending_events_;
            untold_ += pending_events_;
            break;
        case BlockFate::sink_failed:
            counters_.lost_sink_failed += pending_events_;
            untold_ += pending_events_;
            break;
    }
    begin_block();
}

void BlockBuffer::drop() {
    if (!is_open()) return;
    counters_.lost_dropped += pending_events_;
    begin_block();
}

Fault BlockBuffer::make_way(uint64_t& clock_ns, size_t bytes) {
    if (!is_open()) return refuse(when_closed_);
    if (clock_ns < base_ns_) return refuse(Fault::before_start);
    if (clock_ns < last_ns_ && options_.backward_time == BackwardTime::refuse) {
        return refuse(Fault::backward_time);
    }
    if (static_cast<size_t>(end_ - cursor_) < bytes) flush();
    // A new block holds any fixed event, and no variable one is asked for that it does not.
    TR_CHECK(static_cast<size_t>(end_ - cursor_) >= bytes);
    if (clock_ns < last_ns_) {
        clock_ns = last_ns_;
        counters_.times_raised += 1;
    }
    return Fault::none;
}

}  // namespace tracer::eventlog
