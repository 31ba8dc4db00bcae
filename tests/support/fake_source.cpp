// SPDX-License-Identifier: Apache-2.0
//
// The fake rings. Released records are freed, so that a merger that touches one after release is
// caught by AddressSanitizer.
#include "support/fake_source.h"

#include "tracer/base/result.h"

#include <algorithm>
#include <utility>

namespace tracer::test {

FakeSource::FakeSource(size_t ring_count, uint32_t first_seq) : rings_(ring_count) {
    for (Ring& ring : rings_) ring.next_seq = first_seq;
}

void FakeSource::write(size_t ring, uint64_t time_ns) {
    write(ring, make_hit({.time_ns = time_ns, .cpu = static_cast<uint16_t>(ring)}, 16, {}));
}

void FakeSource::write(size_t ring, Record record) {
    write_as(ring, take_seq(ring), std::move(record));
}

void FakeSource::write_as(size_t ring, uint32_t seq, Record record) {
    auto header = header_of(record);
    header.seq = seq;
    set_header(record, header);
    rings_[ring].records.push_back(std::move(record));
    ++rings_[ring].attempts;
}

void FakeSource::lose(size_t ring, uint64_t count) {
    rings_[ring].next_seq += static_cast<uint32_t>(count);
    rings_[ring].attempts += count;
    rings_[ring].lost += count;
}

bool FakeSource::all_released() const {
    return std::all_of(rings_.begin(), rings_.end(),
                       [](const Ring& ring) { return ring.records.empty(); });
}

void FakeSource::peek(size_t index, size_t count_max, std::vector<RecordView>& out) {
    Ring& ring = rings_[index];
    for (size_t i = 0; i < count_max && ring.peeked < ring.records.size(); ++i, ++ring.peeked) {
        const Record& record = ring.records[ring.peeked];
        out.push_back(view_record(record.data(), record.size()));
    }
    peeked_max_ = std::max(peeked_max_, ring.peeked);
}

void FakeSource::release(size_t index, size_t count) {
    Ring& ring = rings_[index];
    TR_CHECK(count <= ring.peeked);
    ring.peeked -= count;
    ring.records.erase(ring.records.begin(), ring.records.begin() + static_cast<long>(count));
}

}  // namespace tracer::test
