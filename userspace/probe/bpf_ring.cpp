// SPDX-License-Identifier: Apache-2.0
//
// The reader of a BPF ring buffer's shared memory. Layout (kernel/bpf/ringbuf.c): a page with the
// consumer's position, a page with the producer's, then the data, which the kernel maps twice in a
// row so that no record wraps. A record is a header {u32 length and two flag bits, u32 page
// offset} and its bytes, padded to 8.
//
// The kernel publishes the producer's position when it reserves and clears the busy bit when the
// program submits; both are read with acquire order. The positions only grow.
#include "probe/bpf_ring.h"

#include "tracer/abi/event.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tracer {
namespace {

constexpr uint32_t kBusyBit = 1U << 31;
constexpr uint32_t kDiscardBit = 1U << 30;
constexpr uint64_t kRecordHeaderBytes = 8;

uint64_t page_bytes() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t stride(uint32_t length) {
    return (length + kRecordHeaderBytes + 7) / 8 * 8;
}

uint32_t load_length(const std::byte* header) {
    uint32_t length = 0;
    std::memcpy(&length, header, sizeof(length));
    std::atomic_thread_fence(std::memory_order_acquire);
    return length;
}

// Neither busy nor given up, and long enough to be one of ours.
bool is_record(uint32_t word) {
    return word >= sizeof(tr_record_header) && word < kDiscardBit;
}

uint64_t load_position(const uint64_t* position) {
    return std::atomic_ref<const uint64_t>(*position).load(std::memory_order_acquire);
}

}  // namespace

Result<BpfRing> BpfRing::open(UniqueFd map, uint64_t bytes) {
    BpfRing ring;
    const uint64_t page = page_bytes();
    ring.bytes_ = bytes;
    void* consumer = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, map.get(), 0);
    if (consumer == MAP_FAILED) return fail_errno(ErrorCode::internal, errno, "map a BPF ring");
    ring.consumer_position_ = static_cast<uint64_t*>(consumer);
    void* producer =
        mmap(nullptr, page + 2 * bytes, PROT_READ, MAP_SHARED, map.get(), static_cast<off_t>(page));
    if (producer == MAP_FAILED) return fail_errno(ErrorCode::internal, errno, "map a BPF ring");
    ring.producer_position_ = static_cast<const uint64_t*>(producer);
    ring.data_ = static_cast<const std::byte*>(producer) + page;
    ring.consumed_ = load_position(ring.consumer_position_);
    ring.peeked_ = ring.consumed_;
    ring.map_ = std::move(map);
    return ring;
}

BpfRing::BpfRing(BpfRing&& other) noexcept
    : map_(std::move(other.map_)),
      bytes_(other.bytes_),
      consumer_position_(std::exchange(other.consumer_position_, nullptr)),
      producer_position_(std::exchange(other.producer_position_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      consumed_(other.consumed_),
      peeked_(other.peeked_),
      peeked_records_(other.peeked_records_) {}

BpfRing::~BpfRing() {
    const uint64_t page = page_bytes();
    if (consumer_position_ != nullptr) munmap(consumer_position_, page);
    if (producer_position_ != nullptr) {
        munmap(const_cast<uint64_t*>(producer_position_), page + 2 * bytes_);
    }
}

void BpfRing::peek(size_t count_max, std::vector<RecordView>& out) {
    const uint64_t produced = load_position(producer_position_);
    const uint64_t mask = bytes_ - 1;
    const std::byte* const data = data_;
    const size_t count_before = out.size();
    // A local copy: what is appended to `out` could be any memory to the compiler.
    uint64_t position = peeked_;
    for (size_t left = count_max; left > 0 && position < produced;) {
        const std::byte* const header = data + (position & mask);
        const uint32_t word = load_length(header);
        if (is_record(word)) [[likely]] {
            out.push_back(view_record(header + kRecordHeaderBytes, word));
            --left;
            position += stride(word);
            continue;
        }
        if ((word & kBusyBit) != 0) break;  // its program still runs; later ones wait for it
        position += stride(word & ~kDiscardBit);
    }
    peeked_ = position;
    peeked_records_ += out.size() - count_before;
}

void BpfRing::release(size_t count) {
    const uint64_t mask = bytes_ - 1;
    if (count >= peeked_records_) {
        // Nearly always all of them, which needs no look at each.
        consumed_ = peeked_;
        peeked_records_ = 0;
    } else {
        peeked_records_ -= count;
        while (count > 0) {
            const uint32_t word = load_length(data_ + (consumed_ & mask));
            if (is_record(word)) --count;
            consumed_ += stride(word & ~kDiscardBit);
        }
    }
    std::atomic_ref<uint64_t>(*consumer_position_).store(consumed_, std::memory_order_release);
}

bool BpfRing::has_unpeeked() const {
    return load_position(producer_position_) != peeked_;
}

uint64_t BpfRing::fill() const {
    return load_position(producer_position_) - consumed_;
}

}  // namespace tracer
