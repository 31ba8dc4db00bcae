// SPDX-License-Identifier: Apache-2.0
//
// Reads a Fuchsia trace as it comes: bytes in pieces of any size, records out one at a time. For
// files of any size, and for what is still being written. fxt_reader is the whole file at once.
#pragma once

#include "support/fxt_faults.h"
#include "support/fxt_records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tracer::test {

class FxtParser;

// What is given out. The calls come in the order of the stream; a record's faults come before it.
class FxtVisitor {
public:
    virtual ~FxtVisitor() = default;
    virtual void on_record(const FxtRecordView& record) = 0;
    virtual void on_fault(const FxtFaultReport& report) = 0;
};

// Bounds on what a stream can make its reader hold. A size that a record only claims is never
// allocated: memory grows with the bytes that were fed, up to these.
struct FxtLimits {
    // Of a large record (others have at most 32,760 bytes); a larger one is skipped.
    size_t record_bytes_max = size_t{64} << 20;
    // Of all string tables; a string beyond is not entered.
    size_t table_bytes_max = size_t{256} << 20;
    size_t providers_max = 1024;
};

struct FxtCounts {
    std::array<uint64_t, kFxtRecordKinds> records{};
    FxtFaultCounts faults{};
    uint64_t bytes = 0;                 // fed
    uint64_t truncated_tail_bytes = 0;  // of an unfinished last record, known at finish()
    uint64_t unreadable_bytes = 0;      // behind a record of no words

    [[nodiscard]] uint64_t of(FxtRecordKind kind) const {
        return records[static_cast<size_t>(kind)];
    }
    [[nodiscard]] uint64_t of(FxtFault fault) const { return faults[static_cast<size_t>(fault)]; }
};

// One stream from its first byte to its last. Never fails: what cannot be read is a fault, and
// reading goes on at the next record. One thread.
class FxtStream {
public:
    // `visitor` is borrowed for the stream's life.
    explicit FxtStream(FxtVisitor& visitor, const FxtLimits& limits = {});
    ~FxtStream();
    FxtStream(const FxtStream&) = delete;
    FxtStream& operator=(const FxtStream&) = delete;

    // Reads every record that is whole by now. The bytes are not needed after the call.
    void feed(std::span<const std::byte> bytes);

    // The stream is over: what is left is a truncated tail.
    void finish();

    [[nodiscard]] const FxtCounts& counts() const { return counts_; }

private:
    class Counter;

    void take_header(std::span<const std::byte>& bytes);
    void begin_record(uint64_t header);
    void take_body(std::span<const std::byte>& bytes);
    void take_into_pending(std::span<const std::byte>& bytes, size_t wanted);
    void end_record();
    void report(FxtFault fault, uint64_t found, uint64_t expected);

    FxtLimits limits_;
    FxtCounts counts_;
    std::unique_ptr<Counter> counter_;  // between the parser and the visitor
    std::unique_ptr<FxtParser> parser_;
    std::vector<std::byte> pending_;  // the beginning of a record whose end was not fed yet
    uint64_t offset_ = 0;             // of the record being taken
    uint64_t record_bytes_ = 0;       // its size; 0: its header is not whole yet
    uint64_t skipped_bytes_ = 0;      // taken of a record that is too large to keep
    uint8_t record_type_ = 0;
    bool is_skipping_ = false;
    bool is_unreadable_ = false;
};

}  // namespace tracer::test
