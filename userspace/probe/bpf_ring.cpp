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
      peeked_(other.peeked_) {}

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
    while (count_max > 0 && peeked_ < produced) {
        const std::byte* header = data_ + (peeked_ & mask);
        const uint32_t word = load_length(header);
        if ((word & kBusyBit) != 0) return;  // its program still runs; later ones wait for it
        const uint32_t length = word & ~(kBusyBit | kDiscardBit);
        if ((word & kDiscardBit) == 0 && length >= sizeof(tr_record_header)) {
            const std::byte* record = header + kRecordHeaderBytes;
            RecordView view{record, length, 0, 0};
            std::memcpy(&view.seq, record + offsetof(tr_record_header, seq), sizeof(view.seq));
            std::memcpy(&view.time_ns, record + offsetof(tr_record_header, time_ns),
                        sizeof(view.time_ns));
            out.push_back(view);
            --count_max;
        }
        peeked_ += stride(length);
    }
}

void BpfRing::release(size_t count) {
    const uint64_t mask = bytes_ - 1;
    while (count > 0 && consumed_ < peeked_) {
        const uint32_t word = load_length(data_ + (consumed_ & mask));
        const uint32_t length = word & ~(kBusyBit | kDiscardBit);
        if ((word & kDiscardBit) == 0 && length >= sizeof(tr_record_header)) --count;
        consumed_ += stride(length);
    }
    std::atomic_ref<uint64_t>(*consumer_position_).store(consumed_, std::memory_order_release);
}

uint64_t BpfRing::fill() const {
    return load_position(producer_position_) - consumed_;
}

}  // namespace tracer
