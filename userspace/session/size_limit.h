// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/output.h"

#include <cstdint>
#include <vector>

namespace tracer {

// Passes records to an output until it has written `bytes_max` bytes (0: no limit), and counts by
// probe those that come after: they were recorded, and asked not to be written. Belongs to whom the
// output belongs to.
class SizeLimit : private RecordHandler {
public:
    // Borrows the output.
    SizeLimit(Output& output, uint64_t bytes_max) : output_(output), bytes_max_(bytes_max) {}

    // The output's own without a limit.
    [[nodiscard]] RecordHandler& handler();
    [[nodiscard]] bool is_reached() const { return is_reached_; }
    // Of each probe, by id, what was left out; ids beyond the end: none.
    [[nodiscard]] const std::vector<uint64_t>& left_out() const { return left_out_; }

    // Kept free for what a sink's count may lag behind and for the end of the format: clocks, ends
    // of a few open spans.
    static constexpr uint64_t kEndBytes = 8192;

private:
    void on_record(std::span<const std::byte> record) override;
    void on_records(std::span<const RecordView> records) override;
    // Whether that much input may be written before the output is to be asked again.
    [[nodiscard]] bool fits(uint64_t input_bytes);
    void leave_out(std::span<const std::byte> record);

    Output& output_;
    const uint64_t bytes_max_;
    bool is_reached_ = false;
    uint64_t budget_ = 0;  // input bytes that cannot reach the limit, whatever they become
    std::vector<uint64_t> left_out_;
};

}  // namespace tracer
