// SPDX-License-Identifier: Apache-2.0
//
// Rings in anonymous files. The kernel maps a ring's data twice in a row so that no record wraps;
// here the data stands in the file twice, and a record is written to both places.
#include "replay_ring.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tracer::bench {

Result<std::unique_ptr<ReplayRing>> ReplayRing::make(uint64_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    auto ring = std::unique_ptr<ReplayRing>(new ReplayRing());
    ring->bytes_ = bytes;
    ring->mapped_bytes_ = 2 * page + 2 * bytes;
    ring->file_.reset(memfd_create("replay", MFD_CLOEXEC));
    if (!ring->file_.valid() ||
        ftruncate(ring->file_.get(), static_cast<off_t>(ring->mapped_bytes_)) != 0) {
        return fail_errno(ErrorCode::internal, errno, "make a ring's file");
    }
    void* mapping = mmap(nullptr, ring->mapped_bytes_, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, ring->file_.get(), 0);
    if (mapping == MAP_FAILED) return fail_errno(ErrorCode::internal, errno, "map a ring's file");
    ring->mapping_ = mapping;
    ring->data_ = static_cast<std::byte*>(mapping) + 2 * page;
    ring->consumer_ = static_cast<uint64_t*>(mapping);
    ring->producer_ = ring->consumer_ + page / sizeof(uint64_t);
    return ring;
}

ReplayRing::~ReplayRing() {
    if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

bool ReplayRing::put(std::span<const std::byte> record) {
    const uint64_t stride = (kHeaderBytes + record.size() + 7) / 8 * 8;
    if (produced_ + stride - load(consumer_) > bytes_) return false;
    const uint64_t header = record.size();
    const uint64_t offset = produced_ & (bytes_ - 1);
    for (std::byte* copy : {data_ + offset, data_ + bytes_ + offset}) {
        // The second copy of a record that wraps begins behind the end of what readers look at.
        if (copy + stride > data_ + 2 * bytes_) break;
        std::memcpy(copy, &header, sizeof(header));
        std::memcpy(copy + kHeaderBytes, record.data(), record.size());
    }
    produced_ += stride;
    return true;
}

void ReplayRing::publish() {
    store(producer_, produced_);
}

UniqueFd ReplayRing::duplicate() const {
    return UniqueFd(dup(file_.get()));
}

uint64_t ReplayRing::load(const uint64_t* position) {
    return std::atomic_ref<const uint64_t>(*position).load(std::memory_order_acquire);
}

void ReplayRing::store(uint64_t* position, uint64_t value) {
    std::atomic_ref<uint64_t>(*position).store(value, std::memory_order_release);
}

uint32_t ReplayRing::length_at(const std::byte* header) {
    uint32_t length = 0;
    std::memcpy(&length, header, sizeof(length));
    return length;
}

Result<std::unique_ptr<ReplaySource>> ReplaySource::open(
    std::span<const std::unique_ptr<ReplayRing>> rings, uint64_t ring_bytes) {
    auto source = std::make_unique<ReplaySource>();
    for (const auto& ring : rings) {
        TR_ASSIGN(BpfRing reader, BpfRing::open(ring->duplicate(), ring_bytes));
        source->rings_.push_back(std::move(reader));
    }
    return source;
}

}  // namespace tracer::bench
