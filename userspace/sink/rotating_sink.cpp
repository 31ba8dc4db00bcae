// SPDX-License-Identifier: Apache-2.0
//
// The rotating sink as its writer sees it: a queue (io_producer.h) whose buffers know where chunks
// begin, and the meter that says when one is due. The files are chunk_files.cpp's.
#include "tracer/write/rotating_sink.h"

#include "sink/chunk_files.h"
#include "sink/chunk_meter.h"
#include "sink/io_producer.h"

#include <algorithm>
#include <utility>

namespace tracer {
namespace {

class RotatingFileSink final : public RotatingSink {
public:
    RotatingFileSink(std::unique_ptr<ChunkFiles> files, const RotatingSinkOptions& options)
        : files_(*files),
          meter_(options.limits),
          producer_(std::move(files),
                    {.buffer_bytes = options.file.buffer_bytes,
                     .buffer_count = std::max<size_t>(options.file.buffer_count, 2),
                     .buffers_ready = options.file.buffers_ready,
                     .real_time = options.file.real_time}) {}

    std::span<std::byte> reserve(size_t bytes) override { return producer_.reserve(bytes); }
    void commit(size_t bytes) override { producer_.commit(bytes); }
    void flush() override { producer_.flush(); }
    size_t change_buffers(size_t bytes) override { return producer_.change_buffers(bytes); }
    Status close() override { return producer_.close(); }
    Status health() const override { return producer_.health(); }
    unsigned long long bytes_committed() const override { return producer_.bytes_committed(); }
    unsigned long long bytes_written() const override { return producer_.bytes_written(); }

    bool chunk_is_due() override {
        return meter_.is_due(producer_.bytes_now()) && producer_.can_begin_chunk();
    }
    bool chunk_is_due_at(uint64_t now_ns) override {
        return meter_.is_due_at(producer_.bytes_now(), now_ns) && producer_.can_begin_chunk();
    }

    Status next_chunk() override {
        TR_TRY(producer_.health());
        if (meter_.is_empty(producer_.bytes_now())) return {};
        producer_.begin_chunk();
        meter_.restart(producer_.bytes_now());
        return {};
    }

    std::vector<std::string> chunk_paths() const override { return files_.paths(); }
    uint64_t chunks_deleted() const override { return files_.deleted_count(); }
    PlainChunks chunks_left_plain() const override { return files_.left_plain(); }

private:
    const ChunkFiles& files_;  // the producer's, which lives as long
    ChunkMeter meter_;
    IoProducer producer_;
};

}  // namespace

Result<std::unique_ptr<RotatingSink>> open_rotating_sink(const std::string& path,
                                                         const RotatingSinkOptions& options) {
    TR_ASSIGN(std::unique_ptr<ChunkFiles> files, ChunkFiles::open(path, options));
    auto sink = std::make_unique<RotatingFileSink>(std::move(files), options);
    TR_TRY(sink->health());
    return std::unique_ptr<RotatingSink>(std::move(sink));
}

}  // namespace tracer
