// SPDX-License-Identifier: Apache-2.0
//
// The limit of --max-size. An output knows its size only when it is asked to hand over what it
// holds back, which is too dear for each record: so it is asked when what went in since could have
// grown to the rest of the room, ever more often as the limit comes near. Between the merger and
// the output; made by the drain thread.
#include "session/size_limit.h"

#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>

namespace tracer {
namespace {

// The most that a record grows to, in terms of its own size: a switch of 40 bytes with the names of
// two new tasks. Where it is more, the file is larger than asked for by that record.
constexpr uint64_t kGrowth = 8;

// A probe id beyond any plan is of a malformed record; the table must not grow by it.
constexpr uint32_t kProbesMax = 1u << 20;

}  // namespace

RecordHandler& SizeLimit::handler() {
    if (bytes_max_ == 0) return output_.handler();
    return *this;
}

bool SizeLimit::fits(uint64_t input_bytes) {
    if (is_reached_) return false;
    if (budget_ < input_bytes) {
        const uint64_t used = output_.bytes_now() + kEndBytes;
        budget_ = used < bytes_max_ ? (bytes_max_ - used) / kGrowth : 0;
    }
    if (budget_ < input_bytes) return false;
    budget_ -= input_bytes;
    return true;
}

void SizeLimit::on_records(std::span<const RecordView> records) {
    uint64_t bytes = 0;
    for (const RecordView& view : records) bytes += view.size;
    if (fits(bytes)) {
        output_.handler().on_records(records);
        return;
    }
    for (const RecordView& view : records) on_record(view.bytes());
}

void SizeLimit::on_record(std::span<const std::byte> record) {
    if (fits(record.size())) {
        output_.handler().on_record(record);
        return;
    }
    is_reached_ = true;
    leave_out(record);
}

void SizeLimit::leave_out(std::span<const std::byte> record) {
    tr_record_header header{};
    if (!ByteCursor(record).read(header) || header.probe_id == 0 || header.probe_id >= kProbesMax) {
        return;
    }
    if (header.probe_id >= left_out_.size()) left_out_.resize(header.probe_id + 1);
    left_out_[header.probe_id] += 1;
}

}  // namespace tracer
