// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/chunk_compressor.h"
#include "sink/file_destination.h"
#include "sink/io_destination.h"
#include "tracer/write/rotating_sink.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
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

    ~ChunkFiles() override;
    ChunkFiles(const ChunkFiles&) = delete;
    ChunkFiles& operator=(const ChunkFiles&) = delete;

    [[nodiscard]] Status write(const IoBuffer& buffer) override;
    [[nodiscard]] uint64_t bytes_of_failed_write() const override { return failed_write_bytes_; }
    [[nodiscard]] std::optional<Clock::time_point> service_due() const override;
    [[nodiscard]] Status service() override;
    [[nodiscard]] Status finish() override;

    // Any thread.
    [[nodiscard]] std::vector<std::string> paths() const;
    [[nodiscard]] uint64_t deleted_count() const;
    [[nodiscard]] PlainChunks left_plain() const;

private:
    struct Chunk {
        std::string path;
        dev_t device;
        ino_t inode;
        uint64_t bytes;        // once closed
        bool is_plain = true;  // to be compressed, if any are
    };

    ChunkFiles(std::string stem, std::string suffix, const RotatingSinkOptions& options);

    [[nodiscard]] Status begin(int64_t start_ns);
    [[nodiscard]] Result<OutputFile> make_file(int64_t start_ns);
    [[nodiscard]] Status close_current();
    void compress_closed();
    [[nodiscard]] bool is_there(const std::string& path) const;
    [[nodiscard]] Status take_compressed(CompressedCopy& copy);
    [[nodiscard]] uint64_t kept_bytes() const;
    [[nodiscard]] Status make_room(uint64_t file_count, uint64_t bytes);
    [[nodiscard]] Status delete_oldest();

    const std::string stem_;    // DIR/NAME
    const std::string suffix_;  // with the dot, or empty
    const RotatingSinkOptions options_;
    uint64_t number_ = 0;  // of the chunk made last
    uint64_t failed_write_bytes_ = 0;
    std::unique_ptr<FileDestination> current_;
    std::optional<std::string> closed_path_;  // not handed to the compressor yet

    mutable std::mutex mutex_;   // guards what follows
    std::deque<Chunk> chunks_;   // the current one last, if there is one
    uint64_t closed_bytes_ = 0;  // of all chunks but the current one
    uint64_t deleted_count_ = 0;

    std::unique_ptr<ChunkCompressor> compressor_;  // last: its thread uses the others
};

}  // namespace tracer
