// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/record_source.h"
#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer {

// Reading side of one BPF_MAP_TYPE_RINGBUF, zero copy: records are looked at where they lie and
// given back when they are done with. (libbpf's ring manager gives a record back as soon as its
// callback returns, which a merge over several rings cannot use.) One consuming thread.
class BpfRing {
public:
    // Maps the ring. `map` stays the caller's (the fd may be a duplicate of a map in a map).
    static Result<BpfRing> open(UniqueFd map, uint64_t bytes);
    ~BpfRing();
    BpfRing(BpfRing&& other) noexcept;
    BpfRing& operator=(BpfRing&& other) = delete;
    BpfRing(const BpfRing&) = delete;
    BpfRing& operator=(const BpfRing&) = delete;

    [[nodiscard]] int fd() const { return map_.get(); }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

    // Appends at most `count_max` records that lie behind those already peeked.
    void peek(size_t count_max, std::vector<RecordView>& out);
    // Gives the first `count` peeked records back to the kernel.
    void release(size_t count);
    // Whether records lie behind those peeked, be they in the making.
    [[nodiscard]] bool has_unpeeked() const;
    // Bytes reserved and not yet given back.
    [[nodiscard]] uint64_t fill() const;

private:
    BpfRing() = default;

    UniqueFd map_;
    uint64_t bytes_ = 0;
    uint64_t* consumer_position_ = nullptr;        // page shared with the kernel, ours to write
    const uint64_t* producer_position_ = nullptr;  // read-only
    const std::byte* data_ = nullptr;              // mapped twice in a row: no record wraps
    uint64_t consumed_ = 0;                        // our copy of *consumer_position_
    uint64_t peeked_ = 0;                          // first byte not yet peeked
    size_t peeked_records_ = 0;                    // between the two
};

}  // namespace tracer
