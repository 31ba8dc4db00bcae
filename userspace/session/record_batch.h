// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/record_handler.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracer {

// Records that userspace made, kept until it is their turn among the kernel's. One thread.
class RecordBatch {
public:
    // One that is whole but for what follows its struct; the whole is rounded up to 8 bytes and
    // its header's size set.
    template <typename T>
    void add(T record, std::span<const std::byte> rest = {}) {
        record.header.size = static_cast<uint16_t>((sizeof(T) + rest.size() + 7) / 8 * 8);
        const size_t at = begin_record(record.header.time_ns, record.header.size);
        put(at, std::as_bytes(std::span(&record, 1)));
        put(at + sizeof(T), rest);
    }

    // By time; those of the same time in the order in which they came. After the last add(). Gives
    // back what is written.
    void sort();
    [[nodiscard]] size_t bytes() const { return bytes_.size(); }
    [[nodiscard]] bool is_empty() const { return next_ == entries_.size(); }
    // Hands over those up to that time, and forgets them.
    void write_up_to(uint64_t time_ns, RecordHandler& handler);

private:
    struct Entry {
        uint64_t time_ns = 0;
        size_t offset = 0;
        uint32_t size = 0;
    };

    [[nodiscard]] size_t begin_record(uint64_t time_ns, size_t size);
    void forget_written();
    void put(size_t at, std::span<const std::byte> bytes);

    std::vector<std::byte> bytes_;
    std::vector<Entry> entries_;
    size_t next_ = 0;  // of entries_
};

// Passes on the kernel's records, and before each those of a batch that are older.
class BatchMerge : public RecordHandler {
public:
    // Borrows both.
    BatchMerge(RecordBatch& batch, RecordHandler& handler) : batch_(batch), handler_(handler) {}

    void on_record(std::span<const std::byte> record) override;
    void on_records(std::span<const RecordView> records) override;

private:
    RecordBatch& batch_;
    RecordHandler& handler_;
};

}  // namespace tracer
