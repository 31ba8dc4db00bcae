// SPDX-License-Identifier: Apache-2.0
//
// A RecordSource made of vectors: what a test writes is what the merger finds, lost attempts
// included.
#pragma once

#include "capture/record_source.h"
#include "support/record_builder.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tracer::test {

class FakeSource : public RecordSource {
public:
    explicit FakeSource(size_t ring_count, uint32_t first_seq = 0);

    // Puts a record into the ring, under the ring's next number.
    void write(size_t ring, uint64_t time_ns);
    void write(size_t ring, Record record);
    // The same under a number taken earlier, for records that were overtaken.
    [[nodiscard]] uint32_t take_seq(size_t ring) { return rings_[ring].next_seq++; }
    void write_as(size_t ring, uint32_t seq, Record record);
    // Attempts that found no room.
    void lose(size_t ring, uint64_t count);

    [[nodiscard]] uint64_t attempts(size_t ring) const { return rings_[ring].attempts; }
    // Most records that were peeked and not released at one time.
    [[nodiscard]] size_t peeked_max() const { return peeked_max_; }
    [[nodiscard]] bool all_released() const;

    [[nodiscard]] size_t ring_count() const override { return rings_.size(); }
    void peek(size_t ring, size_t count_max, std::vector<RecordView>& out) override;
    void release(size_t ring, size_t count) override;
    [[nodiscard]] uint64_t lost(size_t ring) const override { return rings_[ring].lost; }

private:
    struct Ring {
        std::deque<Record> records;
        size_t peeked = 0;
        uint32_t next_seq = 0;
        uint64_t attempts = 0;
        uint64_t lost = 0;
    };
    std::vector<Ring> rings_;
    size_t peeked_max_ = 0;
};

}  // namespace tracer::test
