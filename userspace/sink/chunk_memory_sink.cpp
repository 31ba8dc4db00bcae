// SPDX-License-Identifier: Apache-2.0
//
// Chunks in memory, popped by the program. Invariant: the current chunk takes no more than
// bytes_max_ - first_capacity_, so that with nothing waiting another chunk always has room to
// begin, and a program that pops always gets the stream going again. Called by writers inside other
// programs, which link nothing but this library.
#include "tracer/write/chunk_memory_sink.h"

#include "sink/chunk_meter.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace tracer {
namespace {

size_t first_capacity_for(const ChunkLimits& limits) {
    // The record that reaches the limit may be of any size.
    const uint64_t chunk_bytes =
        limits.chunk_bytes != 0 ? limits.chunk_bytes : ByteSink::kReserveBytesMax;
    return static_cast<size_t>(std::min<uint64_t>(chunk_bytes, SIZE_MAX / 4)) +
           ByteSink::kReserveBytesMax;
}

// `size` bytes at the start of a place of `capacity`; false: no memory, nothing changed.
bool move_to_capacity(MemoryChunk& chunk, size_t capacity) {
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[capacity]);
    if (!memory) return false;
    if (chunk.size != 0) std::memcpy(memory.get(), chunk.memory.get(), chunk.size);
    chunk.memory = std::move(memory);
    chunk.capacity = capacity;
    return true;
}

}  // namespace

class ChunkMemorySink::Meter : public ChunkMeter {
public:
    using ChunkMeter::ChunkMeter;
};

ChunkMemorySink::ChunkMemorySink(const ChunkMemoryOptions& options)
    : first_capacity_(first_capacity_for(options.limits)),
      bytes_max_(std::max(options.bytes_max, 2 * first_capacity_)),
      may_drop_(options.drop_oldest),
      meter_(std::make_unique<Meter>(options.limits)) {}

ChunkMemorySink::~ChunkMemorySink() = default;

std::span<std::byte> ChunkMemorySink::reserve(size_t bytes) {
    if (current_.capacity - current_.size < bytes) [[unlikely]] {
        if (bytes > kReserveBytesMax || is_closed_) return {};
        if (!grow(bytes)) {
            const std::lock_guard lock(mutex_);
            loss_.refused_reservations += 1;
            loss_.refused_bytes += bytes;
            return {};
        }
    } else if (bytes > kReserveBytesMax) {
        return {};
    }
    return {current_.memory.get() + current_.size, current_.capacity - current_.size};
}

void ChunkMemorySink::commit(size_t bytes) {
    TR_CHECK(bytes <= current_.capacity - current_.size);
    current_.size += bytes;
    // One producer, so nothing is lost between the load and the store.
    committed_.store(committed_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

// More memory for the current chunk, or the first of it.
bool ChunkMemorySink::grow(size_t bytes) {
    const size_t needed = current_.size + bytes;
    const size_t most = bytes_max_ - first_capacity_;
    if (needed > most) return false;
    const size_t wanted = current_.capacity == 0 ? first_capacity_ : current_.capacity * 3 / 2;
    const size_t capacity = std::min(std::max(needed, wanted), most);
    const size_t before = current_.capacity;
    if (!claim(capacity, before)) return false;
    if (move_to_capacity(current_, capacity)) return true;
    static_cast<void>(claim(before, capacity));  // less than was granted: always granted
    return false;
}

// Accounts for `capacity` bytes in place of `released` ones, dropping old chunks where it may.
bool ChunkMemorySink::claim(size_t capacity, size_t released) {
    const std::lock_guard lock(mutex_);
    while (claimed_bytes_ - released + capacity > bytes_max_) {
        if (!may_drop_ || waiting_.empty()) return false;
        loss_.dropped_chunks += 1;
        loss_.dropped_bytes += waiting_.front().size;
        claimed_bytes_ -= waiting_.front().capacity;
        waiting_.pop_front();
    }
    claimed_bytes_ += capacity - released;
    return true;
}

bool ChunkMemorySink::has_room_for_another() const {
    const std::lock_guard lock(mutex_);
    return may_drop_ || claimed_bytes_ + first_capacity_ <= bytes_max_;
}

bool ChunkMemorySink::chunk_is_due() {
    return meter_->is_due(bytes_now()) && has_room_for_another();
}

bool ChunkMemorySink::chunk_is_due_at(uint64_t now_ns) {
    return meter_->is_due_at(bytes_now(), now_ns) && has_room_for_another();
}

Status ChunkMemorySink::next_chunk() {
    hand_over();
    return {};
}

Status ChunkMemorySink::close() {
    TR_CHECK(!is_closed_);
    is_closed_ = true;
    hand_over();
    return {};
}

void ChunkMemorySink::hand_over() {
    if (current_.size == 0) return;
    MemoryChunk full = std::exchange(current_, {});
    const size_t capacity = full.capacity;
    // A chunk ended early does not hold memory that nothing is in. Without memory to move to it
    // stays where it is, and is accounted for like that.
    if (full.size <= capacity / 2) static_cast<void>(move_to_capacity(full, full.size));
    meter_->restart(bytes_now());
    const std::lock_guard lock(mutex_);
    claimed_bytes_ -= capacity - full.capacity;
    waiting_.push_back(std::move(full));
}

std::optional<MemoryChunk> ChunkMemorySink::pop() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    MemoryChunk oldest = std::move(waiting_.front());
    waiting_.pop_front();
    claimed_bytes_ -= oldest.capacity;
    return oldest;
}

size_t ChunkMemorySink::waiting_count() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

ChunkMemoryLoss ChunkMemorySink::loss() const {
    const std::lock_guard lock(mutex_);
    return loss_;
}

}  // namespace tracer
