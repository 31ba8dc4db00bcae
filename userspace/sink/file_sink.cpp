// SPDX-License-Identifier: Apache-2.0
//
// The file sink as the writer sees it: reserve and commit move a position in a buffer; a full
// buffer goes to the thread of io_queue.cpp. reserve() never waits for the destination: without
// a free buffer there is no room, and the caller counts what it could not write.
#include "sink/io_queue.h"
#include "sink/output_file.h"
#include "tracer/write/sinks.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace tracer {
namespace {

class FileSink final : public ByteSink {
public:
    FileSink(OutputFile file, std::string label, const FileSinkOptions& options)
        : queue_(std::move(file), std::move(label), options) {}

    ~FileSink() override { push_partial(); }
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    std::span<std::byte> reserve(size_t bytes) override {
        if (static_cast<size_t>(end_ - next_) < bytes || queue_.has_failed()) [[unlikely]] {
            if (bytes > kReserveBytesMax || !next_buffer()) return {};
        }
        return {next_, bytes};
    }

    void commit(size_t bytes) override {
        next_ += bytes;
        if (next_ >= next_mark_) [[unlikely]]
            mark();
    }

    // Leaves the partial buffer where it is when no other is free: the thread has enough to do.
    void flush() override {
        if (queue_.can_acquire()) push_partial();
    }

    Status close() override {
        TR_CHECK(!is_closed_);
        is_closed_ = true;
        push_partial();
        return queue_.close();
    }

    Status health() const override { return queue_.health(); }

    unsigned long long bytes_committed() const override {
        return committed_.load(std::memory_order_relaxed);
    }

private:
    bool next_buffer() {
        if (is_closed_ || queue_.has_failed()) return false;
        // The full one is handed over even when no other is free, or it would wait for nothing.
        push_partial();
        buffer_ = queue_.acquire();
        if (buffer_ == nullptr) return false;
        next_ = counted_ = buffer_->memory.get();
        end_ = next_ + buffer_->size;
        next_mark_ = next_ + IoBuffer::kMarkBytes;
        return true;
    }

    // The end of a record at which the file may be cut, and the moment to bring the public count
    // up to date: neither is worth its price at every record.
    void mark() {
        TR_CHECK(next_ <= end_);
        buffer_->marks.push_back(static_cast<uint32_t>(next_ - buffer_->memory.get()));
        next_mark_ = next_ + IoBuffer::kMarkBytes;
        count();
    }

    void count() {
        // One producer, so nothing is lost between the load and the store.
        committed_.store(
            committed_.load(std::memory_order_relaxed) + static_cast<size_t>(next_ - counted_),
            std::memory_order_relaxed);
        counted_ = next_;
    }

    void push_partial() {
        if (buffer_ == nullptr || next_ == buffer_->memory.get()) return;
        count();
        buffer_->used = static_cast<size_t>(next_ - buffer_->memory.get());
        next_ = end_ = next_mark_ = counted_ = nullptr;
        queue_.push(std::move(buffer_));
    }

    IoQueue queue_;
    std::unique_ptr<IoBuffer> buffer_;
    std::byte* next_ = nullptr;       // first free byte of the buffer
    std::byte* end_ = nullptr;        // of the buffer
    std::byte* next_mark_ = nullptr;  // mark() is due when next_ gets here
    std::byte* counted_ = nullptr;    // up to here in committed_
    std::atomic<unsigned long long> committed_{0};
    bool is_closed_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> open_file_sink(const std::string& path,
                                                 const FileSinkOptions& options) {
    TR_ASSIGN(OutputFile file, open_output_file(path, options.owner));
    auto sink = std::make_unique<FileSink>(std::move(file), path, options);
    TR_TRY(sink->health());
    return std::unique_ptr<ByteSink>(std::move(sink));
}

std::unique_ptr<ByteSink> make_fd_sink(UniqueFd fd, const FileSinkOptions& options) {
    return std::make_unique<FileSink>(OutputFile{std::move(fd), false}, "the output", options);
}

}  // namespace tracer
