// SPDX-License-Identifier: Apache-2.0
//
// Cuts a byte stream into the records of a Fuchsia trace and counts what passes. A record that
// lies whole in the bytes fed is parsed where it lies; only one that straddles two calls is
// copied. Relies on fxt_parser for what a record says. Used by fxt_reader, fuzzers and tests.
#include "support/fxt_stream.h"

#include "support/fxt_parser.h"

#include <algorithm>

namespace tracer::test {
namespace {

constexpr uint64_t kMagic = 0x0016547846040010;
constexpr uint8_t kLargeRecord = 15;
constexpr size_t kHeaderBytes = 8;

}  // namespace

// Counts, then passes on.
class FxtStream::Counter : public FxtVisitor {
public:
    Counter(FxtVisitor& visitor, FxtCounts& counts) : visitor_(visitor), counts_(counts) {}
    void on_record(const FxtRecordView& record) override {
        counts_.records[static_cast<size_t>(record.kind())] += 1;
        visitor_.on_record(record);
    }
    void on_fault(const FxtFaultReport& report) override {
        counts_.faults[static_cast<size_t>(report.fault)] += 1;
        visitor_.on_fault(report);
    }

private:
    FxtVisitor& visitor_;
    FxtCounts& counts_;
};

FxtStream::FxtStream(FxtVisitor& visitor, const FxtLimits& limits)
    : limits_(limits),
      counter_(std::make_unique<Counter>(visitor, counts_)),
      parser_(std::make_unique<FxtParser>(*counter_, limits)) {}

FxtStream::~FxtStream() = default;

void FxtStream::report(FxtFault fault, uint64_t found, uint64_t expected) {
    counter_->on_fault({fault, offset_, found, expected});
}

void FxtStream::feed(std::span<const std::byte> bytes) {
    counts_.bytes += bytes.size();
    // Each turn takes bytes, ends a record or finds that the rest cannot be read.
    while (!bytes.empty()) {
        if (is_unreadable_) {
            counts_.unreadable_bytes += bytes.size();
            return;
        }
        if (record_bytes_ == 0) take_header(bytes);
        // A record of one word ends with its header, even if nothing is left to take.
        if (record_bytes_ != 0) take_body(bytes);
    }
}

// Learns a record's size. A header that lies whole in `bytes` stays there, for take_body.
void FxtStream::take_header(std::span<const std::byte>& bytes) {
    if (pending_.empty() && bytes.size() >= kHeaderBytes) {
        begin_record(FxtWords(bytes).next());
        return;
    }
    take_into_pending(bytes, kHeaderBytes);
    if (pending_.size() == kHeaderBytes) begin_record(FxtWords(pending_).next());
}

void FxtStream::begin_record(uint64_t header) {
    if (offset_ == 0 && header != kMagic) report(FxtFault::no_magic, header, kMagic);
    record_type_ = static_cast<uint8_t>(fxt_bits(header, 0, 4));
    const uint64_t words = fxt_bits(header, 4, record_type_ == kLargeRecord ? 32 : 12);
    if (words == 0) {
        report(FxtFault::no_words, 0, 0);
        is_unreadable_ = true;
        counts_.unreadable_bytes += pending_.size();
        pending_.clear();
        return;
    }
    record_bytes_ = words * 8;
    is_skipping_ = record_bytes_ > limits_.record_bytes_max;
    if (is_skipping_) {
        report(FxtFault::too_large, record_bytes_, limits_.record_bytes_max);
        skipped_bytes_ = pending_.size();
        pending_.clear();
    }
}

void FxtStream::take_body(std::span<const std::byte>& bytes) {
    if (is_skipping_) {
        const uint64_t part = std::min<uint64_t>(record_bytes_ - skipped_bytes_, bytes.size());
        skipped_bytes_ += part;
        bytes = bytes.subspan(static_cast<size_t>(part));
        if (skipped_bytes_ < record_bytes_) return;
        parser_->skip(offset_, record_bytes_ / 8, record_type_);
    } else if (pending_.empty() && bytes.size() >= record_bytes_) {
        parser_->parse(offset_, bytes.first(static_cast<size_t>(record_bytes_)));
        bytes = bytes.subspan(static_cast<size_t>(record_bytes_));
    } else {
        take_into_pending(bytes, static_cast<size_t>(record_bytes_));
        if (pending_.size() < record_bytes_) return;
        parser_->parse(offset_, pending_);
    }
    end_record();
}

// Appends until pending_ has `wanted` bytes or the input ends.
void FxtStream::take_into_pending(std::span<const std::byte>& bytes, size_t wanted) {
    const auto part = bytes.first(std::min(wanted - pending_.size(), bytes.size()));
    pending_.insert(pending_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
}

void FxtStream::end_record() {
    offset_ += record_bytes_;
    record_bytes_ = 0;
    skipped_bytes_ = 0;
    is_skipping_ = false;
    pending_.clear();
}

void FxtStream::finish() {
    counts_.truncated_tail_bytes = is_skipping_ ? skipped_bytes_ : pending_.size();
    if (offset_ == 0 && record_bytes_ == 0 && !is_unreadable_)
        report(FxtFault::no_magic, 0, kMagic);
}

}  // namespace tracer::test
