// SPDX-License-Identifier: Apache-2.0
//
// Writes captures: collects records into blocks, each handed to the sink with one reservation, so
// that a block is whole or absent. A block that found no room is a hole in the recording, and a
// capture tells its reader of holes in the reader's own words: gap records at the place.
//
// Called by the session's drain thread as one more RecordHandler.
#include "capture/capture_file.h"
#include "capture/capture_json.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <cstring>

namespace tracer {

namespace {

constexpr size_t kBlockHeaderBytes = 8;
constexpr size_t kRecordsBlockBytes = 32 * 1024;

static_assert(kBlockHeaderBytes + kCaptureBlockBytesMax <= ByteSink::kReserveBytesMax);
static_assert(kRecordsBlockBytes + TR_RECORD_BYTES_MAX <= kCaptureBlockBytesMax);

size_t padded(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

template <typename T>
void put(std::span<std::byte> out, size_t offset, const T& value) {
    std::memcpy(out.data() + offset, &value, sizeof(T));
}

}  // namespace

CaptureWriter::CaptureWriter(ByteSink& sink) : sink_(sink) {
    block_.reserve(kRecordsBlockBytes + 2 * sizeof(tr_gap));
}

Status CaptureWriter::open(const RecordingDefinitions& definitions) {
    constexpr size_t kFileHeaderBytes = 16;
    const auto out = sink_.reserve(kFileHeaderBytes);
    if (out.size() < kFileHeaderBytes) return fail(ErrorCode::io, "no room for a capture's header");
    put(out, 0, kCaptureMagic);
    put(out, 8, static_cast<uint16_t>(TR_ABI_MAJOR));
    put(out, 10, static_cast<uint16_t>(TR_ABI_MINOR));
    put(out, 12, uint32_t{0});
    sink_.commit(kFileHeaderBytes);
    stale_.add(definitions.probes);
    TR_ASSIGN(const auto parts, definitions_to_json(definitions, true));
    return write_json(CaptureBlock::definitions, parts);
}

Status CaptureWriter::add(const std::vector<model::Point>& points,
                          const std::vector<ProbeDefinition>& probes) {
    flush();
    stale_.add(probes);
    RecordingDefinitions added;
    added.points = points;
    added.probes = probes;
    TR_ASSIGN(const auto parts, definitions_to_json(added, false));
    return write_json(CaptureBlock::definitions, parts);
}

Status CaptureWriter::write_counters(const CaptureCounters& counters) {
    flush();
    TR_ASSIGN(const auto parts, counters_to_json(counters));
    return write_json(CaptureBlock::counters, parts);
}

Status CaptureWriter::write_json(CaptureBlock type, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
        if (!write_block(type, std::as_bytes(std::span(part)))) {
            return fail(ErrorCode::io, "the output has no room for a capture's definitions");
        }
    }
    return {};
}

bool CaptureWriter::write_block(CaptureBlock type, std::span<const std::byte> payload) {
    const size_t bytes = kBlockHeaderBytes + padded(payload.size());
    const auto out = sink_.reserve(bytes);
    if (out.size() < bytes) return false;
    put(out, 0, static_cast<uint32_t>(type));
    put(out, 4, static_cast<uint32_t>(payload.size()));
    if (!payload.empty()) {
        std::memcpy(out.data() + kBlockHeaderBytes, payload.data(), payload.size());
    }
    const size_t end = kBlockHeaderBytes + payload.size();
    std::fill(out.begin() + static_cast<long>(end), out.begin() + static_cast<long>(bytes),
              std::byte{0});
    sink_.commit(bytes);
    return true;
}

void CaptureWriter::on_record(std::span<const std::byte> record) {
    uint64_t time_ns = 0;
    if (record.size() < sizeof(tr_record_header) || record.size() > TR_RECORD_BYTES_MAX ||
        record.size() % 8 != 0) {
        ++records_lost_;
        return;
    }
    std::memcpy(&time_ns, record.data() + offsetof(tr_record_header, time_ns), sizeof(time_ns));
    if (block_.size() + record.size() > kRecordsBlockBytes) flush();
    if (block_.empty()) {
        block_first_ns_ = time_ns;
        if (gap_records_ != 0) append_output_gap(time_ns);
    }
    const size_t offset = block_.size();
    block_.insert(block_.end(), record.begin(), record.end());
    stale_.clear(std::span(block_).subspan(offset));
    ++block_records_;
    newest_ns_ = std::max(newest_ns_, time_ns);
}

// Tells of the dropped blocks at the head of the block under way. If this block finds no room
// either, flush() drops the two records with it and the next block tells of all of it.
void CaptureWriter::append_output_gap(uint64_t end_ns) {
    tr_gap gap{.header = {.size = sizeof(tr_gap),
                          .kind = TR_KIND_gap_begin,
                          .time_ns = gap_begin_ns_,
                          .flags = TR_GAP_OUTPUT},
               .begin_ns = gap_begin_ns_};
    const auto bytes = std::as_bytes(std::span(&gap, 1));
    block_.insert(block_.end(), bytes.begin(), bytes.end());
    gap.header.kind = TR_KIND_gap_end;
    gap.header.time_ns = std::max(end_ns, gap_begin_ns_);
    gap.count = gap_records_;
    block_.insert(block_.end(), bytes.begin(), bytes.end());
}

void CaptureWriter::flush() {
    if (block_.empty()) return;
    if (write_block(CaptureBlock::records, block_)) {
        records_written_ += block_records_;
        written_newest_ns_ = newest_ns_;
        gap_records_ = 0;
    } else {
        if (gap_records_ == 0) {
            gap_begin_ns_ = written_newest_ns_ != 0 ? written_newest_ns_ : block_first_ns_;
        }
        gap_records_ += block_records_;
        records_lost_ += block_records_;
    }
    block_.clear();
    block_records_ = 0;
}

Status CaptureWriter::close() {
    flush();
    if (gap_records_ != 0) {
        TR_TRY(sink_.health());
        return fail(ErrorCode::io, "the last records found no room in the output");
    }
    return {};
}

}  // namespace tracer
