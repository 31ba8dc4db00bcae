// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/file_destination.h"
#include "sink/io_destination.h"
#include "tracer/write/rotating_sink.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tracer {

// Writes each chunk to a file of its own and deletes the oldest beyond what is to be kept.
class ChunkFiles final : public IoDestination {
public:
    // Makes the first file.
    [[nodiscard]] static Result<std::unique_ptr<ChunkFiles>> open(
        const std::string& path, const RotatingSinkOptions& options);

    [[nodiscard]] Status write(const IoBuffer& buffer) override;
    [[nodiscard]] uint64_t bytes_of_failed_write() const override { return failed_write_bytes_; }
    [[nodiscard]] std::optional<Clock::time_point> service_due() const override;
    [[nodiscard]] Status service() override;
    [[nodiscard]] Status finish() override;

    // Any thread.
    [[nodiscard]] std::vector<std::string> paths() const;
    [[nodiscard]] uint64_t deleted_count() const;

private:
    struct Chunk {
        std::string path;
        dev_t device;
        ino_t inode;
        uint64_t bytes;  // once closed
    };

    ChunkFiles(std::string stem, std::string suffix, const RotatingSinkOptions& options)
        : stem_(std::move(stem)), suffix_(std::move(suffix)), options_(options) {}

    [[nodiscard]] Status begin(int64_t start_ns);
    [[nodiscard]] Result<OutputFile> make_file(int64_t start_ns);
    [[nodiscard]] Status close_current();
    [[nodiscard]] Status make_room(uint64_t file_count, uint64_t bytes);
    [[nodiscard]] Status delete_oldest();

    const std::string stem_;    // DIR/NAME
    const std::string suffix_;  // with the dot, or empty
    const RotatingSinkOptions options_;
    uint64_t number_ = 0;        // of the chunk made last
    uint64_t closed_bytes_ = 0;  // of all chunks but the current one
    uint64_t failed_write_bytes_ = 0;
    std::unique_ptr<FileDestination> current_;

    mutable std::mutex mutex_;  // guards what follows
    std::deque<Chunk> chunks_;  // the current one last, if there is one
    uint64_t deleted_count_ = 0;
};

}  // namespace tracer
