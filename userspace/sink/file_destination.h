// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/io_destination.h"
#include "sink/output_file.h"
#include "tracer/write/sinks.h"

#include <cstdint>
#include <span>
#include <string>

namespace tracer {

// Writes buffers to one descriptor. A file of ours is preallocated, and cut back to whole records
// when it cannot grow.
class FileDestination final : public IoDestination {
public:
    // `label` names the file in errors. Nothing past `bytes_expected` is preallocated.
    FileDestination(OutputFile file,
                    std::string label,
                    const SyncOptions& sync,
                    uint64_t bytes_expected = UINT64_MAX);

    [[nodiscard]] Status write(const IoBuffer& buffer) override;
    [[nodiscard]] uint64_t bytes_of_failed_write() const override { return failed_write_bytes_; }
    [[nodiscard]] std::optional<Clock::time_point> service_due() const override {
        return sync_due_;
    }
    [[nodiscard]] Status service() override { return sync(); }
    [[nodiscard]] Status finish() override;

    // Whole records in the file.
    [[nodiscard]] uint64_t bytes() const { return file_bytes_; }

private:
    // Bytes written; fewer than asked only with an error.
    [[nodiscard]] Status write_all(std::span<const std::byte> bytes, size_t& written);
    void preallocate(const IoBuffer& buffer);
    void cut_to_whole_records(const IoBuffer& buffer, size_t written);
    [[nodiscard]] Status sync();
    [[nodiscard]] Status sync_folder();

    OutputFile file_;
    const std::string label_;
    const SyncOptions options_;
    const uint64_t bytes_expected_;
    uint64_t file_bytes_ = 0;
    uint64_t failed_write_bytes_ = 0;
    uint64_t allocated_bytes_ = 0;
    bool may_preallocate_ = false;
    uint64_t unsynced_bytes_ = 0;
    std::optional<Clock::time_point> sync_due_;
    bool is_folder_synced_ = false;
};

}  // namespace tracer
